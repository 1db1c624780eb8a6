package rowform

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"pgregory.net/rapid"

	"manifest/internal/cqltype"
)

// everyType are CQL types of all kinds.
var everyType = []string{
	"text", "blob", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "timestamp", "date", "time", "uuid",
	"duration", "list<int>", "set<text>", "map<text, frozen<list<int>>>", "tuple<int, text>", "vector<float, 3>",
}

// draw fills a builder with a value of its type.
func draw(t *rapid.T, b array.Builder, depth int) {
	if rapid.IntRange(0, 3).Draw(t, "null") == 0 && depth == 0 {
		b.AppendNull()
		return
	}
	n := rapid.IntRange(0, 3)
	raw := func(size int) []byte { return rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "bytes") }
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(rapid.StringN(0, 5, 200).Draw(t, "text"))
	case *array.BinaryBuilder:
		b.Append(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "blob"))
	case *array.ListBuilder:
		b.Append(true)
		for range n.Draw(t, "elements") {
			draw(t, b.ValueBuilder(), depth+1)
		}
	case *array.MapBuilder:
		b.Append(true)
		for range n.Draw(t, "entries") {
			draw(t, b.KeyBuilder(), depth+1)
			draw(t, b.ItemBuilder(), depth+1)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			draw(t, b.ValueBuilder(), depth+1)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			draw(t, b.FieldBuilder(i), depth+1)
		}
	case *array.BooleanBuilder:
		b.Append(rapid.Bool().Draw(t, "boolean"))
	case *array.FixedSizeBinaryBuilder:
		b.Append(raw(16))
	case *array.Float32Builder:
		b.Append(rapid.Float32().Draw(t, "float"))
	case *array.Float64Builder:
		b.Append(rapid.Float64().Draw(t, "double"))
	case *array.Int8Builder:
		b.Append(rapid.Int8().Draw(t, "tinyint"))
	case *array.Int16Builder:
		b.Append(rapid.Int16().Draw(t, "smallint"))
	case *array.Int32Builder:
		b.Append(rapid.Int32().Draw(t, "int"))
	case *array.Int64Builder:
		b.Append(rapid.Int64().Draw(t, "bigint"))
	case *array.Date32Builder:
		b.Append(arrow.Date32(rapid.Int32().Draw(t, "date")))
	case *array.Time64Builder:
		b.Append(arrow.Time64(rapid.Int64().Draw(t, "time")))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(rapid.Int64().Draw(t, "timestamp")))
	default:
		t.Fatalf("no value for %T", b)
	}
}

func everySchema(t testing.TB) *arrow.Schema {
	var fields []arrow.Field
	for _, name := range everyType {
		typ, err := cqltype.Parse(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := typ.Field(name, true)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, f)
	}
	return arrow.NewSchema(fields, nil)
}

func TestRowsComeBackEqual(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	schema := everySchema(t)
	rapid.Check(t, func(t *rapid.T) {
		b := array.NewRecordBuilder(mem, schema)
		defer b.Release()
		rows := rapid.IntRange(0, 4).Draw(t, "rows")
		for range rows {
			for _, f := range b.Fields() {
				draw(t, f, 0)
			}
		}
		rec := b.NewRecord()
		defer rec.Release()
		from := rapid.IntRange(0, rows).Draw(t, "from") // slices have offsets
		slice := rec.NewSlice(int64(from), int64(rows))
		defer slice.Release()
		for i := range int(slice.NumRows()) {
			row, err := AppendRow([]byte("before"), slice, i)
			if err != nil {
				t.Fatal(err)
			}
			row = row[len("before"):]
			if err := BuildRow(b, row); err != nil {
				t.Fatal(err)
			}
			cells, err := Cells(nil, row)
			if err != nil || len(cells) != len(everyType) {
				t.Fatalf("%d cells, %v", len(cells), err)
			}
			var joined []byte
			for _, c := range cells {
				if c == nil {
					joined = append(joined, Null...)
				} else {
					joined = AppendContent(joined, c)
				}
			}
			if !bytes.Equal(joined, row) {
				t.Fatalf("cells of %x make %x", row, joined)
			}
			for cut := range row { // a row that ends early is found
				if err := BuildRow(b, row[:cut]); !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%d of %d bytes: %v", cut, len(row), err)
				}
				b.Release()
				b = array.NewRecordBuilder(mem, schema)
			}
			if err := BuildRow(b, row); err != nil {
				t.Fatal(err)
			}
			back := b.NewRecord()
			want := slice.NewSlice(int64(i), int64(i)+1)
			if !array.RecordEqual(back, want) {
				t.Fatalf("got %v, want %v", back, want)
			}
			back.Release()
			want.Release()
		}
	})
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		typ     arrow.DataType
		content []byte
		want    string
	}{
		{arrow.BinaryTypes.String, []byte("ß"), "ß"},
		{arrow.BinaryTypes.String, []byte{}, ""},
		{arrow.PrimitiveTypes.Int32, []byte{0xfe, 0xff, 0xff, 0xff}, "-2"},
		{arrow.PrimitiveTypes.Float64, []byte{0, 0, 0, 0, 0, 0, 0xe0, 0x3f}, "0.5"},
		{arrow.FixedWidthTypes.Date32, []byte{0x4a, 0x4f, 0, 0}, "2025-07-29"}, // 20298 days: 209 after 2025-01-01, which is day 20089
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "1969-12-31T23:59:59.999Z"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 16}, []byte("0123456789abcdef"), "30313233-3435-3637-3839-616263646566"},
	} {
		got, err := AppendTextOf(nil, c.typ, c.content)
		if err != nil || string(got) != c.want || !HasText(c.typ) {
			t.Errorf("%s of %x: %q %v, want %q", c.typ, c.content, got, err, c.want)
		}
	}
	if _, err := AppendTextOf(nil, arrow.PrimitiveTypes.Int32, []byte{1}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one byte of an int: %v", err)
	}
	if list := arrow.ListOf(arrow.BinaryTypes.String); HasText(list) {
		t.Error("a list has a text")
	}
}
