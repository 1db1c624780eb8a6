package groups

import (
	"math/bits"

	"manifest/queries/internal/ordered"
	"manifest/queries/internal/vector"
)

const (
	smallestTable = 64
	slotBytes     = 24
)

// slotsFor returns how many slots hold n groups or strings: a power of two, at most half in use.
func slotsFor(n int) int {
	if n == 0 {
		return 0
	}
	return max(smallestTable, 1<<bits.Len(uint(2*n-1)))
}

// Table numbers the keys of rows. It belongs to one goroutine.
type Table struct {
	shape  Shape
	fields []field
	packed bool

	slots []slot // a power of two long, at most half in use
	low   []uint64
	high  []uint64
	keys  []byte // of the groups, one behind the other
	ends  []int  // of key i in keys; it starts where the one before ends

	whole   dictionary // of keys that do not fit
	scratch []byte
}

// slot holds the codes of a group next to its number, so that a look-up touches one cache line.
type slot struct {
	low, high uint64
	group     uint32 // + 1, 0 if free
}

// field is where the code of a key column lies in the 128 bits. The code of a dictionary is 0 for NULL, others have a bit for it.
type field struct {
	shift, nullShift uint
	high, nullHigh   bool // in the upper 64 bits
	mask             uint64
	dictionary       *dictionary
}

// NewTable returns an empty table for keys of a shape.
func NewTable(shape Shape) *Table {
	t := &Table{shape: shape, fields: make([]field, len(shape.Kinds)), packed: true}
	var used [2]uint
	place := func(width uint) (high bool, shift uint) {
		for i := range used {
			if used[i]+width <= 64 {
				shift = used[i]
				used[i] += width
				return i == 1, shift
			}
		}
		t.packed = false
		return false, 0
	}
	for i, kind := range shape.Kinds {
		f := &t.fields[i]
		width := uint(64)
		switch kind.Physical() {
		case vector.Ints:
			width = uint(kind.Width()) * 8
		case vector.Bytes:
			width = 32
			f.dictionary = new(dictionary)
		}
		f.mask = 1<<width - 1
		f.high, f.shift = place(width)
		if f.dictionary == nil {
			f.nullHigh, f.nullShift = place(1)
		}
	}
	return t
}

// Len returns the number of groups.
func (t *Table) Len() int {
	if t.packed {
		return len(t.ends)
	}
	return len(t.whole.ends)
}

// Key returns the key of a group, valid until Reset.
func (t *Table) Key(g int) []byte {
	if !t.packed {
		return t.whole.bytes(g)
	}
	start := 0
	if g > 0 {
		start = t.ends[g-1]
	}
	return t.keys[start:t.ends[g]]
}

// Find sets groups[i] for rows lo to hi of the key columns.
func (t *Table) Find(columns []*vector.Vector, groups []uint32, lo, hi int) {
	if !t.packed {
		for i := lo; i < hi; i++ {
			t.scratch = t.shape.Append(t.scratch[:0], columns, i)
			groups[i] = uint32(t.whole.code(t.scratch))
		}
		return
	}
	t.pack(columns, lo, hi)
	if len(t.slots) == 0 {
		t.widen()
	}
	slots, mask := t.slots, uint64(len(t.slots)-1)
	highs := t.high[:len(t.low)]
	for i, low := range t.low {
		high := highs[i]
		// Most rows are of a group that is known and is where it belongs.
		if s := &slots[hash(low, high)&mask]; s.low == low && s.high == high && s.group != 0 {
			groups[lo+i] = s.group - 1
			continue
		}
		groups[lo+i] = t.find(low, high, columns, lo+i) - 1
		slots, mask = t.slots, uint64(len(t.slots)-1)
	}
}

// pack sets t.low and t.high to the codes of rows lo to hi.
func (t *Table) pack(columns []*vector.Vector, lo, hi int) {
	n := hi - lo
	if cap(t.low) < n {
		t.low, t.high = make([]uint64, n, vector.BlockRows), make([]uint64, n, vector.BlockRows)
	}
	t.low, t.high = t.low[:n], t.high[:n]
	clear(t.low)
	clear(t.high)
	for c, f := range t.fields {
		v, word := columns[c], t.low
		if f.high {
			word = t.high
		}
		switch {
		case f.dictionary != nil:
			for i := range word {
				if !v.IsNull(lo + i) {
					word[i] |= uint64(f.dictionary.code(v.Bytes(lo+i))+1) << f.shift
				}
			}
			continue
		case v.Kind.Physical() == vector.Floats:
			for i, x := range v.Floats[lo:hi] {
				word[i] |= ordered.FloatBits(canonical(x))
			}
		default:
			for i, x := range v.Ints[lo:hi] {
				word[i] |= uint64(x) & f.mask << f.shift
			}
		}
		if v.Null != nil {
			t.packNull(f, word, v.Null[lo:hi])
		}
	}
}

// packNull replaces the codes of NULL by the bit for it.
func (t *Table) packNull(f field, word []uint64, null []bool) {
	nullWord := t.low
	if f.nullHigh {
		nullWord = t.high
	}
	for i, is := range null {
		if is {
			word[i] &^= f.mask << f.shift
			nullWord[i] |= 1 << f.nullShift
		}
	}
}

// find returns the number of the group of the codes plus 1; row is one of its rows.
func (t *Table) find(low, high uint64, columns []*vector.Vector, row int) uint32 {
	if 2*len(t.ends) >= len(t.slots) {
		t.widen()
	}
	mask := uint64(len(t.slots) - 1)
	for at := hash(low, high) & mask; ; at = (at + 1) & mask {
		s := &t.slots[at]
		if s.low == low && s.high == high && s.group != 0 {
			return s.group
		}
		if s.group == 0 {
			t.keys = t.shape.Append(t.keys, columns, row)
			t.ends = append(t.ends, len(t.keys))
			*s = slot{low, high, uint32(len(t.ends))}
			return s.group
		}
	}
}

// hash folds the product of the halves, as wyhash does.
func hash(low, high uint64) uint64 {
	up, down := bits.Mul64(low^0xa0761d6478bd642f, high^0xe7037ed1a0b428db)
	return up ^ down
}

// widen makes room for one more group.
func (t *Table) widen() {
	old := t.slots
	t.slots = make([]slot, slotsFor(len(t.ends)+1))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.group == 0 {
			continue
		}
		at := hash(s.low, s.high) & mask
		for t.slots[at].group != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = s
	}
}

// Reset forgets all groups. The memory is kept for the next ones, unless it is more than keep bytes, or so much more than the groups took
// that clearing it would take longer than they did.
func (t *Table) Reset(keep int) {
	if t.allocated() > min(keep, 16*t.Size()+1<<20) {
		*t = *NewTable(t.shape)
		return
	}
	clear(t.slots)
	t.keys, t.ends = t.keys[:0], t.ends[:0]
	t.whole.reset()
	for _, f := range t.fields {
		if f.dictionary != nil {
			f.dictionary.reset()
		}
	}
}

// Size returns the bytes that the groups take.
func (t *Table) Size() int {
	size := slotBytes*slotsFor(len(t.ends)) + len(t.keys) + 8*len(t.ends) + t.whole.size()
	for _, f := range t.fields {
		if f.dictionary != nil {
			size += f.dictionary.size()
		}
	}
	return size
}

// allocated returns the bytes that the table takes, with those that are kept.
func (t *Table) allocated() int {
	size := slotBytes*len(t.slots) + cap(t.keys) + 8*cap(t.ends) + t.whole.allocated()
	for _, f := range t.fields {
		if f.dictionary != nil {
			size += f.dictionary.allocated()
		}
	}
	return size
}
