package sstable_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"manifest/internal/cqltype"
	"manifest/internal/sstable"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/ddl"
	"manifest/internal/sstable/oracle"
	"manifest/tokenrange"
)

// scenarios reads the stories of testdata.
func scenarios(t testing.TB) []*oracle.Scenario {
	t.Helper()
	all, err := oracle.ReadScenarios("testdata/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// storage gives files as a folder.
func storage(files map[string][]byte) component.Storage {
	fsys := fstest.MapFS{}
	for name, b := range files {
		fsys[name] = &fstest.MapFile{Data: b}
	}
	return component.FS(fsys)
}

// openTable opens the table that a snapshot's files are of.
func openTable(t testing.TB, files map[string][]byte) *sstable.Table {
	t.Helper()
	table, err := openFolders(string(files["schema.cql"]), storage(files))
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

// openFolders opens the SSTables of folders as the last table of a schema.
func openFolders(schemaText string, folders ...component.Storage) (*sstable.Table, error) {
	var readers []*sstable.Reader
	for _, f := range folders {
		more, err := sstable.OpenAll(context.Background(), f)
		if err != nil {
			return nil, err
		}
		readers = append(readers, more...)
	}
	schemas, err := ddl.Parse(schemaText, sstable.UserTypes(readers...))
	if err != nil {
		return nil, err
	}
	return sstable.NewTable(schemas[len(schemas)-1], readers)
}

// columnsOf turns the columns of a query into names.
func columnsOf(table *sstable.Table, columns string) []string {
	if columns == "*" {
		return table.Schema().Table.Names()
	}
	var names []string
	for _, c := range strings.Split(columns, ",") {
		c = strings.TrimSpace(c)
		if strings.HasPrefix(c, `"`) {
			c = strings.ReplaceAll(strings.Trim(c, `"`), `""`, `"`)
		}
		names = append(names, c)
	}
	return names
}

// fataler is a test, of the standard library or of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// want makes the record that Cassandra's answer stands for.
func want(t fataler, table *sstable.Table, columns []string, answer oracle.Rows) arrow.Record {
	t.Helper()
	selected, err := table.Schema().Table.Select(columns)
	if err != nil {
		t.Fatal(err)
	}
	s, err := table.Schema().Table.Arrow(selected)
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i, sel := range selected {
		a, err := cqltype.NewAppender(sel.Type, b.Field(i))
		if err != nil {
			t.Fatal(err)
		}
		at := i
		if len(answer.Names) > 0 && sel.Func == "" {
			// SELECT * has an order of its own where names are not of letters in ASCII.
			at = slices.Index(answer.Names, sel.Name)
		}
		for _, row := range answer.Values {
			if err := a.Append(row[at]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.NewRecord()
}

// scanAll reads the whole table as one record.
func scanAll(t fataler, table *sstable.Table, q sstable.Query, opts sstable.Options) (arrow.Record, error) {
	t.Helper()
	var records []arrow.Record
	_, err := table.Scan(context.Background(), q, opts, func(r arrow.Record) error {
		r.Retain()
		records = append(records, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return concatenate(t, table, q.Columns, records), nil
}

func concatenate(t fataler, table *sstable.Table, columns []string, records []arrow.Record) arrow.Record {
	t.Helper()
	if len(records) == 0 {
		return want(t, table, columns, oracle.Rows{})
	}
	var arrays []arrow.Array
	var rows int64
	for i := range records[0].NumCols() {
		var parts []arrow.Array
		for _, r := range records {
			parts = append(parts, r.Column(int(i)))
		}
		a, err := array.Concatenate(parts, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		arrays = append(arrays, a)
	}
	for _, r := range records {
		rows += r.NumRows()
	}
	return array.NewRecord(records[0].Schema(), arrays, rows)
}

// lines gives a record as text, one line for each row.
func lines(r arrow.Record) []string {
	var all []string
	for i := range int(r.NumRows()) {
		var b strings.Builder
		for c := range int(r.NumCols()) {
			fmt.Fprintf(&b, "%s=%s ", r.ColumnName(c), r.Column(c).ValueStr(i))
			if r.Column(c).IsNull(i) {
				b.WriteString("(null) ")
			}
		}
		all = append(all, b.String())
	}
	return all
}

// compareRecords errs with the rows that differ.
func compareRecords(got, want arrow.Record) error {
	if array.RecordApproxEqual(got, want, array.WithNaNsEqual(true), array.WithAbsTolerance(0)) {
		return nil
	}
	if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
		return fmt.Errorf("rows differ (-want +got):\n%s", diff)
	}
	return fmt.Errorf("records differ, but not as text: %d and %d rows", got.NumRows(), want.NumRows())
}

// check compares what is read of a scenario's files with what Cassandra read.
func check(t *testing.T, s *oracle.Scenario, r *oracle.Result) {
	t.Helper()
	table := openTable(t, r.Files)
	for _, reader := range table.Readers() {
		name := filepath.Base(reader.Path())
		var got []string
		err := reader.Dump(t.Context(), func(line []byte) error { got = append(got, string(line)); return nil })
		if err != nil {
			t.Errorf("dump %s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(r.Dumps[name], got); diff != "" {
			t.Errorf("dump of %s (-want +got):\n%s", name, diff)
		}
	}
	for i, read := range s.Reads {
		columns := columnsOf(table, read.Columns)
		for _, opts := range []sstable.Options{{}, {RecordRows: 1, ReadBytes: 1}, {RecordRows: 7, ReadBytes: 5000, ReadAhead: 2}} {
			got, err := scanAll(t, table, sstable.Query{Columns: columns, Now: read.Now}, opts)
			if err == nil {
				err = compareRecords(got, want(t, table, columns, r.Answers[i]))
			}
			if err != nil {
				t.Errorf("SELECT %s at %d, %+v: %v", read.Columns, read.Now, opts, err)
			}
		}
	}
}

// checkRanges compares scans of many ranges, in any order, with the scan of all.
func checkRanges(t *testing.T, s *oracle.Scenario, r *oracle.Result) {
	t.Helper()
	table := openTable(t, r.Files)
	for _, read := range s.Reads {
		columns := columnsOf(table, read.Columns)
		all, err := scanAll(t, table, sstable.Query{Columns: columns, Now: read.Now}, sstable.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{2, 7, 40} {
			ranges := table.Partitioner().Ring().Split(n)
			parts := make([]arrow.Record, n)
			for _, i := range rand.New(rand.NewPCG(1, uint64(n))).Perm(n) {
				if parts[i], err = scanAll(t, table, sstable.Query{Range: ranges[i], Columns: columns, Now: read.Now}, sstable.Options{ReadBytes: 1}); err != nil {
					t.Fatalf("range %d of %d: %v", i, n, err)
				}
			}
			if err := compareRecords(concatenate(t, table, columns, parts), all); err != nil {
				t.Errorf("%d ranges: %v", n, err)
			}
		}
	}
}

// checkKeys compares the keys by the indexes with those in the dumps, and scans
// of some keys with the scan of all.
func checkKeys(t *testing.T, s *oracle.Scenario, r *oracle.Result) {
	t.Helper()
	table := openTable(t, r.Files)
	distinct := map[string]string{} // token and key
	for _, dump := range r.Dumps {
		for _, line := range dump {
			if words := strings.Fields(line); words[0] == "partition" {
				distinct[words[1]] = words[2]
			}
		}
	}
	var got []string
	err := table.Keys(t.Context(), tokenrange.Range{}, func(key []byte) error {
		got = append(got, fmt.Sprintf("0x%x", key))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	order := slices.SortedFunc(maps.Keys(distinct), func(a, b string) int {
		x, _ := tokenrange.ParseToken(distinct[a])
		y, _ := tokenrange.ParseToken(distinct[b])
		return x.Compare(y)
	})
	if diff := cmp.Diff(order, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	for _, read := range s.Reads {
		columns := columnsOf(table, read.Columns)
		for _, wanted := range []func(key []byte) bool{
			func([]byte) bool { return true },
			func([]byte) bool { return false },
			func(key []byte) bool { return len(key) > 0 && key[len(key)-1]%3 == 0 },
		} {
			some, err := scanAll(t, table, sstable.Query{Keys: wanted, Columns: columns, Now: read.Now}, sstable.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var parts []arrow.Record
			for _, key := range got {
				token, _ := tokenrange.ParseToken(distinct[key])
				if b, _ := hex.DecodeString(key[2:]); !wanted(b) {
					continue
				}
				before, _ := tokenrange.ParseToken(new(big.Int).Sub(token.Big(), big.NewInt(1)).String())
				one := tokenrange.Range{Start: before, End: token}
				part, err := scanAll(t, table, sstable.Query{Range: one, Columns: columns, Now: read.Now}, sstable.Options{})
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, part)
			}
			if err := compareRecords(some, concatenate(t, table, columns, parts)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestAgainstCassandra plays each scenario in Cassandra and compares.
func TestAgainstCassandra(t *testing.T) {
	if testing.Short() {
		t.Skip("runs Cassandra's storage engine")
	}
	for _, version := range append([]string{"4.1", "random"}, versions...) {
		t.Run(version, func(t *testing.T) {
			o, err := oracle.Start(t.Context(), version, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			for _, s := range scenarios(t) {
				t.Run(s.Name, func(t *testing.T) {
					if version == "4.1" && s.Mentions("vector<") {
						t.Skip("this version has no vectors")
					}
					r, err := o.Run(s)
					if err != nil {
						t.Fatal(err)
					}
					check(t, s, r)
					checkRanges(t, s, r)
					checkKeys(t, s, r)
				})
			}
		})
	}
}
