package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"manifest/export/internal/arrowtest"
	"manifest/export/internal/parquettest"
	"manifest/export/internal/shape"
	"manifest/export/internal/textfile"
	"manifest/tokenrange"
)

// tb is what rapid.T and testing.T share.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func newDataset(t tb, schema *arrow.Schema, opts Options) *Dataset {
	t.Helper()
	opts.NoSync = true
	d, err := New(schema, opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// writePart writes records as the part of a split.
func writePart(t tb, ctx context.Context, d *Dataset, split string, recs ...arrow.Record) {
	t.Helper()
	p, err := d.Begin(ctx, tokenrange.Split{ID: split})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if err := p.Write(ctx, rec); err != nil {
			p.Abort()
			t.Fatal(err)
		}
	}
	if err := p.Commit(ctx); err != nil {
		p.Abort()
		t.Fatal(err)
	}
}

func tempDir(t tb, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// content gives the bytes of a dataset's files, checking that File tells the truth.
func content(t tb, dir string, res Result) [][]byte {
	t.Helper()
	var all [][]byte
	for _, f := range res.Files {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil {
			t.Fatal(err)
		}
		if size, sum, err := hashFile(filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil || size != f.Bytes || sum != f.SHA256 {
			t.Fatalf("%s has %d bytes and sum %s, not %+v: %v", f.Path, size, sum, f, err)
		}
		all = append(all, data)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "data"))
	if err != nil || len(entries) != len(res.Files) {
		t.Fatalf("%d files are there, %d are told: %v", len(entries), len(res.Files), err)
	}
	return all
}

// readFiles gives the rows of Parquet and Arrow files.
func readFiles(t tb, format Format, schema *arrow.Schema, files [][]byte) [][]any {
	t.Helper()
	rows := [][]any{}
	for _, data := range files {
		if format == Parquet {
			rows = append(rows, parquettest.ReadRows(t, data, schema)...)
			continue
		}
		r, err := ipc.NewFileReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Schema().Equal(schema) {
			t.Fatalf("schema is %s", r.Schema())
		}
		for i := range r.NumRecords() {
			batch, err := r.RecordAt(i)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, arrowtest.Rows(batch)...)
			batch.Release()
		}
	}
	return rows
}

// Whatever the format, the number of splits and files, and the records that rows
// come in: the files have exactly the rows, in order, and the same bytes each time.
func TestDatasetHasTheRows(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		schema := arrowtest.Schema(t)
		whole := arrowtest.Record(t, memory.DefaultAllocator, schema, rapid.IntRange(0, 80).Draw(t, "rows"))
		defer whole.Release()
		opts := Options{
			Format: rapid.SampledFrom(formats).Draw(t, "format"),
			Shape:  ShapeOptions{Unfit: "clamp", Map: rapid.SampledFrom([]string{"", "map", "json"}).Draw(t, "map")},
			Parquet: ParquetOptions{
				RowGroupRows:  rapid.IntRange(1, 60).Draw(t, "row group rows"),
				RowGroupBytes: rapid.Int64Range(1, 4000).Draw(t, "row group bytes"),
			},
			Arrow:      ArrowOptions{BatchRows: rapid.IntRange(1, 40).Draw(t, "batch rows")},
			Shards:     rapid.IntRange(0, 5).Draw(t, "shards"),
			ShardBytes: rapid.Int64Range(100, 10_000).Draw(t, "shard bytes"),
		}
		parts := splitRows(t, whole)
		var splits []string
		for i := range parts {
			splits = append(splits, fmt.Sprintf("split-%03d", i))
		}
		make := func(cut bool, order []int) (*Dataset, Result, [][]byte) {
			opts := opts
			opts.WorkDir = tempDir(t, parent)
			opts.Parallelism = 1 + len(order)%3
			d := newDataset(t, schema, opts)
			for _, i := range order {
				recs := []arrow.Record{parts[i]}
				if cut {
					recs = arrowtest.Cut(t, parts[i])
				}
				writePart(t, t.Context(), d, splits[i], recs...)
			}
			dir := tempDir(t, parent)
			res, err := d.Finish(t.Context(), splits, dir)
			if err != nil {
				t.Fatal(err)
			}
			return d, res, content(t, dir, res)
		}
		inOrder := upTo(len(parts))
		d, res, files := make(false, inOrder)
		_, _, again := make(true, rapid.Permutation(inOrder).Draw(t, "order"))
		if diff := cmp.Diff(files, again); diff != "" {
			t.Fatal("the same rows gave other bytes")
		}

		if res.Rows != whole.NumRows() || res.Read != whole.NumRows() {
			t.Fatalf("result is %+v for %d rows", res, whole.NumRows())
		}
		if want := min(int64(opts.Shards), max(whole.NumRows(), 1)); opts.Shards > 0 && (opts.Format == Parquet || opts.Format == Arrow) && int64(len(files)) != want {
			t.Fatalf("%d files, want %d", len(files), want)
		}
		for _, f := range res.Files {
			if f.Rows == 0 && res.Rows > 0 {
				t.Fatalf("%s has no rows", f.Path)
			}
		}
		shaped, err := d.shape.Apply(memory.DefaultAllocator, whole, d.shape.NewCounts())
		if err != nil {
			t.Fatal(err)
		}
		defer shaped.Release()
		if opts.Format == Parquet || opts.Format == Arrow {
			if diff := cmp.Diff(arrowtest.Rows(shaped), readFiles(t, opts.Format, d.Schema(), files)); diff != "" {
				t.Fatalf("rows (-want +got):\n%s", diff)
			}
			return
		}
		var want bytes.Buffer
		w, err := textfile.NewWriter(&want, d.textFormat(), d.Schema(), textfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(shaped); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		header := textfile.Header(d.textFormat(), d.Schema(), textfile.Options{})
		var got []byte
		for i, f := range files {
			rest, ok := bytes.CutPrefix(f, header)
			if !ok {
				t.Fatalf("file %d begins without header", i)
			}
			got = append(got, rest...)
		}
		if diff := cmp.Diff(want.String(), string(got)); diff != "" {
			t.Fatalf("text (-want +got):\n%s", diff)
		}
	})
}

func upTo(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// splitRows cuts a record into the rows of splits, some of which have none.
func splitRows(t *rapid.T, whole arrow.Record) []arrow.Record {
	var parts []arrow.Record
	at := int64(0)
	for range rapid.IntRange(0, 5).Draw(t, "splits") {
		to := rapid.Int64Range(at, whole.NumRows()).Draw(t, "end of split")
		parts = append(parts, whole.NewSlice(at, to))
		at = to
	}
	return append(parts, whole.NewSlice(at, whole.NumRows()))
}

// imageSchema is that of a small table as a scan gives it.
func imageSchema() *arrow.Schema {
	cql := func(name, cql string, t arrow.DataType, nullable bool) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: nullable, Metadata: arrow.NewMetadata([]string{"cql"}, []string{cql})}
	}
	return arrow.NewSchema([]arrow.Field{
		cql("image_id", "timeuuid", &arrow.FixedSizeBinaryType{ByteWidth: 16}, false),
		cql("object_store", "text", arrow.BinaryTypes.String, true),
		cql("width", "int", arrow.PrimitiveTypes.Int32, true),
		cql("capture_time", "timestamp", arrow.FixedWidthTypes.Timestamp_ms, true),
		cql("attributes", "map<text, text>", arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String), true),
	}, nil)
}

// imageRecord makes rows [from, to).
func imageRecord(from, to int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, imageSchema())
	defer b.Release()
	attrs := b.Field(4).(*array.MapBuilder)
	for i := from; i < to; i++ {
		b.Field(0).(*array.FixedSizeBinaryBuilder).Append([]byte(fmt.Sprintf("%016d", i)))
		b.Field(1).(*array.StringBuilder).Append([]string{"s3://a", "s3://b"}[i%2])
		if i%5 == 0 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Int32Builder).Append(int32(i % 5 * 640))
		}
		b.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(1_748_736_000_000 + i))
		if i%3 == 0 {
			attrs.AppendNull()
			continue
		}
		attrs.Append(true)
		for k := range i % 3 {
			attrs.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprintf("key-%d", k))
			attrs.ItemBuilder().(*array.StringBuilder).Append("叶")
		}
	}
	return b.NewRecord()
}

// everyOther keeps rows of even number.
type everyOther struct{}

func (everyOther) String() string { return "every other row" }

func (everyOther) Apply(rec arrow.Record) (arrow.Record, error) {
	var pieces []arrow.Record
	for i := int64(0); i < rec.NumRows(); i += 2 {
		pieces = append(pieces, rec.NewSlice(i, i+1))
	}
	columns := make([]arrow.Array, rec.NumCols())
	for c := range columns {
		var arrs []arrow.Array
		for _, p := range pieces {
			arrs = append(arrs, p.Column(c))
		}
		var err error
		if columns[c], err = array.Concatenate(arrs, memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	return array.NewRecord(rec.Schema(), columns, int64(len(pieces))), nil
}

func TestColumnsFilterAndCounts(t *testing.T) {
	d := newDataset(t, imageSchema(), Options{WorkDir: t.TempDir(), Columns: []string{"width", "image_id"}, Filter: everyOther{}})
	writePart(t, t.Context(), d, "a", imageRecord(0, 10), imageRecord(10, 11))
	writePart(t, t.Context(), d, "b", imageRecord(11, 15))
	dir := t.TempDir()
	res, err := d.Finish(t.Context(), []string{"a", "b"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if res.Read != 15 || res.Rows != 8 {
		t.Errorf("read %d, written %d rows", res.Read, res.Rows)
	}
	got := readFiles(t, Parquet, d.Schema(), content(t, dir, res))
	var want [][]any
	for _, i := range []int{0, 2, 4, 6, 8, 10, 11, 13} {
		var width any = int64(i % 5 * 640)
		if i%5 == 0 {
			width = nil
		}
		want = append(want, []any{width, fmt.Sprintf("30303030-3030-3030-3030-30303030%04x", 0x3000+i/10*0x100+0x30+i%10)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	var m Manifest
	d.Describe(&m, res)
	if diff := cmp.Diff([]StageCount{{"read", 15}, {"selected", 8}, {"written", 8}}, m.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Column{{"width", "int", "int32", true}, {"image_id", "timeuuid", "utf8", false}}, m.Columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

func TestEmptyTableHasOneFileWithItsColumns(t *testing.T) {
	for _, format := range formats {
		t.Run(string(format), func(t *testing.T) {
			d := newDataset(t, imageSchema(), Options{WorkDir: t.TempDir(), Format: format, Shards: 4})
			writePart(t, t.Context(), d, "a")
			dir := t.TempDir()
			res, err := d.Finish(t.Context(), []string{"a"}, dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Files) != 1 || res.Files[0].Path != "data/part-00000-of-00001."+string(format) || res.Files[0].Rows != 0 {
				t.Fatalf("files are %+v", res.Files)
			}
			data := content(t, dir, res)
			switch format {
			case Parquet, Arrow:
				if rows := readFiles(t, format, d.Schema(), data); len(rows) != 0 {
					t.Errorf("%d rows", len(rows))
				}
			case CSV:
				if got, want := string(data[0]), "image_id,object_store,width,capture_time,attributes\n"; got != want {
					t.Errorf("file is %q", got)
				}
			case JSONLines:
				if len(data[0]) != 0 {
					t.Errorf("file is %q", data[0])
				}
			}
		})
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	for _, format := range formats {
		t.Run(string(format), func(t *testing.T) {
			work := t.TempDir()
			d := newDataset(t, imageSchema(), Options{WorkDir: work, Format: format})
			p, err := d.Begin(t.Context(), tokenrange.Split{ID: "a"})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Write(t.Context(), imageRecord(0, 100)); err != nil {
				t.Fatal(err)
			}
			p.Abort()
			if entries, err := os.ReadDir(work); err != nil || len(entries) != 0 {
				t.Errorf("left: %v, %v", entries, err)
			}
			if _, err := d.Finish(t.Context(), []string{"a"}, t.TempDir()); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "split a") {
				t.Errorf("finish without the part gives %v", err)
			}
		})
	}
}

// A split that is read again replaces its part; parts that no split names do not count.
func TestSecondCommitReplaces(t *testing.T) {
	d := newDataset(t, imageSchema(), Options{WorkDir: t.TempDir()})
	writePart(t, t.Context(), d, "a", imageRecord(0, 50))
	writePart(t, t.Context(), d, "halved", imageRecord(0, 25))
	writePart(t, t.Context(), d, "a", imageRecord(0, 7))
	res, err := d.Finish(t.Context(), []string{"a"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if res.Rows != 7 {
		t.Errorf("%d rows, want those of the second part", res.Rows)
	}
}

func TestPartsOfOtherSettingsAreRefused(t *testing.T) {
	work := t.TempDir()
	d := newDataset(t, imageSchema(), Options{WorkDir: work})
	writePart(t, t.Context(), d, "a", imageRecord(0, 5))
	for name, opts := range map[string]Options{
		"columns": {Columns: []string{"image_id"}},
		"filter":  {Filter: everyOther{}},
		"shape":   {Shape: ShapeOptions{UUID: "binary"}},
	} {
		t.Run(name, func(t *testing.T) {
			opts.WorkDir = work
			other := newDataset(t, imageSchema(), opts)
			if _, err := other.Finish(t.Context(), []string{"a"}, t.TempDir()); !errors.Is(err, ErrPart) {
				t.Errorf("error is %v", err)
			}
		})
	}
	if err := os.Truncate(d.partPath("a"), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Finish(t.Context(), []string{"a"}, t.TempDir()); !errors.Is(err, ErrPart) {
		t.Errorf("a part cut short gives %v", err)
	}
}

func TestUnfitValuesAreErrorsOrCounted(t *testing.T) {
	rec := imageRecord(0, 3)
	b := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"})
	defer b.Release()
	b.AppendValues([]arrow.Timestamp{0, 1 << 62, 5}, nil)
	rec, err := rec.SetColumn(3, b.NewArray())
	if err != nil {
		t.Fatal(err)
	}
	d := newDataset(t, imageSchema(), Options{WorkDir: t.TempDir(), PartitionKey: []string{"image_id"}})
	p, err := d.Begin(t.Context(), tokenrange.Split{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	err = p.Write(t.Context(), rec)
	var unfit *shape.UnfitError
	if !errors.Is(err, ErrUnfit) || !errors.As(err, &unfit) || unfit.Column != "capture_time" ||
		!strings.Contains(err.Error(), "image_id=30303030-3030-3030-3030-303030303031") {
		t.Errorf("error is %v", err)
	}

	d = newDataset(t, imageSchema(), Options{WorkDir: t.TempDir(), Shape: ShapeOptions{Unfit: "null"}})
	writePart(t, t.Context(), d, "a", rec)
	res, err := d.Finish(t.Context(), []string{"a"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"capture_time": 1}, res.Unfit); diff != "" {
		t.Errorf("unfit (-want +got):\n%s", diff)
	}
}

func TestPartsAreWrittenConcurrently(t *testing.T) {
	d := newDataset(t, imageSchema(), Options{WorkDir: t.TempDir(), Shards: 3, Parquet: ParquetOptions{RowGroupRows: 100}})
	var g errgroup.Group
	var splits []string
	for i := range 12 {
		split := fmt.Sprintf("split-%02d", i)
		splits = append(splits, split)
		g.Go(func() error {
			p, err := d.Begin(t.Context(), tokenrange.Split{ID: split})
			if err != nil {
				return err
			}
			if err := p.Write(t.Context(), imageRecord(i*50, i*50+50)); err != nil {
				p.Abort()
				return err
			}
			return p.Commit(t.Context())
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	res, err := d.Finish(t.Context(), splits, dir)
	if err != nil {
		t.Fatal(err)
	}
	rows := readFiles(t, Parquet, d.Schema(), content(t, dir, res))
	if len(rows) != 600 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if want := int64(1_748_736_000_000+i) * 1000; row[3] != want {
			t.Fatalf("row %d is of %v, want %d", i, row[3], want)
		}
	}
}

func TestBadOptions(t *testing.T) {
	_, err := New(imageSchema(), Options{
		Format: "xlsx", Shards: -1,
		Shape:   ShapeOptions{UUID: "hex", Map: "dict", Time: "seconds", Unfit: "ignore"},
		Parquet: ParquetOptions{RowGroupRows: -5}, Arrow: ArrowOptions{Compression: "gzip"}, Text: TextOptions{NullText: ","},
	})
	for _, part := range []string{"work directory", "xlsx", "shards", "uuid", "map", "time", "unfit", "row group rows", "gzip", "null text"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error does not name %s: %v", part, err)
		}
	}
	work := t.TempDir()
	if _, err := New(imageSchema(), Options{WorkDir: work, Columns: []string{"image_id", "wdith"}}); !errors.Is(err, ErrColumn) || !strings.Contains(err.Error(), "wdith") {
		t.Errorf("unknown column gives %v", err)
	}
	if _, err := New(imageSchema(), Options{WorkDir: filepath.Join(work, "missing")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing work directory gives %v", err)
	}
	bad := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.Null}}, nil)
	for _, format := range formats {
		if _, err := New(bad, Options{WorkDir: work, Format: format}); err == nil || !strings.Contains(err.Error(), `"n"`) {
			t.Errorf("%s: a null column gives %v", format, err)
		}
	}
	d := newDataset(t, imageSchema(), Options{WorkDir: work})
	for _, id := range []string{"../x", "a/b", ""} {
		if p, err := d.Begin(t.Context(), tokenrange.Split{ID: id}); !errors.Is(err, ErrPart) {
			t.Errorf("split id %q gives %v, %v", id, p, err)
		}
	}
}

func TestCancelledWorkStops(t *testing.T) {
	d := newDataset(t, imageSchema(), Options{WorkDir: t.TempDir()})
	writePart(t, t.Context(), d, "a", imageRecord(0, 5))
	ctx, cancel := context.WithCancel(t.Context())
	p, err := d.Begin(ctx, tokenrange.Split{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	cancel()
	if err := p.Write(ctx, imageRecord(0, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("write gives %v", err)
	}
	if err := p.Commit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("commit gives %v", err)
	}
	dir := t.TempDir()
	if _, err := d.Finish(ctx, []string{"a"}, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("finish gives %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "data")); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
