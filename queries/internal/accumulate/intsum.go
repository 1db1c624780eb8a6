package accumulate

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"

	"manifest/queries/internal/vector"
)

// intSum sums integers of up to 64 bits in 128, which 2^63 of them cannot overflow. Its state is the count of values as a varint and,
// unless that is 0, the sum in two's complement, big-endian.
type intSum struct {
	avg    bool
	groups []intSumState
}

type intSumState struct {
	lo uint64
	hi int64
	n  int64
}

func (s *intSumState) add(hi int64, lo uint64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + int64(carry)
}

func (s *intSum) Grow(n int) { s.groups = grow(s.groups, n) }

func (s *intSum) Update(in *vector.Vector, groups []uint32, lo, hi int) error {
	for i := lo; i < hi; i++ {
		if in.IsNull(i) {
			continue
		}
		g, v := &s.groups[groups[i]], in.Ints[i]
		g.add(v>>63, uint64(v))
		g.n++
	}
	return nil
}

func (s *intSum) AppendState(dst []byte, g int, _ bool) []byte {
	st := s.groups[g]
	dst = binary.AppendUvarint(dst, uint64(st.n))
	if st.n == 0 {
		return dst
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(st.hi))
	return binary.BigEndian.AppendUint64(dst, st.lo)
}

func (s *intSum) Merge(g int, src []byte) ([]byte, error) {
	n, src, err := takeCount(src)
	if err != nil || n == 0 {
		return src, err
	}
	if len(src) < 16 {
		return nil, ErrCorrupt
	}
	st := &s.groups[g]
	st.n += n
	st.add(int64(binary.BigEndian.Uint64(src)), binary.BigEndian.Uint64(src[8:]))
	return src[16:], nil
}

func (s *intSum) Results() []vector.Kind {
	if s.avg {
		return []vector.Kind{vector.Float64}
	}
	return []vector.Kind{vector.Int64}
}

func (s *intSum) Result(g, _ int) (vector.Value, error) {
	st := s.groups[g]
	fits := st.hi == int64(st.lo)>>63
	switch {
	case st.n == 0:
		return vector.Value{Null: true}, nil
	case !s.avg && fits:
		return vector.Value{Int: int64(st.lo)}, nil
	case !s.avg:
		return vector.Value{}, fmt.Errorf("sum %s does not fit a bigint: %w", st.big(), ErrOverflow)
	}
	const exact = 1 << 53 // Up to here integers are doubles, and their quotient is rounded once.
	if v := int64(st.lo); fits && -exact <= v && v <= exact && st.n <= exact {
		return vector.Value{Float: float64(v) / float64(st.n)}, nil
	}
	f, _ := new(big.Rat).SetFrac(st.big(), big.NewInt(st.n)).Float64()
	return vector.Value{Float: f}, nil
}

func (s *intSumState) big() *big.Int {
	sum := big.NewInt(s.hi)
	return sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(s.lo))
}

func (s *intSum) Reset() { s.groups = s.groups[:0] }

func (s *intSum) Size() int { return 24 * len(s.groups) }
