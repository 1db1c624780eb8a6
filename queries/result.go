package queries

import (
	"encoding/hex"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/ordered"
	"manifest/queries/internal/vector"
)

// row is a row of a result before it has columns.
type row struct {
	keys   []vector.Value
	states accumulate.States
	number int // of the rows of its group
}

// field is a column of a result.
type field struct {
	name     string
	kind     vector.Kind
	nullable bool
	value    func(r *row) (vector.Value, error)
}

func keyField(name string, kind vector.Kind, key int) field {
	return field{name, kind, true, func(r *row) (vector.Value, error) { return r.keys[key], nil }}
}

// resultField is the i-th result of an aggregate.
func resultField(name string, kind vector.Kind, aggregate, i int) field {
	return field{name, kind, false, func(r *row) (vector.Value, error) { return r.states[aggregate].Result(0, i) }}
}

var timestampType = &arrow.TimestampType{Unit: arrow.Microsecond}

// resultTypes are the Arrow types of results. Times are without a zone, in UTC, because a zone is shown in the reader's own; identifiers
// are text.
var resultTypes = map[vector.Kind]arrow.DataType{
	vector.Boolean: arrow.FixedWidthTypes.Boolean, vector.Int8: arrow.PrimitiveTypes.Int8, vector.Int16: arrow.PrimitiveTypes.Int16,
	vector.Int32: arrow.PrimitiveTypes.Int32, vector.Int64: arrow.PrimitiveTypes.Int64, vector.Date: arrow.FixedWidthTypes.Date32,
	vector.Time: arrow.FixedWidthTypes.Time64ns, vector.Timestamp: timestampType, vector.Float32: arrow.PrimitiveTypes.Float32,
	vector.Float64: arrow.PrimitiveTypes.Float64, vector.Text: arrow.BinaryTypes.String, vector.Blob: arrow.BinaryTypes.Binary,
	vector.UUID: arrow.BinaryTypes.String, vector.TimeUUID: arrow.BinaryTypes.String, vector.Inet: arrow.BinaryTypes.String,
	vector.Varint: arrow.BinaryTypes.String, vector.Decimal: arrow.BinaryTypes.String,
}

// newResultTable returns a table of the fields.
func newResultTable(name string, byDay bool, fields []field) (ResultTable, error) {
	if err := checkNames(fields); err != nil {
		return ResultTable{}, err
	}
	columns := make([]arrow.Field, len(fields))
	for i, f := range fields {
		columns[i] = arrow.Field{Name: f.name, Type: resultTypes[f.kind], Nullable: f.nullable}
	}
	return ResultTable{Name: name, Schema: arrow.NewSchema(columns, nil), ByDay: byDay}, nil
}

// appendResult appends a value to the column of its kind.
func appendResult(b array.Builder, kind vector.Kind, v vector.Value) error {
	if v.Null {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.Int != 0)
	case *array.Int8Builder:
		b.Append(int8(v.Int))
	case *array.Int16Builder:
		b.Append(int16(v.Int))
	case *array.Int32Builder:
		b.Append(int32(v.Int))
	case *array.Int64Builder:
		b.Append(v.Int)
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.Int))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.Int))
	case *array.TimestampBuilder:
		if v.Int > math.MaxInt64/1000 || v.Int < math.MinInt64/1000 {
			return fmt.Errorf("%d ms in microseconds: %w", v.Int, ErrOverflow)
		}
		b.Append(arrow.Timestamp(v.Int * 1000))
	case *array.Float32Builder:
		b.Append(float32(v.Float))
	case *array.Float64Builder:
		b.Append(v.Float)
	case *array.BinaryBuilder:
		b.Append(v.Bytes)
	case *array.StringBuilder:
		var buf [64]byte
		text, err := appendText(buf[:0], kind, v.Bytes)
		if err != nil {
			return err
		}
		b.BinaryBuilder.Append(text)
	default:
		return fmt.Errorf("no column for a %s: %w", kind, ErrType)
	}
	return nil
}

// appendText appends the text of a value of a Bytes kind, which is content if the kind has it.
func appendText(dst []byte, kind vector.Kind, content []byte) ([]byte, error) {
	switch kind {
	case vector.UUID:
		return appendUUID(dst, content), nil
	case vector.TimeUUID:
		var raw [16]byte
		u, err := ordered.TimeUUID(raw[:0], content)
		if err != nil {
			return nil, err
		}
		return appendUUID(dst, u), nil
	case vector.Inet:
		return ordered.Inet(dst, content)
	case vector.Varint, vector.Decimal:
		var digits [64]byte
		d, err := ordered.DecimalOf(content, digits[:0])
		if err != nil {
			return nil, err
		}
		if kind == vector.Varint {
			return d.AppendInteger(dst)
		}
		return d.AppendText(dst), nil
	}
	return append(dst, content...), nil
}

// appendUUID appends the 36 characters of a UUID.
func appendUUID(dst, u []byte) []byte {
	for i, end := 0, 0; i < len(u); i = end {
		if i > 0 {
			dst = append(dst, '-')
		}
		// Groups of 4, 2, 2, 2 and 6 bytes.
		switch end = i + 2; i {
		case 0:
			end = 4
		case 10:
			end = 16
		}
		dst = hex.AppendEncode(dst, u[i:min(end, len(u))])
	}
	return dst
}
