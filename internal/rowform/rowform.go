package rowform

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

var (
	// ErrCorrupt is wrapped by the error for bytes that are no row of the columns at hand.
	ErrCorrupt = errors.New("corrupt row")
	// ErrType is wrapped by the error for a type of Arrow that no CQL type has.
	ErrType = errors.New("type has no row form")
)

// Null is the cell of NULL.
var Null = []byte{0}

// AppendContent appends a cell of that content.
func AppendContent(dst, content []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(content))+1), content...)
}

// Take takes a cell from the beginning of src: its content, which is nil for NULL and not nil for what is empty, and what is behind it.
func Take(src []byte) (content, rest []byte, err error) {
	n, size := binary.Uvarint(src)
	switch {
	case size <= 0 || n > uint64(len(src)-size)+1:
		return nil, nil, fmt.Errorf("%w: a cell", ErrCorrupt)
	case n == 0:
		return nil, src[size:], nil
	}
	end := size + int(n) - 1
	return src[size:end:end], src[end:], nil
}

// Cells appends the contents of all cells of a row to dst.
func Cells(dst [][]byte, row []byte) ([][]byte, error) {
	for len(row) > 0 {
		content, rest, err := Take(row)
		if err != nil {
			return dst, err
		}
		dst, row = append(dst, content), rest
	}
	return dst, nil
}

// AppendCell appends the value of an array at i as a cell.
func AppendCell(dst []byte, arr arrow.Array, i int) ([]byte, error) {
	if arr.IsNull(i) {
		return append(dst, 0), nil
	}
	switch a := arr.(type) {
	case *array.String:
		return appendText(dst, a.Value(i)), nil
	case *array.Binary:
		return AppendContent(dst, a.Value(i)), nil
	case *array.FixedSizeBinary:
		return AppendContent(dst, a.Value(i)), nil
	case *array.Boolean:
		if a.Value(i) {
			return append(dst, 2, 1), nil
		}
		return append(dst, 2, 0), nil
	case *array.List:
		from, to := a.ValueOffsets(i)
		return appendNested(dst, func(dst []byte) ([]byte, error) { return appendCells(dst, a.ListValues(), from, to) })
	case *array.Map:
		from, to := a.ValueOffsets(i)
		return appendNested(dst, func(dst []byte) (_ []byte, err error) {
			for e := from; e < to && err == nil; e++ {
				if dst, err = AppendCell(dst, a.Keys(), int(e)); err == nil {
					dst, err = AppendCell(dst, a.Items(), int(e))
				}
			}
			return dst, err
		})
	case *array.FixedSizeList:
		from, to := a.ValueOffsets(i)
		return appendNested(dst, func(dst []byte) ([]byte, error) { return appendCells(dst, a.ListValues(), from, to) })
	case *array.Struct:
		return appendNested(dst, func(dst []byte) (_ []byte, err error) {
			for f := range a.NumField() {
				if dst, err = AppendCell(dst, a.Field(f), i); err != nil {
					return dst, err
				}
			}
			return dst, nil
		})
	}
	if fixed, ok := arr.DataType().(arrow.FixedWidthDataType); ok {
		width := fixed.Bytes()
		at := (arr.Data().Offset() + i) * width
		return AppendContent(dst, arr.Data().Buffers()[1].Bytes()[at:at+width]), nil
	}
	return dst, fmt.Errorf("%w: %s", ErrType, arr.DataType())
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))+1), s...)
}

func appendCells(dst []byte, arr arrow.Array, from, to int64) (_ []byte, err error) {
	for e := from; e < to; e++ {
		if dst, err = AppendCell(dst, arr, int(e)); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// lengthRoom is what is kept free for the length of a nested cell: that of most takes no more, others are moved.
const lengthRoom = 2

// appendNested appends a cell whose content is that of fill.
func appendNested(dst []byte, fill func([]byte) ([]byte, error)) ([]byte, error) {
	start := len(dst)
	dst, err := fill(append(dst, make([]byte, lengthRoom)...))
	if err != nil {
		return dst, err
	}
	var length [binary.MaxVarintLen64]byte
	n := len(dst) - start - lengthRoom
	head := binary.PutUvarint(length[:], uint64(n)+1)
	if head > lengthRoom {
		dst = append(dst, make([]byte, head-lengthRoom)...)
	}
	copy(dst[start+head:], dst[start+lengthRoom:start+lengthRoom+n])
	copy(dst[start:], length[:head])
	return dst[:start+head+n], nil
}

// AppendRow appends row i of a record.
func AppendRow(dst []byte, rec arrow.Record, i int) (_ []byte, err error) {
	for _, column := range rec.Columns() {
		if dst, err = AppendCell(dst, column, i); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
