package cql

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// room is what a column of a page took: values, bytes of text or blobs, and
// the same of its children. The next page will need about as much, and a
// builder that knows so copies nothing while it grows.
type room struct {
	values   int
	bytes    int
	children []room
}

// roomOf measures a column.
func roomOf(arr arrow.Array) room {
	r := room{values: arr.Len()}
	switch a := arr.(type) {
	case *array.String:
		r.bytes = len(a.ValueBytes())
	case *array.Binary:
		r.bytes = len(a.ValueBytes())
	case *array.Map:
		r.children = []room{roomOf(a.Keys()), roomOf(a.Items())}
	case array.ListLike:
		r.children = []room{roomOf(a.ListValues())}
	case *array.Struct:
		for i := range a.NumField() {
			r.children = append(r.children, roomOf(a.Field(i)))
		}
	}
	return r
}

// reserve makes a builder ready for about that much.
func (r room) reserve(b array.Builder) {
	b.Reserve(r.values)
	switch b := b.(type) {
	case *array.StringBuilder:
		b.ReserveData(r.bytes)
	case *array.BinaryBuilder:
		b.ReserveData(r.bytes)
	case *array.MapBuilder:
		r.reserveChildren(b.KeyBuilder(), b.ItemBuilder())
	case array.ListLikeBuilder:
		r.reserveChildren(b.ValueBuilder())
	case *array.StructBuilder:
		for i := range min(b.NumField(), len(r.children)) {
			r.children[i].reserve(b.FieldBuilder(i))
		}
	}
}

func (r room) reserveChildren(builders ...array.Builder) {
	for i, b := range builders {
		if i < len(r.children) {
			r.children[i].reserve(b)
		}
	}
}

// scaled is the room for another number of rows.
func (r room) scaled(rows int) room {
	if r.values == 0 || rows == r.values {
		return r
	}
	return r.by(float64(rows) / float64(r.values))
}

func (r room) by(factor float64) room {
	s := room{values: int(float64(r.values) * factor), bytes: int(float64(r.bytes) * factor)}
	for _, c := range r.children {
		s.children = append(s.children, c.by(factor))
	}
	return s
}
