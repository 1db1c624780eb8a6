package parquetfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"
)

// A shortened bound is short, is text, and bounds every text with that beginning.
func TestShortenedBounds(t *testing.T) {
	runes := rapid.SampledFrom([]rune{0, 'a', 'z', 'é', '叶', 0xD7FF, 0xE000, 0xFFFF, '🌿', utf8.MaxRune})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(string(rapid.SliceOfN(runes, 0, 60).Draw(t, "runes")))
		lower, upper := lowerBound(text), upperBound(text)
		if bytes.Compare(lower, text) > 0 || len(lower) > boundsMaxBytes || !utf8.Valid(lower) {
			t.Errorf("lower bound of %q is %q", text, lower)
		}
		if upper == nil {
			if strings.Trim(string(lower), string(utf8.MaxRune)) != "" {
				t.Errorf("%q has an upper bound, but none was found", text)
			}
			return
		}
		if bytes.Compare(upper, text) < 0 || len(upper) > boundsMaxBytes+3 || !utf8.Valid(upper) {
			t.Errorf("upper bound of %q is %q", text, upper)
		}
		more := append(bytes.Clone(text), string(rapid.SliceOfN(runes, 0, 3).Draw(t, "more"))...)
		if len(text) > boundsMaxBytes && bytes.Compare(upper, more) < 0 {
			t.Errorf("upper bound of %q is %q, but %q sorts after it", text, upper, more)
		}
	})
}

// What has no sound bounds has none: binary, columns that were named, NaN alone.
func TestColumnsWithoutBounds(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "blob", Type: arrow.BinaryTypes.Binary},
		{Name: "uri", Type: arrow.BinaryTypes.String},
		{Name: "nan", Type: arrow.PrimitiveTypes.Float64},
		{Name: "some", Type: arrow.PrimitiveTypes.Float64},
		{Name: "name", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 4 {
		b.Field(0).(*array.BinaryBuilder).Append([]byte{byte(i)})
		b.Field(1).(*array.StringBuilder).Append("s3://bucket/key")
		b.Field(2).(*array.Float64Builder).Append(math.NaN())
		b.Field(3).(*array.Float64Builder).Append([]float64{math.NaN(), 1, 3, 2}[i])
		b.Field(4).(*array.StringBuilder).Append(strings.Repeat("n", 100))
	}
	rec := b.NewRecord()
	defer rec.Release()
	data := writeAll(t, schema, Options{NoBounds: []string{"uri"}}, rec)
	f, err := readFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	checkBounds(t, data)
	for c, want := range []bool{false, false, false, true, true} {
		g := f.rowGroups[0]
		stats := g.meta.Columns[c].MetaData.Statistics
		if got := stats.MinValue != nil; got != want {
			t.Errorf("column %q has a minimum: %v", schema.Field(c).Name, got)
		}
		if got := stats.MaxValue != nil; got != want {
			t.Errorf("column %q has a maximum: %v", schema.Field(c).Name, got)
		}
		if got := g.meta.Columns[c].ColumnIndexOffset != 0; got != want {
			t.Errorf("column %q has a column index: %v", schema.Field(c).Name, got)
		}
		if len(stats.MaxValue) > boundsMaxBytes {
			t.Errorf("column %q has a maximum of %d bytes", schema.Field(c).Name, len(stats.MaxValue))
		}
	}
}

// Bounds of floats: NaN does not count, and a zero bounds both zeros, as the format
// asks for.
func TestBoundsOfFloats(t *testing.T) {
	nan, minusZero := math.NaN(), math.Copysign(0, -1)
	for _, tt := range []struct {
		values       []float64
		any          bool
		lower, upper float64
	}{
		{[]float64{nan, nan}, false, 0, 0},
		{[]float64{nan, 2, -1, nan}, true, -1, 2},
		{[]float64{0, 3}, true, minusZero, 3},
		{[]float64{-3, minusZero}, true, -3, 0},
		{[]float64{math.Inf(1), math.Inf(-1)}, true, math.Inf(-1), math.Inf(1)},
	} {
		var b bounds
		for _, v := range tt.values {
			b.addFloat(v)
		}
		lower, upper := b.encoded(format.Double)
		if b.any != tt.any {
			t.Errorf("%v have bounds: %v", tt.values, b.any)
		}
		if b.any && (binary.LittleEndian.Uint64(lower) != math.Float64bits(tt.lower) || binary.LittleEndian.Uint64(upper) != math.Float64bits(tt.upper)) {
			t.Errorf("bounds of %v are % x and % x", tt.values, lower, upper)
		}
	}
}
