// Package rowsize measures rows of Arrow records. Files are cut into row groups
// and batches by this measure: it depends on values alone, not on how rows were
// cut into records or where their memory lies, so files come out the same.
package rowsize

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// ErrType reports an Arrow type that has no measure.
var ErrType = errors.New("type has no size")

// lengthBytes is added to each value of variable length, as Parquet and Arrow
// both keep a length of so many bytes.
const lengthBytes = 4

// OfRows gives the bytes of each row of a record, in sums, which is reused.
func OfRows(rec arrow.Record, sums []int64) ([]int64, error) {
	sums = append(sums[:0], make([]int64, rec.NumRows())...)
	for i, col := range rec.Columns() {
		if err := add(col, 0, sums); err != nil {
			return nil, fmt.Errorf("measure column %q: %w", rec.ColumnName(i), err)
		}
	}
	return sums, nil
}

// add adds the bytes of each of the rows [from, from+len(sums)) of arr: those of
// its values, without validity.
func add(arr arrow.Array, from int, sums []int64) error {
	switch a := arr.(type) {
	case *array.String:
		addVariable(arr, from, sums, a.ValueOffsets())
	case *array.Binary:
		addVariable(arr, from, sums, a.ValueOffsets())
	case *array.Struct:
		for i := range a.NumField() {
			if err := add(a.Field(i), from, sums); err != nil {
				return err
			}
		}
	case *array.List:
		return addList(arr, a.ListValues(), from, sums, a.ValueOffsets)
	case *array.FixedSizeList:
		return addList(arr, a.ListValues(), from, sums, a.ValueOffsets)
	case *array.Map:
		return addList(arr, a.ListValues(), from, sums, a.ValueOffsets)
	default:
		t, ok := arr.DataType().(arrow.FixedWidthDataType)
		if !ok {
			return fmt.Errorf("values of type %s: %w", arr.DataType(), ErrType)
		}
		width := int64(max(t.BitWidth()/8, 1))
		for i := range sums {
			sums[i] += width
		}
	}
	return nil
}

func addVariable(arr arrow.Array, from int, sums []int64, offsets []int32) {
	if len(sums) == 0 {
		return
	}
	offsets = offsets[from : from+len(sums)+1]
	nulls := arr.NullN() > 0
	for i := range sums {
		if nulls && arr.IsNull(from+i) {
			continue
		}
		sums[i] += int64(offsets[i+1]-offsets[i]) + lengthBytes
	}
}

func addList(arr, elems arrow.Array, from int, sums []int64, offsets func(int) (int64, int64)) error {
	if len(sums) == 0 {
		return nil
	}
	first, _ := offsets(from)
	_, last := offsets(from + len(sums) - 1)
	elemSums := make([]int64, last-first)
	if err := add(elems, int(first), elemSums); err != nil {
		return err
	}
	for i := range sums {
		if arr.IsNull(from + i) {
			continue // what lies under a null does not count
		}
		start, end := offsets(from + i)
		for _, n := range elemSums[start-first : end-first] {
			sums[i] += n
		}
	}
	return nil
}
