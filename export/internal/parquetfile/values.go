package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// pageValues are the values of the open page of a column, without nulls: PLAIN
// encoded, or as numbers of a dictionary.
type pageValues struct {
	plain   []byte
	indexes []int32
	count   int   // of values
	bytes   int64 // of texts and binaries, without lengths
	bounds  bounds

	dict *dictionary // nil: PLAIN
	page uint32      // number of the page in the row group, from 1
}

// begin starts a page.
func (v *pageValues) begin() {
	v.plain, v.indexes = v.plain[:0], v.indexes[:0]
	v.count, v.bytes = 0, 0
	v.bounds.reset()
	v.page++
}

// append adds the values of arr at each index that is not ended.
func (v *pageValues) append(arr arrow.Array, index []int32) error {
	switch a := arr.(type) {
	case *array.String:
		v.appendTexts(a.ValueOffsets(), a.ValueBytes(), index)
	case *array.Binary:
		v.appendTexts(a.ValueOffsets(), a.ValueBytes(), index)
	case *array.FixedSizeBinary:
		v.appendFixedBinary(a, index)
	case *array.Boolean:
		v.appendBooleans(a, index)
	case *array.Int8:
		appendInt32(v, a.Int8Values(), index)
	case *array.Int16:
		appendInt32(v, a.Int16Values(), index)
	case *array.Int32:
		appendInt32(v, a.Int32Values(), index)
	case *array.Date32:
		appendInt32(v, a.Date32Values(), index)
	case *array.Int64:
		appendInt64(v, a.Int64Values(), index)
	case *array.Time64:
		appendInt64(v, a.Time64Values(), index)
	case *array.Timestamp:
		appendInt64(v, a.TimestampValues(), index)
	case *array.Float32:
		v.appendFloats(a.Float32Values(), index)
	case *array.Float64:
		v.appendDoubles(a.Float64Values(), index)
	default:
		return fmt.Errorf("values of type %s: %w", arr.DataType(), ErrSchema)
	}
	return nil
}

// appendTexts takes values of variable length from the bytes of an array, which
// begin at its first offset.
func (v *pageValues) appendTexts(offsets []int32, data []byte, index []int32) {
	base := int32(0)
	if len(offsets) > 0 {
		base = offsets[0]
	}
	for _, i := range index {
		if i == ended {
			continue
		}
		text := data[offsets[i]-base : offsets[i+1]-base]
		v.count++
		v.bytes += int64(len(text))
		if v.dict != nil {
			n, first := v.dict.number(text, v.page)
			v.indexes = append(v.indexes, int32(n))
			if first {
				v.bounds.addBytes(text)
			}
			continue
		}
		v.plain = binary.LittleEndian.AppendUint32(v.plain, uint32(len(text)))
		v.plain = append(v.plain, text...)
		v.bounds.addBytes(text)
	}
}

func (v *pageValues) appendFixedBinary(a *array.FixedSizeBinary, index []int32) {
	start := len(v.plain)
	for _, i := range index {
		if i != ended {
			value := a.Value(int(i))
			v.plain = append(v.plain, value...)
			v.bounds.addBytes(value)
		}
	}
	v.appended(start, a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth)
}

// appendBooleans packs eight values into a byte. They have no dictionary, which
// could not be smaller.
func (v *pageValues) appendBooleans(a *array.Boolean, index []int32) {
	for _, i := range index {
		if i == ended {
			continue
		}
		if v.count%8 == 0 {
			v.plain = append(v.plain, 0)
		}
		bit := int64(0)
		if a.Value(int(i)) {
			bit = 1
		}
		v.plain[len(v.plain)-1] |= byte(bit << (v.count % 8))
		v.bounds.addInt(bit)
		v.count++
	}
}

func appendInt32[T ~int8 | ~int16 | ~int32](v *pageValues, values []T, index []int32) {
	start := len(v.plain)
	for _, i := range index {
		if i != ended {
			n := int32(values[i])
			v.plain = binary.LittleEndian.AppendUint32(v.plain, uint32(n))
			v.bounds.addInt(int64(n))
		}
	}
	v.appended(start, 4)
}

func appendInt64[T ~int64](v *pageValues, values []T, index []int32) {
	start := len(v.plain)
	for _, i := range index {
		if i != ended {
			n := int64(values[i])
			v.plain = binary.LittleEndian.AppendUint64(v.plain, uint64(n))
			v.bounds.addInt(n)
		}
	}
	v.appended(start, 8)
}

func (v *pageValues) appendFloats(values []float32, index []int32) {
	start := len(v.plain)
	for _, i := range index {
		if i != ended {
			v.plain = binary.LittleEndian.AppendUint32(v.plain, math.Float32bits(values[i]))
			v.bounds.addFloat(float64(values[i]))
		}
	}
	v.appended(start, 4)
}

func (v *pageValues) appendDoubles(values []float64, index []int32) {
	start := len(v.plain)
	for _, i := range index {
		if i != ended {
			v.plain = binary.LittleEndian.AppendUint64(v.plain, math.Float64bits(values[i]))
			v.bounds.addFloat(values[i])
		}
	}
	v.appended(start, 8)
}

// appended counts the values of that width that are in plain from start on, and
// moves them to the dictionary, where there is one.
func (v *pageValues) appended(start, width int) {
	v.count += (len(v.plain) - start) / width
	if v.dict == nil {
		return
	}
	for value := range slices.Chunk(v.plain[start:], width) {
		n, _ := v.dict.number(value, v.page)
		v.indexes = append(v.indexes, int32(n))
	}
	v.plain = v.plain[:start]
}
