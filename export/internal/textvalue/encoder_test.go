package textvalue

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"pgregory.net/rapid"

	"manifest/export/internal/arrowtest"
)

// A quoted text is one that encoding/json reads back.
func TestQuotedReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "valid") {
			text = rapid.String().Draw(t, "text")
		}
		var back string
		if err := json.Unmarshal(AppendQuoted(nil, text), &back); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if want := strings.ToValidUTF8(text, "\ufffd"); utf8.ValidString(text) && back != want {
			t.Errorf("%q comes back as %q", text, back)
		}
		if !utf8.ValidString(text) && strings.ReplaceAll(back, "\ufffd", "") != strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\ufffd", "") {
			t.Errorf("%q comes back as %q", text, back)
		}
	})
}

// Every value of every type is JSON.
func TestEverythingIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := arrowtest.Schema(t)
		rec := arrowtest.Record(t, memory.DefaultAllocator, schema, rapid.IntRange(0, 8).Draw(t, "rows"))
		defer rec.Release()
		for _, col := range rec.Columns() {
			enc, err := NewEncoder(col.DataType(), Options{QuoteInt64: rapid.Bool().Draw(t, "quote")})
			if err != nil {
				t.Fatal(err)
			}
			for i := range col.Len() {
				text := enc.AppendJSON([]byte("x"), col, i)[1:]
				if !json.Valid(text) {
					t.Fatalf("%s: not JSON: %s", col.DataType(), text)
				}
				if got := string(text) == "null"; got != col.IsNull(i) {
					t.Fatalf("null is %v, text is %s", col.IsNull(i), text)
				}
			}
		}
	})
}

func TestTexts(t *testing.T) {
	mem := memory.DefaultAllocator
	build := func(t arrow.DataType, fill func(array.Builder)) arrow.Array {
		b := array.NewBuilder(mem, t)
		defer b.Release()
		fill(b)
		return b.NewArray()
	}
	id := []byte{0x55, 0x0e, 0x84, 0, 0xe2, 0x9b, 0x41, 0xd4, 0xa7, 0x16, 0x44, 0x66, 0x55, 0x44, 0, 0}
	pair := arrow.StructOf(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}, arrow.Field{Name: `va"lue`, Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	for _, tt := range []struct {
		name        string
		arr         arrow.Array
		plain, json string
	}{
		{"text", build(arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).Append("a\"\\\n\r\t\x01/叶") }), "a\"\\\n\r\t\x01/叶", `"a\"\\\n\r\t\u0001/叶"`},
		{"empty text", build(arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).Append("") }), "", `""`},
		{"blob", build(arrow.BinaryTypes.Binary, func(b array.Builder) { b.(*array.BinaryBuilder).Append([]byte{0, 255, 1}) }), "AP8B", `"AP8B"`},
		{"uuid", build(&arrow.FixedSizeBinaryType{ByteWidth: 16}, func(b array.Builder) { b.(*array.FixedSizeBinaryBuilder).Append(id) }), "550e8400-e29b-41d4-a716-446655440000", `"550e8400-e29b-41d4-a716-446655440000"`},
		{"bigint", build(arrow.PrimitiveTypes.Int64, func(b array.Builder) { b.(*array.Int64Builder).Append(math.MinInt64) }), "-9223372036854775808", "-9223372036854775808"},
		{"float", build(arrow.PrimitiveTypes.Float32, func(b array.Builder) { b.(*array.Float32Builder).Append(0.1) }), "0.1", "0.1"},
		{"nan", build(arrow.PrimitiveTypes.Float64, func(b array.Builder) { b.(*array.Float64Builder).Append(math.NaN()) }), "NaN", `"NaN"`},
		{"infinity", build(arrow.PrimitiveTypes.Float64, func(b array.Builder) { b.(*array.Float64Builder).Append(math.Inf(-1)) }), "-Infinity", `"-Infinity"`},
		{"minus zero", build(arrow.PrimitiveTypes.Float64, func(b array.Builder) { b.(*array.Float64Builder).Append(math.Copysign(0, -1)) }), "-0", "-0"},
		{"list with null", build(arrow.ListOf(arrow.BinaryTypes.String), func(b array.Builder) {
			b.(*array.ListBuilder).Append(true)
			b.(*array.ListBuilder).ValueBuilder().(*array.StringBuilder).AppendValues([]string{"", "x"}, []bool{false, true})
		}), `[null,"x"]`, `[null,"x"]`},
		{"struct", build(pair, func(b array.Builder) {
			b.(*array.StructBuilder).Append(true)
			b.(*array.StructBuilder).FieldBuilder(0).(*array.StringBuilder).Append("k")
			b.(*array.StructBuilder).FieldBuilder(1).AppendNull()
		}), `{"key":"k","va\"lue":null}`, `{"key":"k","va\"lue":null}`},
		{"map of numbers", build(arrow.MapOf(arrow.PrimitiveTypes.Int32, arrow.FixedWidthTypes.Boolean), func(b array.Builder) {
			m := b.(*array.MapBuilder)
			m.Append(true)
			m.KeyBuilder().(*array.Int32Builder).Append(-7)
			m.ItemBuilder().(*array.BooleanBuilder).Append(true)
		}), `{"-7":true}`, `{"-7":true}`},
		{"map of lists", build(arrow.MapOf(arrow.ListOf(arrow.BinaryTypes.String), arrow.PrimitiveTypes.Float64), func(b array.Builder) {
			m := b.(*array.MapBuilder)
			m.Append(true)
			m.KeyBuilder().(*array.ListBuilder).Append(true)
			m.KeyBuilder().(*array.ListBuilder).ValueBuilder().(*array.StringBuilder).Append("k")
			m.ItemBuilder().(*array.Float64Builder).Append(math.Inf(1))
		}), `{"[\"k\"]":"Infinity"}`, `{"[\"k\"]":"Infinity"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			enc, err := NewEncoder(tt.arr.DataType(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(enc.AppendPlain(nil, tt.arr, 0)); got != tt.plain {
				t.Errorf("plain is %s, want %s", got, tt.plain)
			}
			if got := string(enc.AppendJSON(nil, tt.arr, 0)); got != tt.json {
				t.Errorf("JSON is %s, want %s", got, tt.json)
			}
		})
	}
}

func TestTypesWithoutText(t *testing.T) {
	for _, typ := range []arrow.DataType{arrow.Null, &arrow.FixedSizeBinaryType{ByteWidth: 3}, arrow.ListOf(arrow.PrimitiveTypes.Uint8), &arrow.TimestampType{Unit: arrow.Second}} {
		if _, err := NewEncoder(typ, Options{}); !errors.Is(err, ErrType) {
			t.Errorf("%s: error is %v", typ, err)
		}
	}
}

func TestEncodingAllocatesNothing(t *testing.T) {
	rec := func() arrow.Record {
		schema := arrow.NewSchema([]arrow.Field{
			{Name: "s", Type: arrow.BinaryTypes.String}, {Name: "i", Type: arrow.PrimitiveTypes.Int64},
			{Name: "t", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64)},
		}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		b.Field(0).(*array.StringBuilder).Append("rain \"and\" sun")
		b.Field(1).(*array.Int64Builder).Append(-5)
		b.Field(2).(*array.TimestampBuilder).Append(1e12)
		m := b.Field(3).(*array.MapBuilder)
		m.Append(true)
		m.KeyBuilder().(*array.StringBuilder).Append("k")
		m.ItemBuilder().(*array.Float64Builder).Append(math.NaN())
		return b.NewRecord()
	}()
	defer rec.Release()
	var encs []*Encoder
	for _, col := range rec.Columns() {
		enc, err := NewEncoder(col.DataType(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		encs = append(encs, enc)
	}
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		buf = buf[:0]
		for c, col := range rec.Columns() {
			buf = encs[c].AppendJSON(buf, col, 0)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a row", n)
	}
}
