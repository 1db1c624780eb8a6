package shape

import (
	"errors"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

var errTooLong = fmt.Errorf("a record of more than 2 GiB of text: %w", ErrColumn)

// listOf shapes the elements of lists. A map is a list of structs, so it also
// makes lists of maps, or maps of maps.
type listOf struct {
	to   arrow.DataType
	elem converter // nil: elements stay as they are
}

func (l listOf) convert(mem memory.Allocator, arr arrow.Array) (arrow.Array, int64, error) {
	list := arr.(array.ListLike)
	d := arr.Data()
	n := d.Len()
	var first, last int64
	if n > 0 {
		first, _ = list.ValueOffsets(0)
		_, last = list.ValueOffsets(n - 1)
	}
	elems := array.NewSlice(list.ListValues(), first, last)
	defer elems.Release()
	shaped, unfit, err := convertOrRetain(mem, l.elem, elems)
	if err != nil {
		var u *unfitAt
		if errors.As(err, &u) {
			u.index = sort.Search(n, func(i int) bool {
				_, end := list.ValueOffsets(i)
				return end > first+int64(u.index)
			})
		}
		return nil, unfit, err
	}

	// The offsets are shared where they begin at zero as they are.
	offsets := d.Buffers()[1]
	if n > 0 && first == 0 && d.Offset() == 0 {
		offsets.Retain()
	} else {
		offsets = memory.NewResizableBuffer(mem)
		offsets.Resize(arrow.Int32Traits.BytesRequired(n + 1))
		ends := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
		ends[0] = 0
		for i := range n {
			_, end := list.ValueOffsets(i)
			ends[i+1] = int32(end - first)
		}
	}
	return makeArray(l.to, n, arr.NullN(), []*memory.Buffer{validity(mem, arr), offsets}, shaped), unfit, nil
}

// fixedListOf shapes the elements of lists of fixed size.
type fixedListOf struct {
	to   arrow.DataType
	elem converter
	size int
}

func (l fixedListOf) convert(mem memory.Allocator, arr arrow.Array) (arrow.Array, int64, error) {
	list := arr.(*array.FixedSizeList)
	n := arr.Len()
	start := int64(arr.Data().Offset() * l.size)
	elems := array.NewSlice(list.ListValues(), start, start+int64(n*l.size))
	defer elems.Release()
	shaped, unfit, err := convertOrRetain(mem, l.elem, elems)
	if err != nil {
		var u *unfitAt
		if errors.As(err, &u) {
			u.index /= l.size
		}
		return nil, unfit, err
	}
	return makeArray(l.to, n, arr.NullN(), []*memory.Buffer{validity(mem, arr)}, shaped), unfit, nil
}

// structOf shapes the fields of structs.
type structOf struct {
	to       arrow.DataType
	children []converter
}

func (s structOf) convert(mem memory.Allocator, arr arrow.Array) (arrow.Array, int64, error) {
	a := arr.(*array.Struct)
	var unfit int64
	shaped := make([]arrow.Array, len(s.children))
	for i, c := range s.children {
		child, n, err := convertOrRetain(mem, c, a.Field(i))
		unfit += n
		if err != nil {
			for _, done := range shaped[:i] {
				done.Release()
			}
			return nil, unfit, err
		}
		shaped[i] = child
	}
	return makeArray(s.to, arr.Len(), arr.NullN(), []*memory.Buffer{validity(mem, arr)}, shaped...), unfit, nil
}

func convertOrRetain(mem memory.Allocator, c converter, arr arrow.Array) (arrow.Array, int64, error) {
	if c == nil {
		arr.Retain()
		return arr, 0, nil
	}
	return c.convert(mem, arr)
}
