package snapshot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"manifest/internal/sstable"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/ddl"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/oracle"
	"manifest/internal/throttle"
	"manifest/scan"
	"manifest/tokenrange"
)

var fixtures = sync.OnceValues(func() (map[string]*oracle.Result, error) {
	return oracle.ReadResults("../../internal/sstable/testdata/fixtures.tar.zst")
})

// openTable opens the SSTables that a scenario left, after a change to its files.
func openTable(t *testing.T, name string, change func(files map[string][]byte)) *sstable.Table {
	t.Helper()
	all, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	files := maps.Clone(all[name].Files)
	if change != nil {
		change(files)
	}
	fsys := fstest.MapFS{}
	for n, b := range files {
		fsys[n] = &fstest.MapFile{Data: b}
	}
	schemas, err := ddl.Parse(string(files["schema.cql"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	table, err := sstable.OpenTable(t.Context(), schemas[0], component.FS(fsys))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

// texts reads columns of text or numbers in a plan's splits, in token order.
func texts(t *testing.T, s *Source, plan tokenrange.Plan, columns ...string) []string {
	t.Helper()
	var rows []string
	for _, split := range plan.ByToken() {
		_, err := s.Read(t.Context(), split, columns, func(rec arrow.Record) error {
			for i := range int(rec.NumRows()) {
				var row []string
				for _, c := range rec.Columns() {
					row = append(row, c.ValueStr(i))
				}
				rows = append(rows, strings.Join(row, "|"))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// partitionRows are those that the statements of partitions.cql leave.
func partitionRows() []string {
	var rows []string
	for i := 1; i <= 220; i++ {
		v := "value"
		if i >= 180 {
			v = "newer"
		}
		rows = append(rows, fmt.Sprintf("partition %d|%d|%s %d", i, i, v, i))
	}
	for _, pk := range []string{"long", "also long"} {
		for i := 1; i <= 60; i++ {
			v := fmt.Sprintf("some value that fills the partition, of number %d", i)
			switch {
			case pk == "long" && i >= 10 && i <= 30:
				v = fmt.Sprintf("newer %d", i)
			case pk == "long" && i > 20 && i < 40:
				continue
			}
			rows = append(rows, fmt.Sprintf("%s|%d|%s", pk, i, v))
		}
	}
	return rows
}

func TestPlanAndReadAgree(t *testing.T) {
	for _, version := range []string{"nb", "oa", "da"} {
		alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
		s, err := New(openTable(t, version+"/partitions", nil), Options{RecordRows: 7, Allocator: alloc})
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(slices.Values(partitionRows()))
		var first []string
		for _, splits := range []int{0, 1, 2, 17, 300} {
			plan, err := s.Plan(tokenrange.PlanOptions{Splits: splits})
			if err != nil {
				t.Fatal(err)
			}
			if plan.Partitioner != tokenrange.Murmur3.Name() || splits > 0 && len(plan.Splits) != splits {
				t.Errorf("%s: %d splits of %s", version, len(plan.Splits), plan.Partitioner)
			}
			rows := texts(t, s, plan, "pk", "ck", "v")
			if first == nil {
				first = rows
			}
			if diff := cmp.Diff(want, slices.Sorted(slices.Values(rows))); diff != "" {
				t.Errorf("%s in %d splits: %s", version, splits, diff)
			}
			if !slices.Equal(first, rows) {
				t.Errorf("%s: %d splits give another order", version, splits)
			}
		}
		alloc.AssertSize(t, 0)
	}
}

// keyPrefix wants partitions by the beginning of their key.
type keyPrefix string

func (keyPrefix) Columns() []string { return []string{"pk"} }

func (k keyPrefix) Mask(dst []bool, rec arrow.Record) ([]bool, error) {
	if rec.NumCols() != 1 || rec.ColumnName(0) != "pk" {
		return dst, errors.New("not the columns of the key")
	}
	for i := range int(rec.NumRows()) {
		dst = append(dst, strings.HasPrefix(rec.Column(0).(*array.String).Value(i), string(k)))
	}
	return dst, nil
}

func TestOnlyWantedPartitionsAreRead(t *testing.T) {
	for _, version := range []string{"nb", "oa", "da"} {
		table := openTable(t, version+"/partitions", nil)
		read := func(opts Options) (rows []string, bytes int64) {
			s, err := New(table, opts)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := s.Plan(tokenrange.PlanOptions{Splits: 1})
			if err != nil {
				t.Fatal(err)
			}
			stats, err := s.Read(t.Context(), plan.Splits[0], []string{"pk"}, func(rec arrow.Record) error {
				for i := range int(rec.NumRows()) {
					rows = append(rows, rec.Column(0).ValueStr(i))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return rows, stats.Bytes
		}
		rows, _ := read(Options{Partitions: keyPrefix("partition 11")})
		want := []string{"partition 11"}
		for i := 110; i < 120; i++ {
			want = append(want, fmt.Sprintf("partition %d", i))
		}
		slices.Sort(rows)
		if !slices.Equal(rows, want) {
			t.Errorf("%s: %q", version, rows)
		}
		if rows, _ := read(Options{Partitions: keyPrefix("nothing begins so")}); rows != nil {
			t.Errorf("%s: %q of no partition", version, rows)
		}
		// Most partitions are wanted: it reads on, and whoever filters rows drops others.
		if rows, _ := read(Options{Partitions: keyPrefix("partition")}); len(rows) != len(partitionRows()) {
			t.Errorf("%s: %d rows", version, len(rows))
		}
	}
}

// TestNow reads before and after expirations, and compares with what Cassandra
// read at those moments: the third and the sixth read of expiring.cql.
func TestNow(t *testing.T) {
	table := openTable(t, "oa/expiring", nil)
	all, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	for now, answer := range map[int64]oracle.Rows{1700000009: all["oa/expiring"].Answers[2], 1700000020: all["oa/expiring"].Answers[5]} {
		s, err := New(table, Options{Now: time.Unix(now, 0)})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := s.Plan(tokenrange.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := texts(t, s, plan, "pk", "ck", "v"), expected(answer); !slices.Equal(got, want) {
			t.Errorf("at %d: %q, Cassandra read %q", now, got, want)
		}
	}
}

// expected are the rows of an answer as texts gives them.
func expected(answer oracle.Rows) []string {
	var rows []string
	for _, values := range answer.Values {
		var row []string
		for _, column := range []string{"pk", "ck", "v"} {
			v := values[slices.Index(answer.Names, column)]
			switch {
			case v == nil:
				row = append(row, "(null)")
			case column == "v":
				row = append(row, string(v))
			default:
				row = append(row, fmt.Sprint(int32(binary.BigEndian.Uint32(v))))
			}
		}
		rows = append(rows, strings.Join(row, "|"))
	}
	return rows
}

func TestFaultIsFinal(t *testing.T) {
	table := openTable(t, "oa/partitions", func(files map[string][]byte) {
		for name, b := range files {
			if strings.HasSuffix(name, "-Data.db") {
				b = slices.Clone(b)
				b[len(b)/2] ^= 4
				files[name] = b
			}
		}
	})
	s, err := New(table, Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Plan(tokenrange.PlanOptions{Splits: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Read(t.Context(), plan.Splits[0], []string{"pk", "v"}, func(arrow.Record) error { return nil })
	if scan.ClassOf(err) != scan.Protocol || !errors.Is(err, fault.ErrCorrupt) || !strings.Contains(err.Error(), "-Data.db, offset ") {
		t.Errorf("%v of class %v", err, scan.ClassOf(err))
	}
	_, err = s.Read(t.Context(), plan.Splits[0], []string{"other"}, nil)
	if scan.ClassOf(err) != scan.SchemaChanged {
		t.Errorf("unknown column: %v", err)
	}
}

func TestErrorsOfOthersStayAsTheyAre(t *testing.T) {
	s, err := New(openTable(t, "oa/partitions", nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	split := tokenrange.NewSplit(tokenrange.Murmur3.Ring())
	full := errors.New("the disk is full")
	if _, err := s.Read(t.Context(), split, []string{"pk"}, func(arrow.Record) error { return full }); err != full {
		t.Errorf("%v, want the consumer's error", err)
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := s.Read(ctx, split, []string{"pk"}, func(arrow.Record) error { return nil }); !errors.Is(err, stopped) {
		t.Errorf("%v, want the cause of the context's end", err)
	}
}

// ticket counts what a limiter was told.
type ticket struct {
	acquired, released int
	rows, bytes        int64
}

func (k *ticket) Acquire(context.Context, string) (func(throttle.Outcome), error) {
	k.acquired++
	return func(o throttle.Outcome) {
		k.released++
		k.rows += o.Rows
		k.bytes += o.Bytes
	}, nil
}

func TestLimiterHearsOfEveryRecord(t *testing.T) {
	k := &ticket{}
	s, err := New(openTable(t, "oa/partitions", nil), Options{Limiter: k, RecordRows: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context(), tokenrange.NewSplit(tokenrange.Murmur3.Ring()), []string{"ck"}, func(arrow.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	rows := len(partitionRows())
	if k.rows != int64(rows) || k.acquired != rows/10+2 || k.released != k.acquired || k.bytes < 4*k.rows {
		t.Errorf("%+v of %d rows", *k, rows)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := New(nil, Options{RecordRows: -1, RecordBytes: -2, Now: time.Unix(-5, 0)})
	for _, want := range []string{"-1 rows", "-2 bytes", "before 1970"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
