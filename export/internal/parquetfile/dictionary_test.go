package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"manifest/export/internal/arrowtest"
	"manifest/export/internal/parquettest"
)

// A dictionary numbers values as a map would that is filled in the same order.
func TestDictionaryNumbersValues(t *testing.T) {
	d := newDictionary()
	rapid.Check(t, func(t *rapid.T) {
		d.reset()
		few := rapid.IntRange(1, 2000).Draw(t, "different values")
		want := map[string]uint32{}
		seen := map[string]int{}
		var order []string
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, few), 1, 3000).Draw(t, "values") {
			value := fmt.Sprint("v", n)[:rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "length")]
			page := i/100 + 1
			number, ok := want[value]
			if !ok {
				number = uint32(len(want))
				want[value] = number
				order = append(order, value)
			}
			got, first := d.number([]byte(value), uint32(page))
			if got != number || first != (seen[value] != page) {
				t.Fatalf("value %q on page %d is number %d, first %v; want %d, last seen on %d", value, page, got, first, number, seen[value])
			}
			seen[value] = page
		}
		if d.len() != len(order) {
			t.Fatalf("%d values, want %d", d.len(), len(order))
		}
		var plain []byte
		for i, value := range order {
			if string(d.value(uint32(i))) != value {
				t.Fatalf("value %d is %q, want %q", i, d.value(uint32(i)), value)
			}
			plain = binary.LittleEndian.AppendUint32(plain, uint32(len(value)))
			plain = append(plain, value...)
		}
		if got := d.appendPlain(nil, true); !bytes.Equal(got, plain) {
			t.Fatalf("PLAIN is %q, want %q", got, plain)
		}
	})
}

// Every type may have a dictionary where it is asked for; booleans never have one.
func TestDictionaryOfEveryType(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		schema := arrowtest.Schema(t)
		rec := arrowtest.Record(t, mem, schema, rapid.IntRange(1, 120).Draw(t, "rows"))
		defer rec.Release()
		opts := smallOptions(t)
		opts.Dictionary = map[string]bool{}
		for _, f := range schema.Fields() {
			opts.Dictionary[f.Name] = true
		}
		data := writeAll(t, schema, opts, rec)
		if diff := cmp.Diff(arrowtest.Rows(rec), parquettest.ReadRows(t, data, schema)); diff != "" {
			t.Fatalf("read back (-written +read):\n%s", diff)
		}
		checkBounds(t, data)
		f, err := readFooter(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.rowGroups[0].meta.Columns {
			if has := c.MetaData.DictionaryPageOffset > 0; has != (c.MetaData.Type != format.Boolean) {
				t.Errorf("column %v of type %v has a dictionary: %v", c.MetaData.PathInSchema, c.MetaData.Type, has)
			}
		}
	})
}

// What stands in the footer of a chunk of numbers with few values, computed by hand:
// 1,000 numbers, one of ten NULL, the others 7 or -3.
func TestChunkOfFewNumbers(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 1000 {
		if i%10 == 0 {
			b.Field(0).AppendNull()
			continue
		}
		b.Field(0).(*array.Int32Builder).Append([]int32{7, -3}[i%2])
	}
	rec := b.NewRecord()
	defer rec.Release()
	data := writeAll(t, schema, Options{PageRows: 400, Dictionary: map[string]bool{"n": true}}, rec)
	f, err := readFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	g := f.rowGroups[0]
	m := g.meta.Columns[0].MetaData
	if m.NumValues != 1000 || m.Statistics.NullCount != 100 {
		t.Errorf("%d values, %d nulls", m.NumValues, m.Statistics.NullCount)
	}
	minus3, seven := []byte{0xFD, 0xFF, 0xFF, 0xFF}, []byte{7, 0, 0, 0}
	if !bytes.Equal(m.Statistics.MinValue, minus3) || !bytes.Equal(m.Statistics.MaxValue, seven) {
		t.Errorf("bounds % x, % x", m.Statistics.MinValue, m.Statistics.MaxValue)
	}
	wantStats := []format.PageEncodingStats{
		{PageType: format.DataPage, Encoding: format.RLEDictionary, Count: 3},
		{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1},
	}
	if diff := cmp.Diff(wantStats, []format.PageEncodingStats(m.EncodingStats)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]format.Encoding{format.Plain, format.RLE, format.RLEDictionary}, []format.Encoding(m.Encoding)); diff != "" {
		t.Errorf("encodings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{100, 900}, []int64(m.SizeStatistics.DefinitionLevelHistogram)); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	want := format.ColumnIndex{
		NullPages: []bool{false, false, false}, NullCounts: []int64{40, 40, 20},
		MinValues: [][]byte{minus3, minus3, minus3}, MaxValues: [][]byte{seven, seven, seven},
		BoundaryOrder: format.Ascending, DefinitionLevelHistogram: []int64{40, 360, 40, 360, 20, 180},
	}
	if diff := cmp.Diff(want, g.columns[0]); diff != "" {
		t.Errorf("column index (-want +got):\n%s", diff)
	}
	var rows []int64
	for _, p := range g.offsets[0].PageLocations {
		rows = append(rows, p.FirstRowIndex)
	}
	if diff := cmp.Diff([]int64{0, 400, 800}, rows); diff != "" {
		t.Errorf("first rows of pages (-want +got):\n%s", diff)
	}
}
