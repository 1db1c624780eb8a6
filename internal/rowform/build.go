package rowform

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Build appends the content of a cell, nil for NULL, to a builder of its type.
func Build(b array.Builder, content []byte) error {
	if content == nil {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.BinaryBuilder.Append(content)
		return nil
	case *array.BinaryBuilder:
		b.Append(content)
		return nil
	case *array.ListBuilder:
		b.Append(true)
		return buildCells(b.ValueBuilder(), content)
	case *array.MapBuilder:
		b.Append(true)
		return buildEntries(b, content)
	case *array.FixedSizeListBuilder:
		b.Append(true)
		size := int(b.Type().(*arrow.FixedSizeListType).Len())
		return buildExactly(content, size, func(int) array.Builder { return b.ValueBuilder() })
	case *array.StructBuilder:
		b.Append(true)
		return buildExactly(content, b.NumField(), b.FieldBuilder)
	}
	width, ok := b.Type().(arrow.FixedWidthDataType)
	if !ok {
		return fmt.Errorf("%w: %s", ErrType, b.Type())
	}
	if want := (width.BitWidth() + 7) / 8; len(content) != want {
		return fmt.Errorf("%w: %d bytes for %s", ErrCorrupt, len(content), b.Type())
	}
	return buildFixed(b, content)
}

func buildFixed(b array.Builder, content []byte) error {
	le := binary.LittleEndian
	switch b := b.(type) {
	case *array.FixedSizeBinaryBuilder:
		b.Append(content)
	case *array.BooleanBuilder:
		b.Append(content[0] != 0)
	case *array.Int8Builder:
		b.Append(int8(content[0]))
	case *array.Int16Builder:
		b.Append(int16(le.Uint16(content)))
	case *array.Int32Builder:
		b.Append(int32(le.Uint32(content)))
	case *array.Int64Builder:
		b.Append(int64(le.Uint64(content)))
	case *array.Float32Builder:
		b.Append(math.Float32frombits(le.Uint32(content)))
	case *array.Float64Builder:
		b.Append(math.Float64frombits(le.Uint64(content)))
	case *array.Date32Builder:
		b.Append(arrow.Date32(le.Uint32(content)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(le.Uint64(content)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(le.Uint64(content)))
	default:
		return fmt.Errorf("%w: %s", ErrType, b.Type())
	}
	return nil
}

func buildCells(b array.Builder, cells []byte) error {
	for len(cells) > 0 {
		content, rest, err := Take(cells)
		if err != nil {
			return err
		}
		if err := Build(b, content); err != nil {
			return err
		}
		cells = rest
	}
	return nil
}

func buildEntries(b *array.MapBuilder, cells []byte) error {
	for len(cells) > 0 {
		key, rest, err := Take(cells)
		if err != nil {
			return err
		}
		value, rest, err := Take(rest)
		if err != nil {
			return err
		}
		if key == nil {
			return fmt.Errorf("%w: a map with a key of NULL", ErrCorrupt)
		}
		if err := Build(b.KeyBuilder(), key); err != nil {
			return err
		}
		if err := Build(b.ItemBuilder(), value); err != nil {
			return err
		}
		cells = rest
	}
	return nil
}

// buildExactly appends n cells, each to the builder of its number.
func buildExactly(cells []byte, n int, builder func(int) array.Builder) error {
	for i := range n {
		content, rest, err := Take(cells)
		if err != nil {
			return err
		}
		if err := Build(builder(i), content); err != nil {
			return err
		}
		cells = rest
	}
	if len(cells) > 0 {
		return fmt.Errorf("%w: more than %d cells", ErrCorrupt, n)
	}
	return nil
}

// BuildRow appends a row to the builders of its columns.
func BuildRow(b *array.RecordBuilder, row []byte) error {
	return buildExactly(row, len(b.Fields()), b.Field)
}
