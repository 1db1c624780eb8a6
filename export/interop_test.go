package export

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export/internal/arrowtest"
	"manifest/export/internal/textvalue"
	"manifest/internal/cqltype"
	"manifest/internal/pyenv"
)

// Other readers (pyarrow, DuckDB, Polars, pandas) read what was written here, and
// say whether it is what was meant. Package pyenv brings them.
func runInterop(t *testing.T, dir string, testCase any) {
	t.Helper()
	python := pyenv.Python(t) // leaves the test out under -short
	data, err := json.Marshal(testCase)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "case.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/interop.py")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), python, script, dir).CombinedOutput(); err != nil {
		t.Errorf("other readers: %v\n%s", err, out)
	}
}

// typeTree describes a CQL type to other readers.
func typeTree(ct *cqltype.Type) map[string]any {
	elems := []any{}
	for _, e := range ct.Elems {
		elems = append(elems, typeTree(e))
	}
	return map[string]any{"kind": strings.ToLower(fmt.Sprint(ct.Kind)), "elems": elems}
}

// rawValue makes JSON of a value of arrowtest.Value: bytes in hex, NaN as "nan".
func rawValue(ct *cqltype.Type, v any) any {
	switch ct.Kind {
	case cqltype.Blob, cqltype.UUID, cqltype.Timeuuid:
		if s, ok := v.(string); ok {
			return hex.EncodeToString([]byte(s))
		}
	case cqltype.Float:
		if n, ok := v.(int64); ok && math.IsNaN(float64(math.Float32frombits(uint32(n)))) {
			return "nan"
		}
	case cqltype.Double:
		if n, ok := v.(int64); ok {
			if math.IsNaN(math.Float64frombits(uint64(n))) {
				return "nan"
			}
			return uint64(n)
		}
	}
	list, ok := v.([]any)
	if !ok || len(ct.Elems) == 0 {
		return v
	}
	out := []any{}
	for i, e := range list {
		switch ct.Kind {
		case cqltype.Map:
			pair := e.([]any)
			out = append(out, []any{rawValue(ct.Elems[0], pair[0]), rawValue(ct.Elems[1], pair[1])})
		case cqltype.Tuple, cqltype.UDT:
			out = append(out, rawValue(ct.Elems[i], e))
		default:
			out = append(out, rawValue(ct.Elems[0], e))
		}
	}
	return out
}

type interopVariant struct {
	Dir          string            `json:"dir"`
	Format       Format            `json:"format"`
	Files        []string          `json:"files"`
	Shape        map[string]string `json:"shape"`
	PyarrowTypes map[string]string `json:"pyarrow_types,omitempty"`
	DuckDBTypes  map[string]string `json:"duckdb_types,omitempty"`
	PolarsTypes  map[string]string `json:"polars_types,omitempty"`
	SparkTypes   map[string]string `json:"spark_types,omitempty"`
}

// everyTypeForOthers gives the record of everyType, its columns with their types,
// and its rows, as other readers are told of them.
func everyTypeForOthers(t *testing.T) (rec arrow.Record, columns []any, rows [][]any) {
	t.Helper()
	rec, names := everyType(t)
	var cqlTypes []*cqltype.Type
	for i, name := range names {
		ct, err := cqltype.OfField(rec.Schema().Field(i))
		if err != nil {
			t.Fatal(err)
		}
		cqlTypes = append(cqlTypes, ct)
		columns = append(columns, map[string]any{"name": name, "type": typeTree(ct)})
	}
	for _, row := range arrowtest.Rows(rec) {
		for i := range row {
			row[i] = rawValue(cqlTypes[i], row[i])
		}
		rows = append(rows, row)
	}
	return rec, columns, rows
}

// The values of every CQL type are the same in every reader, with the types that
// docs/format/dataset.md states.
func TestOtherReadersOfEveryType(t *testing.T) {
	rec, columns, rows := everyTypeForOthers(t)
	defer rec.Release()
	dir := t.TempDir()
	var variants []interopVariant
	for name, opts := range map[string]Options{
		"parquet":        {},
		"parquet-shards": {Shards: 3},
		"parquet-binary": {Shape: ShapeOptions{UUID: "binary", Map: "map", Time: "micros", NoZone: true}},
		"parquet-nanos":  {Shape: ShapeOptions{Time: "nanos", Map: "map"}},
		"arrow":          {Format: Arrow, Shards: 2},
		"arrow-binary":   {Format: Arrow, Arrow: ArrowOptions{Compression: "zstd"}, Shape: ShapeOptions{UUID: "binary", Map: "map", Time: "nanos"}},
		"csv":            {Format: CSV, Shards: 2},
		"jsonl":          {Format: JSONLines, Shards: 2},
	} {
		opts.WorkDir = t.TempDir()
		d := newDataset(t, rec.Schema(), opts)
		writePart(t, t.Context(), d, "a", rec.NewSlice(0, 2))
		writePart(t, t.Context(), d, "b", rec.NewSlice(2, 5))
		out := filepath.Join(dir, name)
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		res, err := d.Finish(t.Context(), []string{"a", "b"}, out)
		if err != nil {
			t.Fatal(err)
		}
		v := interopVariant{Dir: name, Format: d.opts.Format, Shape: map[string]string{"uuid": opts.Shape.UUID, "map": opts.Shape.Map, "time": opts.Shape.Time}}
		for _, f := range res.Files {
			v.Files = append(v.Files, f.Path)
		}
		if name == "parquet" {
			v.PyarrowTypes, v.DuckDBTypes, v.PolarsTypes = statedTypes()
		}
		variants = append(variants, v)
	}
	runInterop(t, dir, map[string]any{
		"case": "every_type", "columns": columns, "rows": rows, "variants": variants,
		"csv": csvCells(t, rec), "jsonl": jsonLines(t, rec),
	})
}

// csvCells gives the cells of CSV, nil for NULL.
func csvCells(t *testing.T, rec arrow.Record) [][]any {
	t.Helper()
	d := newDataset(t, rec.Schema(), Options{WorkDir: t.TempDir(), Format: CSV})
	shaped, err := d.shape.Apply(memory.DefaultAllocator, rec, d.shape.NewCounts())
	if err != nil {
		t.Fatal(err)
	}
	defer shaped.Release()
	var rows [][]any
	for i := range int(rec.NumRows()) {
		var row []any
		for _, col := range shaped.Columns() {
			if col.IsNull(i) {
				row = append(row, nil)
				continue
			}
			enc, err := textvalue.NewEncoder(col.DataType(), textvalue.Options{})
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, string(enc.AppendPlain(nil, col, i)))
		}
		rows = append(rows, row)
	}
	return rows
}

func jsonLines(t *testing.T, rec arrow.Record) []string {
	t.Helper()
	d := newDataset(t, rec.Schema(), Options{WorkDir: t.TempDir(), Format: JSONLines})
	writePart(t, t.Context(), d, "a", rec)
	data, err := os.ReadFile(d.partPath("a"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// The ends of dates and timestamps come through as numbers, though hardly a
// program can show them as dates.
func TestOtherReadersOfExtremes(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "d", Type: arrow.FixedWidthTypes.Date32},
		{Name: "t", Type: arrow.FixedWidthTypes.Timestamp_ms},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Date32Builder).AppendValues([]arrow.Date32{math.MinInt32, math.MaxInt32}, nil)
	b.Field(1).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{-9223372036854775, 9223372036854775}, nil)
	rec := b.NewRecord()
	defer rec.Release()
	dir := t.TempDir()
	d := newDataset(t, schema, Options{WorkDir: t.TempDir()})
	writePart(t, t.Context(), d, "a", rec)
	res, err := d.Finish(t.Context(), []string{"a"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	runInterop(t, dir, map[string]any{"case": "extremes", "file": res.Files[0].Path})
}

// largeRecord makes rows of a number, text that is partly all different and partly
// not, a list and a struct of lists, with nulls everywhere.
func largeRecord(rows int) arrow.Record {
	text := arrow.BinaryTypes.String
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: text, Nullable: true},
		{Name: "object_key", Type: text, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "list", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: text, Nullable: true}), Nullable: true},
		{Name: "deep", Type: arrow.StructOf(
			arrow.Field{Name: "a", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Float64, Nullable: true}), Nullable: true}), Nullable: true},
			arrow.Field{Name: "b", Type: text, Nullable: true}), Nullable: true},
		{Name: "blob", Type: arrow.BinaryTypes.Binary, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	list, deep := b.Field(4).(*array.ListBuilder), b.Field(5).(*array.StructBuilder)
	outer := deep.FieldBuilder(0).(*array.ListBuilder)
	inner := outer.ValueBuilder().(*array.ListBuilder)
	orNull := func(b array.Builder, null bool, f func()) {
		if null {
			b.AppendNull()
		} else {
			f()
		}
	}
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		orNull(b.Field(1), i%13 == 5, func() {
			s := fmt.Sprintf("common '%d'", i%50)
			if i%20_000 > 10_000 {
				s = fmt.Sprintf("rare text number %030d", i)
			}
			b.Field(1).(*array.StringBuilder).Append(s)
		})
		orNull(b.Field(2), i%17 == 5, func() { b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("2025/06/%d/%09d.jpg", i%30, i)) })
		orNull(b.Field(3), i%3 == 0, func() { b.Field(3).(*array.BooleanBuilder).Append(i%2 == 0) })
		orNull(list, i%11 == 0, func() {
			list.Append(true)
			for k := range i % 4 {
				elem := list.ValueBuilder().(*array.StringBuilder)
				orNull(elem, (i+k)%7 == 0, func() { elem.Append(fmt.Sprintf("element %d", (i*k)%3000*(i%2))) })
			}
		})
		orNull(deep, i%19 == 0, func() {
			deep.Append(true)
			orNull(outer, i%5 == 0, func() {
				outer.Append(true)
				for k := range i % 3 {
					orNull(inner, (i+k)%6 == 0, func() {
						inner.Append(true)
						for m := range k {
							inner.ValueBuilder().(*array.Float64Builder).Append(float64(i) / float64(m+1))
						}
					})
				}
			})
			orNull(deep.FieldBuilder(1), i%4 == 0, func() { deep.FieldBuilder(1).(*array.StringBuilder).Append(fmt.Sprint(i % 7)) })
		})
		orNull(b.Field(6), i%2 == 0, func() { b.Field(6).(*array.BinaryBuilder).Append([]byte{255, byte(i)}) })
	}
	return b.NewRecord()
}

func TestOtherReadersOfLargeFiles(t *testing.T) {
	const rows, groupRows = 60_000, 25_000
	rec := largeRecord(rows)
	defer rec.Release()
	dir := t.TempDir()
	files := make(map[Format][]string)
	for _, format := range []Format{Parquet, Arrow} {
		d := newDataset(t, rec.Schema(), Options{
			WorkDir: t.TempDir(), Format: format, Shards: 3,
			Parquet: ParquetOptions{RowGroupRows: groupRows, Dictionary: map[string]bool{"deep": true}}, // of numbers too
		})
		// Parts with whole, cut and small row groups, so that all ways of joining are used.
		var splits []string
		at := int64(0)
		for i, n := range []int64{26_000, 300, 200, 100, 0, 20_000, rows} {
			split := fmt.Sprintf("split-%d", i)
			to := min(at+n, rows)
			writePart(t, t.Context(), d, split, rec.NewSlice(at, to))
			splits, at = append(splits, split), to
		}
		out := filepath.Join(dir, string(format))
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		res, err := d.Finish(t.Context(), splits, out)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range res.Files {
			files[format] = append(files[format], string(format)+"/"+f.Path)
		}
	}
	runInterop(t, dir, map[string]any{
		"case": "large", "arrow": files[Arrow], "glob": "parquet/data/*.parquet", "rows": rows, "row_group_rows": groupRows,
	})
}

func TestOtherReadersOfStatistics(t *testing.T) {
	dir := t.TempDir()
	stats := filepath.Join(dir, "my stats")
	tree := openTree(t, stats, "r1")
	write(t, tree, "device-day", DayOf(june1), counts(june1, 1, 2))
	write(t, tree, "device-day", NullDay, counts(-1, 3))
	write(t, tree, "image-sizes", "", counts(june1, 5))
	commit(t, tree)
	runInterop(t, dir, map[string]any{"case": "stats", "dir": "my stats", "want": [][]any{
		{"2025-06-01", "2025-06-01", "leaf", "2025-06-01 00:00:00", "1"},
		{"2025-06-01", "2025-06-01", "leaf", "2025-06-01 00:00:00", "2"},
		{nil, nil, "leaf", "1969-12-31 00:00:00", "3"},
	}})
}

func TestOtherReadersOfEmptyTable(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, format := range formats {
		d := newDataset(t, imageSchema(), Options{WorkDir: t.TempDir(), Format: format})
		res, err := d.Finish(t.Context(), nil, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "data"), filepath.Join(dir, string(format))); err != nil {
			t.Fatal(err)
		}
		files = append(files, strings.Replace(res.Files[0].Path, "data", string(format), 1))
	}
	runInterop(t, dir, map[string]any{"case": "empty", "files": files, "columns": imageSchema().NumFields()})
}
