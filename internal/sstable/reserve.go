package sstable

import "github.com/apache/arrow/go/v17/arrow/array"

// extent is what the values of a builder and its children take. Records of a
// scan are much alike, so each gets the room at once that the one before took;
// growing step by step would copy all values several times.
type extent struct {
	values, bytes int
	children      []extent
}

// children are the builders of a nested builder.
func children(b array.Builder) []array.Builder {
	switch b := b.(type) {
	case *array.ListBuilder:
		return []array.Builder{b.ValueBuilder()}
	case *array.FixedSizeListBuilder:
		return []array.Builder{b.ValueBuilder()}
	case *array.MapBuilder:
		return []array.Builder{b.ValueBuilder()}
	case *array.StructBuilder:
		fields := make([]array.Builder, b.NumField())
		for i := range fields {
			fields[i] = b.FieldBuilder(i)
		}
		return fields
	}
	return nil
}

// textOrBlob is the builder of texts or blobs, nil if it is none.
func textOrBlob(b array.Builder) *array.BinaryBuilder {
	switch b := b.(type) {
	case *array.StringBuilder:
		return b.BinaryBuilder
	case *array.BinaryBuilder:
		return b
	}
	return nil
}

// measure gives what the values in a builder take.
func measure(b array.Builder) extent {
	e := extent{values: b.Len()}
	if bin := textOrBlob(b); bin != nil {
		e.bytes = bin.DataLen()
	}
	for _, c := range children(b) {
		e.children = append(e.children, measure(c))
	}
	return e
}

// reserve makes room in an empty builder.
func (e extent) reserve(b array.Builder) {
	b.Reserve(e.values)
	if bin := textOrBlob(b); bin != nil && e.bytes > 0 {
		bin.ReserveData(e.bytes)
	}
	for i, c := range children(b) {
		if i < len(e.children) {
			e.children[i].reserve(c)
		}
	}
}
