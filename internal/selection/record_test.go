package selection

import (
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"manifest/internal/cqltype"
)

// entry is a key and a value of a map, and maps, lists, tuples and user defined types are values here.
type entry struct{ key, value any }

// place is the user defined type that tests know.
var place = &cqltype.Type{
	Kind: cqltype.UDT, Name: "place", Fields: []string{"city", "Zip", "spot"},
	Elems: []*cqltype.Type{parseType("text", nil), parseType("int", nil), parseType("tuple<double, text>", nil)},
}

func typeOf(text string) *cqltype.Type { return parseType(text, place) }

func parseType(text string, udt *cqltype.Type) *cqltype.Type {
	t, err := cqltype.Parse(text, func(string) (*cqltype.Type, error) { return udt, nil })
	if err != nil {
		panic(err)
	}
	return t
}

// columnsOf reads columns such as "width int; attributes map<text, text>".
func columnsOf(text string) []Column {
	var columns []Column
	for part := range strings.SplitSeq(text, ";") {
		name, typ, _ := strings.Cut(strings.TrimSpace(part), " ")
		columns = append(columns, Column{name, typeOf(typ)})
	}
	return columns
}

func schemaOf(columns []Column) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		var err error
		if fields[i], err = c.Type.Field(c.Name, true); err != nil {
			panic(err)
		}
	}
	return arrow.NewSchema(fields, nil)
}

// recordOf builds a record of rows, whose values are those that appendValue takes.
func recordOf(mem memory.Allocator, columns []Column, rows [][]any) arrow.Record {
	b := array.NewRecordBuilder(mem, schemaOf(columns))
	defer b.Release()
	for _, row := range rows {
		for i, v := range row {
			appendValue(b.Field(i), columns[i].Type, v)
		}
	}
	return b.NewRecord()
}

// appendValue appends nil for NULL; bool, int64, float64, string or []byte according to the type, where uuids are strings and dates,
// times and timestamps are counts or strings; []entry for a map; []any for what else has parts.
func appendValue(b array.Builder, t *cqltype.Type, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	if n, ok := v.(int); ok {
		v = int64(n)
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.Int8Builder:
		b.Append(int8(v.(int64)))
	case *array.Int16Builder:
		b.Append(int16(v.(int64)))
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.FixedSizeBinaryBuilder:
		u := uuid.MustParse(v.(string))
		b.Append(u[:])
	case *array.Date32Builder:
		b.Append(arrow.Date32(count(v, 24*time.Hour)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(count(v, time.Millisecond)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.(int64)))
	case *array.MapBuilder:
		b.Append(true)
		for _, e := range v.([]entry) {
			appendValue(b.KeyBuilder(), t.Elems[0], e.key)
			appendValue(b.ItemBuilder(), t.Elems[1], e.value)
		}
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range v.([]any) {
			appendValue(b.ValueBuilder(), t.Elems[0], e)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for _, e := range v.([]any) {
			appendValue(b.ValueBuilder(), t.Elems[0], e)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, e := range v.([]any) {
			var elem *cqltype.Type
			if t.Kind != cqltype.Duration {
				elem = t.Elems[i]
			}
			appendValue(b.FieldBuilder(i), elem, e)
		}
	}
}

// valueAt returns the value that appendValue appended, of dates and times as a count.
func valueAt(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	elements := func(of arrow.Array, start, end int64) []any {
		values := []any{}
		for at := start; at < end; at++ {
			values = append(values, valueAt(of, int(at)))
		}
		return values
	}
	switch a := a.(type) {
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
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return append([]byte{}, a.Value(i)...) // which is not nil
	case *array.FixedSizeBinary:
		return uuid.UUID(a.Value(i)).String()
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Map:
		entries := []entry{}
		start, end := a.ValueOffsets(i)
		for at := start; at < end; at++ {
			entries = append(entries, entry{valueAt(a.Keys(), int(at)), valueAt(a.Items(), int(at))})
		}
		return entries
	case *array.List:
		start, end := a.ValueOffsets(i)
		return elements(a.ListValues(), start, end)
	case *array.FixedSizeList:
		n := int64(a.DataType().(*arrow.FixedSizeListType).Len())
		start := int64(i+a.Data().Offset()) * n
		return elements(a.ListValues(), start, start+n)
	case *array.Struct:
		values := []any{}
		for field := range a.NumField() {
			values = append(values, valueAt(a.Field(field), i))
		}
		return values
	}
	panic(a.DataType().String())
}

// count returns an int64, or the whole units from 1970 to a time that is a string.
func count(v any, unit time.Duration) int64 {
	s, ok := v.(string)
	if !ok {
		return v.(int64)
	}
	layout := time.RFC3339Nano
	if len(s) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		panic(err)
	}
	return t.UnixMilli() / unit.Milliseconds()
}

// mustFilter compiles a condition.
func mustFilter(t testing.TB, text string, columns []Column) *Filter {
	t.Helper()
	c, err := ParseWhere(text)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	f, err := Compile(c, columns)
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return f
}

// kept returns the indices of the rows that a filter wants.
func kept(t testing.TB, f *Filter, rec arrow.Record) []int {
	t.Helper()
	mask, err := f.Mask(nil, rec)
	if err != nil {
		t.Fatal(err)
	}
	rows := []int{}
	for i, wanted := range mask {
		if wanted {
			rows = append(rows, i)
		}
	}
	return rows
}
