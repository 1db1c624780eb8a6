package queries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/queries/internal/partial"
	"manifest/tokenrange"
)

// widths is a query whose groups are anywhere, and devices one whose groups lie in a partition each.
func widths(t testing.TB) *Query {
	return compile(t, Spec{By: "width", Agg: "count, distinct(content_hash)"})
}
func devices(t testing.TB) *Query {
	return compile(t, Spec{By: "device_id, day_bucket", Agg: "count, sum(width), distinct(content_hash)"})
}

func compile(t testing.TB, spec Spec) *Query {
	t.Helper()
	q, err := Compile(deviceTable(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// deviceRows are n rows of a partition.
func deviceRows(device string, n int) rows {
	var rs rows
	for i := range n {
		rs = append(rs, map[string]any{
			"device_id": device, "day_bucket": time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC), "width": int64(i % 3), "content_hash": fmt.Sprint(i),
		})
	}
	return rs
}

// fixture is an Aggregation whose directories can be looked at.
type fixture struct {
	*Aggregation
	dir, temp string
	schema    *arrow.Schema
}

func newFixture(t testing.TB, q *Query, memory int64) fixture {
	t.Helper()
	f := fixture{dir: filepath.Join(t.TempDir(), "a", "parts"), temp: t.TempDir(), schema: schemaOf(t, deviceTable(t), q.Columns())}
	var err error
	if f.Aggregation, err = New(q, Options{Dir: f.dir, TempDir: f.temp, Memory: memory}); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f fixture) part(t testing.TB, split int, records ...rows) *Part {
	t.Helper()
	return writePart(t, memory.DefaultAllocator, f.Aggregation, split, f.schema, records)
}

func (f fixture) commit(t testing.TB, split int, records ...rows) {
	t.Helper()
	if err := f.part(t, split, records...).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (f fixture) finish(t testing.TB, splits ...int) ([]string, error) {
	t.Helper()
	ids := make([]string, len(splits))
	for i, n := range splits {
		ids[i] = splitOf(n).ID
	}
	var o outcome
	err := f.Finish(t.Context(), ids, o.sink(t, f.query))
	return o.tables["groups"], err
}

func TestAbortLeavesNothing(t *testing.T) {
	for name, q := range map[string]*Query{"groups anywhere": widths(t), "groups in partitions": devices(t)} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, q, 1)
			part := f.part(t, 0, deviceRows("a", 5), deviceRows("a", 5), deviceRows("b", 5), deviceRows("c", 5))
			if len(filesIn(t, f.temp)) == 0 {
				t.Error("nothing spilled")
			}
			part.Abort()
			part.Abort()
			if left := append(filesIn(t, f.dir), filesIn(t, f.temp)...); len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

func TestCommitReplacesThePartOfTheSplit(t *testing.T) {
	for name, tc := range map[string]struct {
		q    *Query
		want string
	}{
		"groups anywhere":      {compile(t, Spec{}), "4"},
		"groups in partitions": {devices(t), "'b' | 2025-06-01 | 4 | 3 | 4"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, tc.q, 0)
			f.commit(t, 0, deviceRows("a", 50))
			late := f.part(t, 0, deviceRows("b", 4))
			f.commit(t, 0, deviceRows("b", 7))
			if err := late.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			late.Abort()
			if err := late.Commit(t.Context()); err == nil {
				t.Error("a part that has ended commits again")
			}
			if got := filesIn(t, f.dir); !slices.Equal(got, []string{"00000000.part"}) {
				t.Errorf("files %v", got)
			}
			for range 2 {
				if got, err := f.finish(t, 0); err != nil || !slices.Equal(got, []string{tc.want}) {
					t.Errorf("result %v, error %v", got, err)
				}
			}
		})
	}
}

func TestPartsAreIndependent(t *testing.T) {
	f := newFixture(t, widths(t), 50_000)
	var wg sync.WaitGroup
	for split := range 8 {
		wg.Go(func() { f.commit(t, split, deviceRows("a", 300), deviceRows("b", 300)) })
	}
	wg.Wait()
	want := []string{"0 | 1600 | 100", "1 | 1600 | 100", "2 | 1600 | 100"}
	if got, err := f.finish(t, 7, 2, 0, 1, 3, 4, 5, 6); err != nil || !slices.Equal(got, want) {
		t.Errorf("result %v, error %v", got, err)
	}
	if f.open.Load() != 0 {
		t.Errorf("%d parts are open", f.open.Load())
	}
}

// After every record the groups of a part take no more than its share.
func TestMemoryIsShared(t *testing.T) {
	const limit = 1 << 20
	for name, q := range map[string]*Query{
		"groups anywhere":      compile(t, Spec{By: "content_hash", Agg: "count, max(width)"}),
		"groups in partitions": compile(t, Spec{By: "device_id, day_bucket, content_hash", Agg: "count, max(width)"}),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, q, limit)
			parts := []*Part{f.part(t, 0), f.part(t, 1), f.part(t, 2), f.part(t, 3)}
			for i := range 20 {
				for n, part := range parts {
					rec := deviceRows(fmt.Sprint(n, i/7), 3000).record(t, memory.DefaultAllocator, f.schema)
					if err := part.Write(t.Context(), rec); err != nil {
						t.Fatal(err)
					}
					rec.Release()
					if part.memory > limit/4 {
						t.Fatalf("a part of 4 takes %d bytes of %d", part.memory, limit)
					}
				}
			}
			for _, part := range parts {
				part.Abort()
			}
		})
	}
}

func TestRecordThatDoesNotFit(t *testing.T) {
	f := newFixture(t, widths(t), 0)
	part := f.part(t, 0)
	defer part.Abort()
	for name, columns := range map[string][]string{"a column is missing": {"width"}, "a column is of another type": {"width", "content_hash"}} {
		table := deviceTable(t)
		table.Columns = tableOf(t, "ks.t", "width | int | regular", "content_hash | int | regular").Columns
		rec := rows{{"width": int64(1)}}.record(t, memory.DefaultAllocator, schemaOf(t, table, columns))
		defer rec.Release()
		if err := part.Write(t.Context(), rec); err == nil || !strings.Contains(err.Error(), `"content_hash"`) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestDoneContext(t *testing.T) {
	wrong := errors.New("wrong")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(wrong)
	for name, q := range map[string]*Query{"groups anywhere": widths(t), "groups in partitions": devices(t)} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, q, 1)
			f.commit(t, 0, deviceRows("a", 3))
			part := f.part(t, 1, deviceRows("b", 3))
			rec := deviceRows("b", 3).record(t, memory.DefaultAllocator, f.schema)
			defer rec.Release()
			if err := part.Write(ctx, rec); !errors.Is(err, wrong) {
				t.Errorf("write: error %v", err)
			}
			if err := part.Commit(ctx); !errors.Is(err, wrong) {
				t.Errorf("commit: error %v", err)
			}
			if err := f.Finish(ctx, []string{splitOf(0).ID}, func(string, *arrow.Date32, arrow.Record) error { return nil }); !errors.Is(err, wrong) {
				t.Errorf("finish: error %v", err)
			}
			if got := append(filesIn(t, f.dir), filesIn(t, f.temp)...); !slices.Equal(got, []string{"00000000.part"}) {
				t.Errorf("files %v", got)
			}
		})
	}
}

func TestSplitThatNamesNoFile(t *testing.T) {
	f := newFixture(t, widths(t), 0)
	for _, id := range []string{"", "a/b", "..", ".hidden"} {
		if _, err := f.Begin(t.Context(), tokenrange.Split{ID: id}); err == nil {
			t.Errorf("split %q begins", id)
		}
	}
}

func TestPartsThatAreNotWhatTheyShouldBe(t *testing.T) {
	f := newFixture(t, widths(t), 0)
	f.commit(t, 0, deviceRows("a", 30))
	f.commit(t, 1, deviceRows("b", 30))
	other := newFixture(t, compile(t, Spec{By: "width", Agg: "count"}), 0)
	other.commit(t, 0, deviceRows("a", 30))
	whole, err := os.ReadFile(f.partPath(splitOf(0).ID))
	if err != nil {
		t.Fatal(err)
	}
	copyTo := func(from, to string) {
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	broken := bytes.Clone(whole)
	broken[len(broken)-40] ^= 1
	for name, tc := range map[string]struct {
		prepare func(path string) error
		want    error
	}{
		"missing":          {os.Remove, fs.ErrNotExist},
		"cut short":        {func(path string) error { return os.WriteFile(path, whole[:len(whole)-1], 0o644) }, ErrCorrupt},
		"empty":            {func(path string) error { return os.WriteFile(path, nil, 0o644) }, ErrCorrupt},
		"damaged":          {func(path string) error { return os.WriteFile(path, broken, 0o644) }, ErrCorrupt},
		"of another query": {func(path string) error { copyTo(other.partPath(splitOf(0).ID), path); return nil }, ErrOtherQuery},
		"of another split": {func(path string) error { copyTo(f.partPath(splitOf(1).ID), path); return nil }, ErrOtherQuery},
	} {
		t.Run(name, func(t *testing.T) {
			path := f.partPath(splitOf(0).ID)
			if err := tc.prepare(path); err != nil {
				t.Fatal(err)
			}
			if _, err := f.finish(t, 0, 1); !errors.Is(err, tc.want) || !strings.Contains(err.Error(), splitOf(0).ID) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if err := os.WriteFile(path, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	if _, err := f.finish(t, 0, 1, 0); err == nil {
		t.Error("a split counts twice")
	}
	if got, err := f.finish(t, 0, 1); err != nil || len(got) != 3 {
		t.Errorf("result %v, error %v", got, err)
	}
}

// A group that is complete in one part has no business in another, and rows of a partition come together.
func TestDividedPartition(t *testing.T) {
	s, err := Lookup("device-day")
	if err != nil {
		t.Fatal(err)
	}
	byDay, err := s.Compile(deviceTable(t), NamedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, byDay, 0)
	f.commit(t, 0, deviceRows("a", 3))
	f.commit(t, 1, deviceRows("a", 3))
	if _, err := f.finish(t, 0, 1); !errors.Is(err, ErrDivided) || !strings.Contains(err.Error(), "day=2025-06-01, device_id=a") {
		t.Errorf("in two splits: error %v", err)
	}
	for name, q := range map[string]*Query{"by day": byDay, "in token order": devices(t)} {
		f := newFixture(t, q, 0)
		part := f.part(t, 2)
		rec := slices.Concat(deviceRows("a", 3), deviceRows("b", 1), deviceRows("a", 1)).record(t, memory.DefaultAllocator, f.schema)
		if err := part.Write(t.Context(), rec); !errors.Is(err, ErrDivided) || !strings.Contains(err.Error(), "device_id=a") {
			t.Errorf("in two places of a split, %s: error %v", name, err)
		}
		rec.Release()
		part.Abort()
	}
}

func TestResultsThatDoNotFit(t *testing.T) {
	table := tableOf(t, "ks.t", "id | int | partition_key", "big | bigint | regular", "name | text | regular", "at | timestamp | regular")
	run := func(spec Spec, rs rows) error {
		t.Helper()
		q, err := Compile(table, spec)
		if err != nil {
			t.Fatal(err)
		}
		_, err = plan{splits: [][]rows{{rs}}}.run(t, q, table)
		return err
	}
	err := run(Spec{By: "name", Agg: "sum(big) as total"}, rows{{"name": "a", "big": int64(1)}, {"name": "b", "big": int64(math.MaxInt64)}, {"name": "b", "big": int64(1)}})
	if !errors.Is(err, ErrOverflow) || !strings.Contains(err.Error(), "group name=b: total") {
		t.Errorf("sum beyond a bigint: error %v", err)
	}
	far := time.UnixMilli(math.MaxInt64 / 4)
	if err := run(Spec{By: "name", Agg: "max(at)"}, rows{{"at": far}}); !errors.Is(err, ErrOverflow) || !strings.Contains(err.Error(), "name=NULL: at_max") {
		t.Errorf("timestamp beyond microseconds: error %v", err)
	}
	q, err := Compile(table, Spec{By: "day(at)"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(q, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	part := writePart(t, memory.DefaultAllocator, a, 0, schemaOf(t, table, []string{"at"}), nil)
	defer part.Abort()
	rec := rows{{"at": far}}.record(t, memory.DefaultAllocator, schemaOf(t, table, []string{"at"}))
	defer rec.Release()
	if err := part.Write(t.Context(), rec); !errors.Is(err, ErrOutOfRange) || !strings.Contains(err.Error(), `"at"`) {
		t.Errorf("day that is no date: error %v", err)
	}
}

func TestErrorOfTheSink(t *testing.T) {
	wrong := errors.New("wrong")
	for name, q := range map[string]*Query{"by key": widths(t), "by token": devices(t)} {
		f := newFixture(t, q, 0)
		f.commit(t, 0, deviceRows("a", 3))
		if err := f.Finish(t.Context(), []string{splitOf(0).ID}, func(string, *arrow.Date32, arrow.Record) error { return wrong }); !errors.Is(err, wrong) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A result of more rows than a record holds comes in several, in order.
func TestManyGroups(t *testing.T) {
	f := newFixture(t, compile(t, Spec{By: "content_hash"}), 0)
	const n = 3*recordRows/2 + 7
	f.commit(t, 0, deviceRows("a", n))
	records := 0
	var o outcome
	sink := o.sink(t, f.query)
	err := f.Finish(t.Context(), []string{splitOf(0).ID}, func(table string, day *arrow.Date32, rec arrow.Record) error {
		records++
		return sink(table, day, rec)
	})
	if err != nil || records != 2 || len(o.tables["groups"]) != n || !slices.IsSorted(o.tables["groups"]) {
		t.Errorf("%d records with %d rows, error %v", records, len(o.tables["groups"]), err)
	}
}

func TestNoParts(t *testing.T) {
	for spec, want := range map[Spec][]string{
		{By: "width"}:              nil,
		{}:                         {"0"},
		{Agg: "count, sum(width)"}: {"0 | NULL"},
	} {
		f := newFixture(t, compile(t, spec), 0)
		if got, err := f.finish(t); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: result %v, error %v", spec, got, err)
		}
		f.commit(t, 0)
		f.commit(t, 1)
		if got, err := f.finish(t, 0, 1); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, parts without rows: result %v, error %v", spec, got, err)
		}
	}
}

func TestOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Options{Memory: -1, TempDir: file}.Validate()
	for _, want := range []string{"no directory", "-1 bytes", file} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	if _, err := New(widths(t), Options{Dir: filepath.Join(file, "below")}); err == nil {
		t.Error("a directory below a file")
	}
	if err := (Options{Dir: "new"}).Validate(); err != nil {
		t.Error(err)
	}
}

// An image with a thousand tags is a matter of pairs, one with more tags than memory is an error.
func TestTooManyTags(t *testing.T) {
	s, err := Lookup("tag-pairs")
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Compile(tagTable(t), NamedOptions{TopPairs: 2})
	if err != nil {
		t.Fatal(err)
	}
	tagged := func(n, size int) rows {
		var rs rows
		for i := range n {
			rs = append(rs, map[string]any{
				"tag": fmt.Sprintf("%0*d", size, i), "day_bucket": time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC), "image_id": imageID(1),
			})
		}
		return rs
	}
	got, err := plan{splits: [][]rows{{tagged(300, 4)}}, memory: 100_000}.run(t, q, tagTable(t))
	want := []string{"2025-06-01 | 1 | '0000' | '0001' | 1 | 44850", "2025-06-01 | 2 | '0000' | '0002' | 1 | 44850"}
	if err != nil || !slices.Equal(got.tables["tag-pairs"], want) {
		t.Errorf("result %v, error %v", got.tables, err)
	}
	if _, err := (plan{splits: [][]rows{{tagged(300, 4000)}}, memory: 1}).run(t, q, tagTable(t)); !errors.Is(err, ErrOverflow) {
		t.Errorf("1.2 MB of tags: error %v", err)
	}
}

// FuzzPartialFile finishes a part with arbitrary keys and states under right checksums: an error, or a result.
func FuzzPartialFile(f *testing.F) {
	queries := []*Query{widths(f), devices(f), compile(f, Spec{By: "content_hash", Agg: "sum(width), avg(width), min(content_hash), quantiles(width)"})}
	for _, name := range []string{"image-sizes", "tag-pairs", "uploads"} {
		s, err := Lookup(name)
		if err != nil {
			f.Fatal(err)
		}
		table := metadataTable(f)
		if s.Role == TagIndex {
			table = tagTable(f)
		}
		q, err := s.Compile(table, NamedOptions{})
		if err != nil {
			f.Fatal(err)
		}
		queries = append(queries, q)
	}
	a := newFixture(f, queries[0], 0)
	a.commit(f, 0, deviceRows("a", 5))
	r, err := partial.Open(a.partPath(splitOf(0).ID))
	if err != nil {
		f.Fatal(err)
	}
	for r.Next() == nil {
		f.Add(uint8(0), r.Key(), r.State(), []byte{}, []byte{})
	}
	if err := r.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(3), []byte("\x01\x80\x00\x00\x01\x00"), []byte{0, 0, 0, 0, 2, 0, 2, 0}, []byte("\x01\x80\x00\x00\x01\x03\x00"), []byte{1})
	f.Add(uint8(4), []byte("\x01\x80\x00\x00\x01\x000123456789abcdef"), []byte{}, []byte("\x00"), []byte{})
	f.Fuzz(func(t *testing.T, which uint8, keyA, stateA, keyB, stateB []byte) {
		a := newFixture(t, queries[int(which)%len(queries)], 0)
		out, err := createOut(a.dir, "s", partial.Header{Order: a.query.order, Query: a.query.text, Split: "s"})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range [][2][]byte{{keyA, stateA}, {keyB, stateB}} {
			if err := out.Add(e[0], e[1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.publish(a.partPath("s")); err != nil {
			t.Fatal(err)
		}
		// Rows that come out of it mean nothing, but they have to be rows.
		_ = a.Finish(t.Context(), []string{"s"}, func(_ string, _ *arrow.Date32, rec arrow.Record) error {
			if rec.NumRows() == 0 {
				t.Error("record without rows")
			}
			return nil
		})
	})
}
