package export

import (
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"manifest/export/internal/parquettest"
)

var countSchema = arrow.NewSchema([]arrow.Field{
	{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
	{Name: "device_id", Type: arrow.BinaryTypes.String},
	{Name: "first", Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true},
	{Name: "images", Type: arrow.PrimitiveTypes.Int64},
}, nil)

// counts makes one record of a day; a negative day is NULL.
func counts(day arrow.Date32, images ...int64) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, countSchema)
		defer b.Release()
		for _, n := range images {
			if day < 0 {
				b.Field(0).AppendNull()
			} else {
				b.Field(0).(*array.Date32Builder).Append(day)
			}
			b.Field(1).(*array.StringBuilder).Append("leaf")
			b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(int64(day) * 86_400e6))
			b.Field(3).(*array.Int64Builder).Append(n)
		}
		rec := b.NewRecord()
		defer rec.Release()
		yield(rec, nil)
	}
}

func openTree(t *testing.T, dir, run string) *StatsTree {
	t.Helper()
	tree, err := OpenStatsTree(dir, StatsTreeOptions{RunID: run})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func write(t *testing.T, tree *StatsTree, name, day string, recs iter.Seq2[arrow.Record, error]) {
	t.Helper()
	if err := tree.Write(t.Context(), name, day, countSchema, recs); err != nil {
		t.Fatal(err)
	}
}

func commit(t *testing.T, tree *StatsTree) {
	t.Helper()
	if err := tree.Commit(t.Context(), RunRecord{ToolVersion: "test"}); err != nil {
		t.Fatal(err)
	}
}

const june1 = arrow.Date32(20240) // 2025-06-01

func TestStatsTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stats")
	tree := openTree(t, dir, "r1")
	write(t, tree, "device-day", DayOf(june1), counts(june1, 1, 2))
	write(t, tree, "device-day", DayOf(june1+1), counts(june1+1, 3))
	write(t, tree, "device-day", NullDay, counts(-1, 4))
	write(t, tree, "image-sizes", "", counts(june1, 5))
	if got := listing(t, dir); slices.ContainsFunc(got, isPart) {
		t.Errorf("before commit there are %v", got)
	}
	commit(t, tree)

	// The next run replaces a day, adds one, and finds another gone.
	tree = openTree(t, dir, "r2")
	write(t, tree, "device-day", DayOf(june1), counts(june1, 7))
	write(t, tree, "device-day", DayOf(june1+2), counts(june1+2, 8))
	if err := tree.Remove("device-day", NullDay); err != nil {
		t.Fatal(err)
	}
	commit(t, tree)

	want := []string{
		"device-day/dt=2025-06-01/part-r2.parquet",
		"device-day/dt=2025-06-02/part-r1.parquet",
		"device-day/dt=2025-06-03/part-r2.parquet",
		"image-sizes/part-r1.parquet",
		"run.json", "views.duckdb.sql",
	}
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "device-day", "dt="+NullDay)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the removed day's directory: %v", err)
	}
	days, err := tree.Days("device-day")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2025-06-01", "2025-06-02", "2025-06-03"}, days); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}

	data, err := os.ReadFile(filepath.Join(dir, want[0]))
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]any{{int64(june1), "leaf", int64(june1) * 86_400e6, int64(7)}}
	if diff := cmp.Diff(rows, parquettest.ReadRows(t, data, countSchema)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}

	var run RunRecord
	data, err = os.ReadFile(filepath.Join(dir, RunFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &run); err != nil {
		t.Fatal(err)
	}
	if run.RunID != "r2" || run.ToolVersion != "test" || len(run.Statistics) != 2 || run.Statistics[0].File.Path != want[0] {
		t.Errorf("run.json is %s", data)
	}
	size, sum, err := hashFile(filepath.Join(dir, want[0]))
	if f := run.Statistics[0].File; err != nil || f.Bytes != size || f.SHA256 != sum || f.Rows != 1 {
		t.Errorf("file is %+v: %v", f, err)
	}
	views, err := os.ReadFile(filepath.Join(dir, ViewsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"CREATE OR REPLACE VIEW device_day AS SELECT * FROM read_parquet('device-day/dt=*/part-*.parquet', hive_partitioning = true, union_by_name = true);\n",
		"CREATE OR REPLACE VIEW image_sizes AS SELECT * FROM read_parquet('image-sizes/part-*.parquet', hive_partitioning = true, union_by_name = true);\n",
	} {
		if !strings.Contains(string(views), line) {
			t.Errorf("views have no line %s\n%s", line, views)
		}
	}
}

// Wherever a commit is broken off after its journal was written, opening the
// tree completes it; the day is never there twice for good.
// Days that are written at the same time all come, and of the same day given twice at that, one.
func TestDaysAreWrittenBesideEachOther(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stats")
	tree := openTree(t, dir, "r1")
	var wg sync.WaitGroup
	var twice atomic.Int32
	for i := range 40 {
		wg.Go(func() {
			day := june1 + arrow.Date32(i%30)
			if err := tree.Write(t.Context(), "device-day", DayOf(day), countSchema, counts(day, int64(i))); errors.Is(err, ErrColumn) {
				twice.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	commit(t, tree)
	days, err := openTree(t, dir, "r2").Days("device-day")
	if err != nil || len(days) != 30 || days[0] != "2025-06-01" || days[29] != "2025-06-30" || twice.Load() != 10 {
		t.Errorf("days %q, %d given twice, error %v", days, twice.Load(), err)
	}
}

func TestBrokenCommitIsCompleted(t *testing.T) {
	for _, done := range []string{"nothing", "one rename", "renames"} {
		t.Run(done, func(t *testing.T) {
			dir := t.TempDir()
			tree := openTree(t, dir, "r1")
			write(t, tree, "a", DayOf(june1), counts(june1, 1))
			write(t, tree, "b", "", counts(june1, 1))
			commit(t, tree)

			tree = openTree(t, dir, "r2")
			write(t, tree, "a", DayOf(june1), counts(june1, 2))
			write(t, tree, "b", "", counts(june1, 2))
			j := journal{Run: RunRecord{RunID: "r2"}, Replace: []string{"a/dt=2025-06-01", "b"}}
			for i, s := range tree.staged {
				j.Renames = append(j.Renames, rename{filepath.ToSlash(s.temp), s.stat.File.Path})
				if done == "renames" || done == "one rename" && i == 0 {
					if err := os.Rename(filepath.Join(dir, s.temp), filepath.Join(dir, s.stat.File.Path)); err != nil {
						t.Fatal(err)
					}
				}
			}
			data, err := json.Marshal(j)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, journalFile), data, 0o644); err != nil {
				t.Fatal(err)
			}

			openTree(t, dir, "r3")
			want := []string{"a/dt=2025-06-01/part-r2.parquet", "b/part-r2.parquet", "run.json", "views.duckdb.sql"}
			if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJournalThatLeadsOutIsRefused(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{
		`{"renames":[{"from":"../x","to":"y"}]}`, `{"renames":[{"from":"x","to":"/y"}]}`, `{"replace":["../.."]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, journalFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStatsTree(dir, StatsTreeOptions{RunID: "r"}); !errors.Is(err, ErrVerify) {
			t.Errorf("%s gives %v", text, err)
		}
	}
}

func TestAbortOfStatsTree(t *testing.T) {
	dir := t.TempDir()
	tree := openTree(t, dir, "r1")
	write(t, tree, "a", DayOf(june1), counts(june1, 1))
	broken := errors.New("broken")
	err := tree.Write(t.Context(), "b", "", countSchema, func(yield func(arrow.Record, error) bool) { yield(nil, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
	if err := tree.Abort(); err != nil {
		t.Fatal(err)
	}
	if got := listing(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func TestStatisticsThatAreRefused(t *testing.T) {
	tree := openTree(t, t.TempDir(), "r1")
	withDt := arrow.NewSchema([]arrow.Field{{Name: "dt", Type: arrow.BinaryTypes.String}}, nil)
	none := func(func(arrow.Record, error) bool) {}
	for _, tt := range []struct {
		name, day string
		schema    *arrow.Schema
	}{
		{"../x", "", countSchema}, {"a/b", "", countSchema}, {"a", "2025/06/01", countSchema}, {"a", "..", countSchema}, {"a", DayOf(june1), withDt},
	} {
		if err := tree.Write(t.Context(), tt.name, tt.day, tt.schema, none); !errors.Is(err, ErrColumn) {
			t.Errorf("%q, %q gives %v", tt.name, tt.day, err)
		}
	}
	write(t, tree, "a", DayOf(june1), counts(june1, 1))
	if err := tree.Write(t.Context(), "a", DayOf(june1), countSchema, none); !errors.Is(err, ErrColumn) {
		t.Errorf("a day given twice: %v", err)
	}
	if _, err := OpenStatsTree(t.TempDir(), StatsTreeOptions{RunID: "a/b"}); err == nil {
		t.Error("run id with a slash is accepted")
	}
}
