package parquetfile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"manifest/export/internal/arrowtest"
	"manifest/export/internal/parquettest"
)

// packedRecord makes rows of a text without a dictionary, one with, numbers, and a
// list of floats, with nulls.
func packedRecord(t *testing.T, from, rows int) (*arrow.Schema, arrow.Record) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "object_key", Type: arrow.BinaryTypes.String},
		{Name: "tag", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "vector", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Float32}), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	list := b.Field(3).(*array.ListBuilder)
	for i := from; i < from+rows; i++ {
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("key-%09d", i*7919%1_000_003))
		b.Field(1).(*array.StringBuilder).Append([]string{"leaf", "rust", "叶"}[i%3])
		if i%5 == 0 {
			b.Field(2).AppendNull()
			list.AppendNull()
			continue
		}
		b.Field(2).(*array.Int64Builder).Append(int64(i))
		list.Append(true)
		for k := range i % 3 {
			list.ValueBuilder().(*array.Float32Builder).Append(float32(i * k))
		}
	}
	return schema, b.NewRecord()
}

// Packing copies the pages of columns without a dictionary as they are, where they
// are not small; small ones become large ones. Rows and bounds hold in any case.
func TestPackCopiesPages(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rows   []int // of the packed groups
		cut    int64 // rows left out of the first group
		copied bool
		pages  int
	}{
		{"whole pages", []int{3000, 2500}, 0, true, 6},
		{"just large enough", []int{125, 125}, 0, true, 2},
		{"small pages", []int{124, 100, 124}, 0, false, 1},
		{"a large one between small ones", []int{100, 1500, 100}, 0, true, 4}, // small ones that have nothing to be packed with
		{"a part of a group", []int{3000}, 1, false, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := Options{PageRows: 1000}
			var files []Slice
			var keyPages [][]byte
			var want [][]any
			var schema *arrow.Schema
			at := 0
			for i, rows := range tt.rows {
				s, rec := packedRecord(t, at, rows)
				defer rec.Release()
				schema = s
				at += rows
				data := writeAll(t, schema, opts, rec)
				f := openWritten(t, filepath.Join(t.TempDir(), fmt.Sprint(i)), data)
				defer f.Close()
				from := int64(0)
				if i == 0 {
					from = tt.cut
				}
				files = append(files, Slice{f, 0, from, int64(rows)})
				want = append(want, arrowtest.Rows(rec)[from:]...)
				for _, p := range f.footer.rowGroups[0].offsets[0].PageLocations {
					keyPages = append(keyPages, data[p.Offset:p.Offset+int64(p.CompressedPageSize)])
				}
			}
			var out bytes.Buffer
			j, err := NewJoiner(&out, schema, opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Pack(t.Context(), files...); err != nil {
				t.Fatal(err)
			}
			if _, err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, parquettest.ReadRows(t, out.Bytes(), schema)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff[:min(len(diff), 2000)])
			}
			checkBounds(t, out.Bytes())
			ft, err := readFooter(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil {
				t.Fatal(err)
			}
			g := ft.rowGroups[0]
			var got [][]byte
			for _, p := range g.offsets[0].PageLocations {
				got = append(got, out.Bytes()[p.Offset:p.Offset+int64(p.CompressedPageSize)])
			}
			if len(got) != tt.pages {
				t.Errorf("%d pages, want %d", len(got), tt.pages)
			}
			if same := slices.EqualFunc(got, keyPages, bytes.Equal); same != tt.copied {
				t.Errorf("pages are those of the files: %v, want %v", same, tt.copied)
			}
			for c := range g.meta.Columns {
				m := g.meta.Columns[c].MetaData
				if len(g.columns[c].NullPages) != len(g.offsets[c].PageLocations) {
					t.Errorf("column %d: an index of %d pages for %d", c, len(g.columns[c].NullPages), len(g.offsets[c].PageLocations))
				}
				if want := m.PathInSchema[0] == "tag"; want != (m.DictionaryPageOffset > 0) {
					t.Errorf("column %v has a dictionary: %v", m.PathInSchema, m.DictionaryPageOffset > 0)
				}
			}
		})
	}
}
