package selection

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// collection is a list, set or map; an element, or an entry of a map, is a row of an array below it.
type collection interface {
	arrow.Array
	ValueOffsets(i int) (start, end int64) // of the elements of a row
}

// matches tells which elements of a collection pass a test. They were all tested at once, for all rows.
type matches struct {
	start  int64
	truths []truth // of the elements from start on
}

// first returns the index of the first element of a row that passes, or -1.
func (m *matches) first(of collection, row int32) int32 {
	if row < 0 || of.IsNull(int(row)) {
		return -1
	}
	start, end := of.ValueOffsets(int(row))
	for at := start; at < end; at++ {
		if m.truths[at-m.start] == isTrue {
			return int32(at)
		}
	}
	return -1
}

// match tests the elements of those rows of a collection that are listed, of all if rows is nil. The truths are to be given back.
func (e *evaluation) match(t test, f form, of collection, elements arrow.Array, rows []int32) matches {
	start, end := extent(of, rows)
	part := array.NewSlice(elements, start, end)
	defer part.Release()
	e.elements.load(f, part, nil)
	m := matches{start, e.truths(part.Len())}
	t.run(&e.elements, m.truths)
	e.elements.setUnknown(m.truths)
	return m
}

// extent returns the range that holds the elements of all rows.
func extent(of collection, rows []int32) (start, end int64) {
	if rows == nil {
		if of.Len() == 0 {
			return 0, 0
		}
		start, _ = of.ValueOffsets(0)
		_, end = of.ValueOffsets(of.Len() - 1)
		return start, end
	}
	none := true
	for _, row := range rows {
		if row < 0 {
			continue
		}
		from, to := of.ValueOffsets(int(row))
		if none {
			start, end, none = from, to, false
		}
		start, end = min(start, from), max(end, to)
	}
	return start, end
}

// entries turns rows of a map into those of the values whose key passes a test, -1 where there is none.
func (e *evaluation) entries(m *array.Map, key test, f form) arrow.Array {
	found := e.match(key, f, m, mapField(m, 0), e.rows)
	defer e.giveBack(found.truths)
	for i, row := range e.rows {
		e.rows[i] = found.first(m, row)
	}
	return mapField(m, 1)
}

// mapField returns the keys, 0, or values, 1, of a map. Unlike the Keys and Items of the array it heeds an offset of the struct that holds
// them, as m.ValueOffsets does.
func mapField(m *array.Map, i int) arrow.Array { return m.ListValues().(*array.Struct).Field(i) }
