package queries

import (
	"bytes"

	"manifest/queries/internal/vector"
)

// boundaries finds the rows at which a new partition begins.
type boundaries struct {
	columns []*vector.Vector
	last    []vector.Value // partition key of the last row of the block before
	any     bool           // there was a row before
	rows    []int          // of the block
}

func newBoundaries(m *vector.Machine, slots []vector.Slot) *boundaries {
	b := &boundaries{last: make([]vector.Value, len(slots))}
	for _, slot := range slots {
		b.columns = append(b.columns, m.Vector(slot))
	}
	return b
}

// find returns the rows of a block of n at which a partition begins that is not that of the row before, also over the end of blocks. The
// very first row begins none: there is nothing before it to be complete. The result is valid until the next call.
func (b *boundaries) find(n int) []int {
	b.rows = b.rows[:0]
	if b.any && !b.continues() {
		b.rows = append(b.rows, 0)
	}
	for i := 1; i < n; i++ {
		for _, c := range b.columns {
			if !equalRows(c, i-1, i) {
				b.rows = append(b.rows, i)
				break
			}
		}
	}
	b.remember(n - 1)
	return b.rows
}

func equalRows(v *vector.Vector, i, j int) bool {
	if v.IsNull(i) || v.IsNull(j) {
		return v.IsNull(i) == v.IsNull(j)
	}
	if v.Kind.Physical() == vector.Ints {
		return v.Ints[i] == v.Ints[j]
	}
	return bytes.Equal(v.Bytes(i), v.Bytes(j))
}

// continues reports whether row 0 is of the partition of the last row of the block before.
func (b *boundaries) continues() bool {
	for c, v := range b.columns {
		last := &b.last[c]
		switch {
		case last.Null != v.IsNull(0):
			return false
		case last.Null:
		case v.Kind.Physical() == vector.Ints && last.Int != v.Ints[0]:
			return false
		case v.Kind.Physical() == vector.Bytes && !bytes.Equal(last.Bytes, v.Bytes(0)):
			return false
		}
	}
	return true
}

// remember copies the partition key of row i.
func (b *boundaries) remember(i int) {
	b.any = true
	for c, v := range b.columns {
		last := &b.last[c]
		last.Null = v.IsNull(i)
		switch {
		case last.Null:
		case v.Kind.Physical() == vector.Ints:
			last.Int = v.Ints[i]
		default:
			last.Bytes = append(last.Bytes[:0], v.Bytes(i)...)
		}
	}
}
