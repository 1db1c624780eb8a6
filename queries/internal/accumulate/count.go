package accumulate

import (
	"encoding/binary"

	"manifest/queries/internal/vector"
)

// count counts rows, or values that are not NULL. Its state is a varint.
type count struct {
	rows bool
	n    []int64
}

func (c *count) Grow(n int) { c.n = grow(c.n, n) }

func (c *count) Update(in *vector.Vector, groups []uint32, lo, hi int) error {
	if c.rows || in.Null == nil {
		for _, g := range groups[lo:hi] {
			c.n[g]++
		}
		return nil
	}
	for i := lo; i < hi; i++ {
		if !in.Null[i] {
			c.n[groups[i]]++
		}
	}
	return nil
}

func (c *count) UpdateCounted(in *vector.Vector, counts []int64, groups []uint32, lo, hi int) error {
	for i := lo; i < hi; i++ {
		if c.rows || !in.IsNull(i) {
			c.n[groups[i]] += counts[i]
		}
	}
	return nil
}

func (c *count) AppendState(dst []byte, g int, _ bool) []byte {
	return binary.AppendUvarint(dst, uint64(c.n[g]))
}

func (c *count) Merge(g int, src []byte) ([]byte, error) {
	n, rest, err := takeCount(src)
	c.n[g] += n
	return rest, err
}

func (c *count) Results() []vector.Kind { return []vector.Kind{vector.Int64} }

func (c *count) Result(g, _ int) (vector.Value, error) { return vector.Value{Int: c.n[g]}, nil }

func (c *count) Reset() { c.n = c.n[:0] }

func (c *count) Size() int { return 8 * len(c.n) }
