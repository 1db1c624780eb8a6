package parquetfile

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// shredder turns rows of an Arrow column into the slots of one leaf: one slot
// for each value, null or empty list that the leaf's column in the file has.
// It goes node by node along the leaf's path, over all slots at a time, rather
// than value by value down the path. Its buffers are reused.
type shredder struct {
	slots, next slots
}

// slots are parallel: levels, and the index of the value in the array that has
// been reached, or ended when the path ended above it.
type slots struct {
	rep   []byte
	def   []byte
	index []int32
}

const ended = -1

func (s *slots) reset() {
	s.rep, s.def, s.index = s.rep[:0], s.def[:0], s.index[:0]
}

// rows makes the slots those of the rows [from, to).
func (s *slots) rows(from, to int) {
	n := to - from
	s.reset()
	s.rep = append(s.rep, make([]byte, n)...)
	s.def = append(s.def, make([]byte, n)...)
	s.index = slices.Grow(s.index, n)[:n]
	for k := range s.index {
		s.index[k] = int32(from + k)
	}
}

func (s *slots) add(rep, def byte, index int32) {
	s.rep = append(s.rep, rep)
	s.def = append(s.def, def)
	s.index = append(s.index, index)
}

// shred fills s.slots for the rows [from, to) of column and gives the array
// that the leaf's values are in. Rows begin at the slots with repetition level 0.
func (s *shredder) shred(l *leaf, column arrow.Array, from, to int) (arrow.Array, error) {
	s.slots.rows(from, to)
	repeated := byte(0)
	arr := column
	for _, st := range l.steps {
		if err := s.nulls(l, st, arr); err != nil {
			return nil, err
		}
		switch st.op {
		case opLeaf:
			return arr, nil
		case opStruct:
			arr = arr.(*array.Struct).Field(st.child)
		case opList:
			repeated++
			list := arr.(*array.List)
			s.expand(repeated, list.ValueOffsets)
			arr = list.ListValues()
		case opFixed:
			repeated++
			list := arr.(*array.FixedSizeList)
			s.expand(repeated, list.ValueOffsets)
			arr = list.ListValues()
		case opMap:
			repeated++
			m := arr.(*array.Map)
			s.expand(repeated, m.ValueOffsets)
			if st.child == 0 {
				arr = m.Keys()
			} else {
				arr = m.Items()
			}
		}
	}
	return nil, fmt.Errorf("path of %s does not end in a leaf: %w", l.name(), ErrSchema)
}

// nulls ends the slots whose value in arr is null, and gives the others their
// definition level.
func (s *shredder) nulls(l *leaf, st step, arr arrow.Array) error {
	hasNulls := arr.NullN() > 0
	if !st.optional {
		if !hasNulls {
			return nil
		}
		for _, i := range s.slots.index {
			if i != ended && arr.IsNull(int(i)) {
				return fmt.Errorf("column %s: %w", l.name(), ErrNullInRequired)
			}
		}
		return nil
	}
	def := s.slots.def
	if !hasNulls {
		for k, i := range s.slots.index {
			if i != ended {
				def[k]++
			}
		}
		return nil
	}
	for k, i := range s.slots.index {
		switch {
		case i == ended:
		case arr.IsNull(int(i)):
			s.slots.index[k] = ended
		default:
			def[k]++
		}
	}
	return nil
}

// expand replaces the slot of each list by those of its elements. The first
// takes the list's own repetition level, the others repeated. Empty lists end.
func (s *shredder) expand(repeated byte, offsets func(int) (int64, int64)) {
	in, out := &s.slots, &s.next
	out.reset()
	for k, i := range in.index {
		rep, def := in.rep[k], in.def[k]
		if i == ended {
			out.add(rep, def, ended)
			continue
		}
		start, end := offsets(int(i))
		if start == end {
			out.add(rep, def, ended)
			continue
		}
		for j := start; j < end; j++ {
			out.add(rep, def+1, int32(j))
			rep = repeated
		}
	}
	s.slots, s.next = s.next, s.slots
}
