package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"manifest/export/internal/arrowtest"
	"manifest/export/internal/parquettest"
)

// Whatever mix of copying, packing and cutting makes a file, it has the rows of
// its sources in order, and bounds that hold.
func TestJoinKeepsRows(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		schema := arrowtest.Schema(t)
		opts := smallOptions(t)
		opts.TempDir = dir
		want := [][]any{}
		var files []*File
		for i := range rapid.IntRange(1, 4).Draw(t, "files") {
			rec := arrowtest.Record(t, mem, schema, rapid.IntRange(0, 60).Draw(t, "rows"))
			want = append(want, arrowtest.Rows(rec)...)
			files = append(files, openWritten(t, filepath.Join(dir, fmt.Sprint(i)), writeAll(t, schema, opts, rec)))
			rec.Release()
		}

		var out bytes.Buffer
		j, err := NewJoiner(&out, schema, opts)
		if err != nil {
			t.Fatal(err)
		}
		var pack []Slice
		for _, f := range files {
			for g, info := range f.RowGroups() {
				if rapid.Bool().Draw(t, "copy") {
					flushPack(t, j, &pack)
					if err := j.Copy(f, g); err != nil {
						t.Fatalf("copy: %v", err)
					}
					continue
				}
				cut := rapid.Int64Range(0, info.Rows).Draw(t, "cut")
				if cut > 0 {
					pack = append(pack, Slice{f, g, 0, cut})
				}
				if cut < info.Rows {
					if cut > 0 {
						flushPack(t, j, &pack)
					}
					pack = append(pack, Slice{f, g, cut, info.Rows})
				}
			}
		}
		flushPack(t, j, &pack)
		if len(want) == 0 {
			return // nothing to join
		}
		// Nothing but the files is left lying about.
		if left, err := os.ReadDir(dir); err != nil || len(left) > 4 {
			t.Fatalf("%d files in %s: %v", len(left), dir, err)
		}
		info, err := j.Close()
		if err != nil {
			t.Fatalf("close: %v", err)
		}
		if info.Rows != int64(len(want)) || info.Bytes != int64(out.Len()) {
			t.Fatalf("info is %+v for %d rows and %d bytes", info, len(want), out.Len())
		}
		if diff := cmp.Diff(want, parquettest.ReadRows(t, out.Bytes(), schema)); diff != "" {
			t.Fatalf("rows of the joined file (-want +got):\n%s", diff)
		}
		checkBounds(t, out.Bytes())
		for _, f := range files {
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func flushPack(t *rapid.T, j *Joiner, pack *[]Slice) {
	if len(*pack) == 0 {
		return
	}
	if err := j.Pack(t.Context(), *pack...); err != nil {
		t.Fatalf("encode: %v", err)
	}
	*pack = nil
}

func openWritten(t parquettest.TB, name string, data []byte) *File {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	f, err := OpenFile(name)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return f
}

// checkBounds compares the bounds and null counts in a file's footer and page
// index with the values of its pages.
func checkBounds(t parquettest.TB, data []byte) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	ft, err := readFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("read footer: %v", err)
	}
	for g, group := range f.RowGroups() {
		for c, chunk := range group.ColumnChunks() {
			index := ft.rowGroups[g].columns[c]
			stats := ft.rowGroups[g].meta.Columns[c].MetaData.Statistics
			kind, compare := chunk.Type().Kind(), chunk.Type().Compare
			check := func(where string, v parquet.Value, lower, upper []byte) {
				if lower != nil && compare(kind.Value(lower), v) > 0 || upper != nil && compare(kind.Value(upper), v) < 0 {
					t.Fatalf("%s, group %d, column %d: %v is not in [%q, %q]", where, g, c, v, lower, upper)
				}
			}
			checkIndex(t, fmt.Sprintf("group %d, column %d", g, c), kind == parquet.ByteArray, index)
			pages := chunk.Pages()
			totalNulls, rows := int64(0), int64(0)
			for p := 0; ; p++ {
				page, err := pages.ReadPage()
				if errors.Is(err, io.EOF) {
					if p != len(ft.rowGroups[g].offsets[c].PageLocations) {
						t.Fatalf("group %d, column %d has %d pages, its index %d", g, c, p, len(ft.rowGroups[g].offsets[c].PageLocations))
					}
					break
				}
				if err != nil {
					t.Fatalf("read page: %v", err)
				}
				if first := ft.rowGroups[g].offsets[c].PageLocations[p].FirstRowIndex; first != rows {
					t.Fatalf("group %d, column %d, page %d begins at row %d, the index says %d", g, c, p, rows, first)
				}
				rows += page.NumRows()
				values := make([]parquet.Value, page.NumValues())
				if n, err := page.Values().ReadValues(values); n != len(values) {
					t.Fatalf("read values: %v", err)
				}
				nulls := int64(0)
				for _, v := range values {
					if v.IsNull() {
						nulls++
						continue
					}
					check("chunk", v, stats.MinValue, stats.MaxValue)
					if len(index.NullPages) > 0 {
						check("page", v, index.MinValues[p], index.MaxValues[p])
					}
				}
				totalNulls += nulls
				if len(index.NullPages) > 0 && (index.NullCounts[p] != nulls || index.NullPages[p] != (nulls == int64(len(values)))) {
					t.Fatalf("group %d, column %d, page %d has %d nulls of %d, the index says %d, all %v", g, c, p, nulls, len(values), index.NullCounts[p], index.NullPages[p])
				}
			}
			if stats.NullCount != totalNulls {
				t.Fatalf("group %d, column %d has %d nulls, statistics say %d", g, c, totalNulls, stats.NullCount)
			}
		}
	}
}

// checkIndex checks what a column index says of itself: an order that holds, and
// texts that are short and text.
func checkIndex(t parquettest.TB, where string, text bool, index format.ColumnIndex) {
	t.Helper()
	for _, bounds := range [][][]byte{index.MinValues, index.MaxValues} {
		if len(bounds) != len(index.NullPages) {
			t.Fatalf("%s: %d bounds for %d pages", where, len(bounds), len(index.NullPages))
		}
		var last []byte
		for p, b := range bounds {
			if index.NullPages[p] {
				continue
			}
			if text && (!utf8.Valid(b) || len(b) > boundsMaxBytes+3) {
				t.Fatalf("%s: bound %q of page %d", where, b, p)
			}
			if text && last != nil {
				order := bytes.Compare(last, b)
				if index.BoundaryOrder == format.Ascending && order > 0 || index.BoundaryOrder == format.Descending && order < 0 {
					t.Fatalf("%s: bounds %q and %q are not %s", where, last, b, index.BoundaryOrder)
				}
			}
			last = b
		}
	}
}

// A copied row group is the same bytes, also where a dictionary was left midway.
func TestCopyIsVerbatim(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.BinaryTypes.String, Nullable: true}), Nullable: true},
	}, nil)
	rec := fallbackRecord(t, schema, true)
	defer rec.Release()
	opts := Options{RowGroupRows: 12_000, PageRows: 1_500}
	data := writeAll(t, schema, opts, rec)
	f := openWritten(t, filepath.Join(t.TempDir(), "part"), data)
	defer f.Close()

	var out bytes.Buffer
	j, err := NewJoiner(&out, schema, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []int{2, 0, 1} {
		if err := j.Copy(f, g); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.Close(); err != nil {
		t.Fatal(err)
	}
	joined, err := readFooter(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for to, from := range []int{2, 0, 1} {
		s1, e1, err1 := f.footer.rowGroups[from].span()
		s2, e2, err2 := joined.rowGroups[to].span()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if !bytes.Equal(data[s1:e1], out.Bytes()[s2:e2]) {
			t.Errorf("row group %d was not copied as it is", from)
		}
	}
	rows := arrowtest.Rows(rec)
	want := append(append(append([][]any{}, rows[24_000:]...), rows[:12_000]...), rows[12_000:24_000]...)
	if diff := cmp.Diff(want, parquettest.ReadRows(t, out.Bytes(), schema)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff[:min(len(diff), 2000)])
	}
	checkBounds(t, out.Bytes())
}

// Copying one file whole, in order, gives that file.
func TestCopyOfWholeFileIsThatFile(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		schema := arrowtest.Schema(t)
		opts := smallOptions(t)
		rec := arrowtest.Record(t, memory.DefaultAllocator, schema, rapid.IntRange(1, 60).Draw(t, "rows"))
		defer rec.Release()
		data := writeAll(t, schema, opts, rec)
		f := openWritten(t, filepath.Join(dir, "part"), data)
		var out bytes.Buffer
		j, err := NewJoiner(&out, schema, opts)
		if err != nil {
			t.Fatal(err)
		}
		for g := range f.RowGroups() {
			if err := j.Copy(f, g); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, out.Bytes()) {
			t.Fatalf("%d bytes became %d others", len(data), out.Len())
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
