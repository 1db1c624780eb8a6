// Package arrowtest makes random Arrow records for tests, and gives the values
// of arrays as plain Go values to compare.
package arrowtest

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"pgregory.net/rapid"
)

// Field draws a field of a random type, nested at most depth times.
func Field(t *rapid.T, name string, depth int) arrow.Field {
	return arrow.Field{Name: name, Type: dataType(t, depth), Nullable: rapid.Bool().Draw(t, "nullable")}
}

// Schema draws a schema of a few columns.
func Schema(t *rapid.T) *arrow.Schema {
	fields := make([]arrow.Field, rapid.IntRange(1, 5).Draw(t, "columns"))
	for i := range fields {
		fields[i] = Field(t, fmt.Sprintf("c%d,\"x", i), 3)
	}
	return arrow.NewSchema(fields, nil)
}

var leaves = []arrow.DataType{
	arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Date32,
	&arrow.Time64Type{Unit: arrow.Nanosecond}, &arrow.Time64Type{Unit: arrow.Microsecond},
	&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, &arrow.TimestampType{Unit: arrow.Microsecond},
	&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"},
	&arrow.FixedSizeBinaryType{ByteWidth: 16},
}

func dataType(t *rapid.T, depth int) arrow.DataType {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 6).Draw(t, "kind")
	}
	switch kind {
	default:
		return rapid.SampledFrom(leaves).Draw(t, "leaf")
	case 3:
		return arrow.ListOfField(Field(t, "element", depth-1))
	case 4:
		fields := make([]arrow.Field, rapid.IntRange(1, 3).Draw(t, "fields"))
		for i := range fields {
			fields[i] = Field(t, fmt.Sprintf("f%d", i), depth-1)
		}
		return arrow.StructOf(fields...)
	case 5:
		key := rapid.SampledFrom(leaves).Draw(t, "key")
		item := Field(t, "value", depth-1)
		m := arrow.MapOf(key, item.Type)
		m.SetItemNullable(item.Nullable)
		return m
	case 6:
		return arrow.FixedSizeListOfField(int32(rapid.IntRange(1, 3).Draw(t, "size")), Field(t, "element", depth-1))
	}
}

// Record draws a record with rows of the schema. The caller releases it.
func Record(t *rapid.T, mem memory.Allocator, schema *arrow.Schema, rows int) arrow.Record {
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for i, f := range schema.Fields() {
		for range rows {
			appendValue(t, b.Field(i), f)
		}
	}
	return b.NewRecord()
}

var texts = []string{
	"", "a", "叶片病斑", "🌿", "it's \"quoted\", with\nlines", "rain", "device-7", string(make([]byte, 70)),
	strings.Repeat("叶", 30), strings.Repeat("a", 62) + "🌿", strings.Repeat("a", 62) + "bcd", strings.Repeat("\U0010ffff", 20),
}

func appendValue(t *rapid.T, b array.Builder, f arrow.Field) {
	if f.Nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		if rapid.Bool().Draw(t, "known") {
			b.Append(rapid.SampledFrom(texts).Draw(t, "text"))
		} else {
			b.Append(rapid.String().Draw(t, "text"))
		}
	case *array.BinaryBuilder:
		b.Append(rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(t, "bytes"))
	case *array.BooleanBuilder:
		b.Append(rapid.Bool().Draw(t, "bool"))
	case *array.Int8Builder:
		b.Append(rapid.Int8().Draw(t, "int8"))
	case *array.Int16Builder:
		b.Append(rapid.Int16().Draw(t, "int16"))
	case *array.Int32Builder:
		b.Append(rapid.Int32().Draw(t, "int32"))
	case *array.Int64Builder:
		b.Append(rapid.Int64().Draw(t, "int64"))
	case *array.Float32Builder:
		b.Append(rapid.SampledFrom([]float32{0, 1.5, -2, float32(math.Inf(1)), float32(math.NaN()), math.SmallestNonzeroFloat32}).Draw(t, "float32"))
	case *array.Float64Builder:
		b.Append(rapid.SampledFrom([]float64{0, 1.5, -2, math.Inf(-1), math.NaN(), math.MaxFloat64}).Draw(t, "float64"))
	case *array.Date32Builder:
		b.Append(arrow.Date32(rapid.Int32().Draw(t, "date")))
	case *array.Time64Builder:
		unit := b.Type().(*arrow.Time64Type).Unit
		b.Append(arrow.Time64(rapid.Int64Range(0, int64(86400/unit.Multiplier().Seconds())-1).Draw(t, "time")))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(rapid.Int64().Draw(t, "timestamp")))
	case *array.FixedSizeBinaryBuilder:
		b.Append(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "16 bytes"))
	case *array.ListBuilder:
		b.Append(true)
		elem := b.Type().(*arrow.ListType).ElemField()
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			appendValue(t, b.ValueBuilder(), elem)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		typ := b.Type().(*arrow.FixedSizeListType)
		for range typ.Len() {
			appendValue(t, b.ValueBuilder(), typ.ElemField())
		}
	case *array.MapBuilder:
		b.Append(true)
		typ := b.Type().(*arrow.MapType)
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			appendValue(t, b.KeyBuilder(), arrow.Field{Type: typ.KeyType()})
			appendValue(t, b.ItemBuilder(), typ.ItemField())
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, f := range b.Type().(*arrow.StructType).Fields() {
			appendValue(t, b.FieldBuilder(i), f)
		}
	default:
		t.Fatalf("no random values of type %s", b.Type())
	}
}

// Cut cuts a record into records at random rows, which together hold its rows.
// The caller releases them.
func Cut(t *rapid.T, rec arrow.Record) []arrow.Record {
	var cut []arrow.Record
	rows := rec.NumRows()
	for from := int64(0); from < rows; {
		to := from + rapid.Int64Range(1, rows-from).Draw(t, "cut")
		cut = append(cut, rec.NewSlice(from, to))
		from = to
	}
	return cut
}

// Value gives element i of an array: nil, a string for text and bytes, a number
// for numbers, dates and times (floats as their bits, so that NaN equals
// itself), and []any for lists (elements), structs (fields) and maps (pairs).
func Value(arr arrow.Array, i int) any {
	if arr.IsNull(i) {
		return nil
	}
	switch a := arr.(type) {
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	case *array.FixedSizeBinary:
		return string(a.Value(i))
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Float32:
		return int64(math.Float32bits(a.Value(i)))
	case *array.Float64:
		return int64(math.Float64bits(a.Value(i)))
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Map:
		start, end := a.ValueOffsets(i)
		list := []any{}
		for j := int(start); j < int(end); j++ {
			list = append(list, []any{Value(a.Keys(), j), Value(a.Items(), j)})
		}
		return list
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		list := []any{}
		for j := int(start); j < int(end); j++ {
			list = append(list, Value(a.ListValues(), j))
		}
		return list
	case *array.Struct:
		var fields []any
		for f := range a.NumField() {
			fields = append(fields, Value(a.Field(f), i))
		}
		return fields
	}
	panic(fmt.Sprintf("no value of type %s", arr.DataType()))
}

// Rows gives the values of records, row by row.
func Rows(recs ...arrow.Record) [][]any {
	rows := [][]any{}
	for _, rec := range recs {
		for i := range int(rec.NumRows()) {
			var row []any
			for _, col := range rec.Columns() {
				row = append(row, Value(col, i))
			}
			rows = append(rows, row)
		}
	}
	return rows
}
