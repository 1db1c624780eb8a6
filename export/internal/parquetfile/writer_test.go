package parquetfile

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"manifest/export/internal/arrowtest"
	"manifest/export/internal/parquettest"
)

// smallOptions draws limits so low that small files have many pages and groups.
func smallOptions(t *rapid.T) Options {
	return Options{
		RowGroupRows:  rapid.IntRange(1, 60).Draw(t, "row group rows"),
		RowGroupBytes: rapid.Int64Range(1, 4000).Draw(t, "row group bytes"),
		PageBytes:     rapid.IntRange(1, 800).Draw(t, "page bytes"),
		PageRows:      rapid.IntRange(1, 40).Draw(t, "page rows"),
	}
}

func writeAll(t parquettest.TB, schema *arrow.Schema, opts Options, recs ...arrow.Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, schema, opts)
	if err != nil {
		t.Fatalf("new writer: %v", err)
	}
	rows := int64(0)
	for _, rec := range recs {
		rows += rec.NumRows()
		if err := w.Write(rec); err != nil {
			t.Fatalf("write: %v", err)
		}
	}
	info, err := w.Close()
	if err != nil {
		t.Fatalf("close: %v", err)
	}
	if info.Rows != rows || info.Bytes != int64(buf.Len()) {
		t.Fatalf("info is %+v for %d rows and %d bytes", info, rows, buf.Len())
	}
	return buf.Bytes()
}

// What is read back equals what was written, and the bytes do not depend on how
// rows were cut into records, nor on parallelism.
func TestWriteReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		schema := arrowtest.Schema(t)
		rec := arrowtest.Record(t, mem, schema, rapid.IntRange(0, 120).Draw(t, "rows"))
		defer rec.Release()
		opts := smallOptions(t)

		data := writeAll(t, schema, opts, rec)
		if diff := cmp.Diff(arrowtest.Rows(rec), parquettest.ReadRows(t, data, schema)); diff != "" {
			t.Fatalf("read back (-written +read):\n%s", diff)
		}

		cut := arrowtest.Cut(t, rec)
		opts.Parallelism = 3
		opts.TempDir = os.TempDir()
		again := writeAll(t, schema, opts, cut...)
		if !bytes.Equal(data, again) {
			t.Fatalf("bytes differ between one record and %d records", len(cut))
		}
		for _, r := range cut {
			r.Release()
		}
	})
}

// A writer that is used again writes what a new one would, whatever became of the
// file before.
func TestResetWriterIsAsNew(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		schema := arrowtest.Schema(t)
		opts := smallOptions(t)
		opts.TempDir = rapid.SampledFrom([]string{"", dir}).Draw(t, "directory")
		opts.Dictionary = map[string]bool{schema.Field(0).Name: true}
		w, err := NewWriter(new(bytes.Buffer), schema, opts)
		if err != nil {
			t.Fatal(err)
		}
		w.Discard()
		for range 3 {
			rec := arrowtest.Record(t, memory.DefaultAllocator, schema, rapid.IntRange(0, 120).Draw(t, "rows"))
			defer rec.Release()
			var got bytes.Buffer
			if err := w.Reset(&got); err != nil {
				t.Fatal(err)
			}
			if err := w.Write(rec); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "discard") {
				w.Discard()
				continue
			}
			if _, err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if want := writeAll(t, schema, opts, rec); !bytes.Equal(got.Bytes(), want) {
				t.Fatalf("%d bytes from a writer used again, %d others from a new one", got.Len(), len(want))
			}
		}
	})
}

// Row groups end exactly at the first row that reaches a limit.
func TestRowGroupLimits(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String}}, nil)
	rec := textRecord(t, schema, func(i int) string { return fmt.Sprintf("%06d", i) }, 100)
	defer rec.Release()
	for _, tt := range []struct {
		name string
		opts Options
		want []int64
	}{
		{"rows", Options{RowGroupRows: 40}, []int64{40, 40, 20}},
		{"exact rows", Options{RowGroupRows: 50}, []int64{50, 50}},
		{"bytes of ten each", Options{RowGroupBytes: 300}, []int64{30, 30, 30, 10}},
		{"bytes not at a row", Options{RowGroupBytes: 301}, []int64{31, 31, 31, 7}},
		{"default", Options{}, []int64{100}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := writeAll(t, schema, tt.opts, rec)
			f, err := readFooter(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, g := range f.rowGroups {
				got = append(got, g.meta.NumRows)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rows of row groups (-want +got):\n%s", diff)
			}
		})
	}
}

// A dictionary that outgrows its limit is left in the middle of a row group, and
// taken up again in the next; no value may be lost or moved by that.
func TestDictionaryFallback(t *testing.T) {
	for _, nullable := range []bool{false, true} {
		t.Run(fmt.Sprintf("nullable=%v", nullable), func(t *testing.T) {
			schema := arrow.NewSchema([]arrow.Field{
				{Name: "t", Type: arrow.BinaryTypes.String, Nullable: nullable},
				{Name: "l", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.BinaryTypes.String, Nullable: nullable}), Nullable: nullable},
			}, nil)
			rec := fallbackRecord(t, schema, nullable)
			defer rec.Release()
			opts := Options{RowGroupRows: 12_000, PageRows: 1_500, Dictionary: map[string]bool{"t": true, "l": true}}
			data := writeAll(t, schema, opts, rec)
			if diff := cmp.Diff(arrowtest.Rows(rec), parquettest.ReadRows(t, data, schema)); diff != "" {
				t.Fatalf("read back (-written +read):\n%s", diff[:min(len(diff), 2000)])
			}
			f, err := readFooter(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range f.rowGroups[:2] {
				for c := range g.meta.Columns {
					kinds := map[string]bool{}
					for _, s := range g.meta.Columns[c].MetaData.EncodingStats {
						kinds[s.PageType.String()+" "+s.Encoding.String()] = true
					}
					if !kinds["DATA_PAGE PLAIN"] || !kinds["DATA_PAGE RLE_DICTIONARY"] {
						t.Errorf("row group %d, column %d has pages %v, so the case is not tested", i, c, kinds)
					}
				}
			}
		})
	}
}
