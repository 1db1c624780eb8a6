package accumulate

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"

	"manifest/queries/internal/ordered"
	"manifest/queries/internal/vector"
)

// distinct counts different values by their 64-bit hashes. A state starts with a byte:
//
//	0  a set: the number of hashes as a varint, then the hashes, ascending, big-endian
//	1  registers: the dense form of the HyperLogLog sketch, 8 + 16,384 bytes
//	2  final: the result as a varint
//
// Invariant: a group has registers if and only if it saw more than maxExact different hashes. So what a group holds depends on what it
// saw and not on the order.
type distinct struct {
	groups []distinctState
	size   int      // of the sets and registers
	sorted []uint64 // scratch
}

type distinctState struct {
	set       []uint64 // open addressing, 0 is free; a power of two long, at most half full
	n         int      // hashes in set
	registers *hyperloglog.Sketch
	final     int64 // result + 1 of a state that came in final
}

const (
	tagFull = iota
	tagRegisters
	tagFinal
)

const (
	maxExact       = 2048
	registerBytes  = 1<<14 + 8
	smallestSet    = 8
	keptSet        = 64 // slots of a set that are kept for the next group
	nonzeroForZero = 0x9e3779b97f4a7c15
)

func (d *distinct) Grow(n int) { d.groups = grow(d.groups, n) }

func (d *distinct) Update(in *vector.Vector, groups []uint32, lo, hi int) error {
	var word [8]byte
	physical := in.Kind.Physical()
	for i := lo; i < hi; i++ {
		if in.IsNull(i) {
			continue
		}
		var hash uint64
		switch physical {
		case vector.Bytes:
			hash = xxh3.Hash(in.Bytes(i))
		case vector.Floats:
			v := in.Floats[i]
			if v == 0 {
				v = 0 // -0 equals 0
			}
			binary.LittleEndian.PutUint64(word[:], ordered.FloatBits(v))
			hash = xxh3.Hash(word[:])
		default:
			binary.LittleEndian.PutUint64(word[:], uint64(in.Ints[i]))
			hash = xxh3.Hash(word[:])
		}
		d.see(&d.groups[groups[i]], hash)
	}
	return nil
}

// see adds a hash to a group.
func (d *distinct) see(g *distinctState, hash uint64) {
	if g.registers != nil {
		g.registers.InsertHash(hash)
		return
	}
	if hash == 0 {
		hash = nonzeroForZero
	}
	if 2*g.n >= len(g.set) {
		d.widen(g)
	}
	mask := uint64(len(g.set) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		switch g.set[at] {
		case hash:
			return
		case 0:
			g.set[at] = hash
			if g.n++; g.n > maxExact {
				d.toRegisters(g)
			}
			return
		}
	}
}

// widen doubles the slots of a set.
func (d *distinct) widen(g *distinctState) {
	old := g.set
	g.set = make([]uint64, max(smallestSet, 2*len(old)))
	d.size += 8 * (len(g.set) - len(old))
	mask := uint64(len(g.set) - 1)
	for _, hash := range old {
		if hash == 0 {
			continue
		}
		at := hash & mask
		for g.set[at] != 0 {
			at = (at + 1) & mask
		}
		g.set[at] = hash
	}
}

func (d *distinct) toRegisters(g *distinctState) {
	g.registers = hyperloglog.NewNoSparse()
	for _, hash := range g.set {
		if hash != 0 {
			g.registers.InsertHash(hash)
		}
	}
	d.size += registerBytes - 8*len(g.set)
	g.set, g.n = nil, 0
}

// result returns the number of different values.
func (g *distinctState) result() int64 {
	switch {
	case g.final > 0:
		return g.final - 1
	case g.registers != nil:
		return int64(g.registers.Estimate())
	}
	return int64(g.n)
}

func (d *distinct) AppendState(dst []byte, group int, final bool) []byte {
	g := &d.groups[group]
	switch {
	case final || g.final > 0:
		return binary.AppendUvarint(append(dst, tagFinal), uint64(g.result()))
	case g.registers != nil:
		dst = append(dst, tagRegisters)
		// A sketch that was made has a precision, the lack of which is the only error.
		dst, _ = g.registers.AppendBinary(dst)
		return dst
	}
	d.sorted = d.sorted[:0]
	for _, hash := range g.set {
		if hash != 0 {
			d.sorted = append(d.sorted, hash)
		}
	}
	slices.Sort(d.sorted)
	dst = binary.AppendUvarint(append(dst, tagFull), uint64(g.n))
	for _, hash := range d.sorted {
		dst = binary.BigEndian.AppendUint64(dst, hash)
	}
	return dst
}

func (d *distinct) Merge(group int, src []byte) ([]byte, error) {
	g := &d.groups[group]
	if len(src) == 0 {
		return nil, ErrCorrupt
	}
	tag, src := src[0], src[1:]
	if g.final > 0 || tag == tagFinal && (g.n > 0 || g.registers != nil) {
		return nil, ErrFinal
	}
	switch tag {
	case tagFull:
		n, src, err := takeUvarint(src)
		if err != nil || n > maxExact || uint64(len(src)) < 8*n {
			return nil, ErrCorrupt
		}
		for range n {
			d.see(g, binary.BigEndian.Uint64(src))
			src = src[8:]
		}
		return src, nil
	case tagRegisters:
		if len(src) < registerBytes {
			return nil, ErrCorrupt
		}
		other := hyperloglog.NewNoSparse()
		if err := other.UnmarshalBinary(src[:registerBytes]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if g.registers == nil {
			d.toRegisters(g)
		}
		if err := g.registers.Merge(other); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		return src[registerBytes:], nil
	case tagFinal:
		n, rest, err := takeCount(src)
		g.final = n + 1
		return rest, err
	}
	return nil, ErrCorrupt
}

func (d *distinct) Results() []vector.Kind { return []vector.Kind{vector.Int64} }

func (d *distinct) Result(g, _ int) (vector.Value, error) {
	return vector.Value{Int: d.groups[g].result()}, nil
}

func (d *distinct) Reset() {
	clear(d.groups)
	d.groups, d.size = d.groups[:0], 0
}

func (d *distinct) Size() int { return 56*len(d.groups) + d.size }
