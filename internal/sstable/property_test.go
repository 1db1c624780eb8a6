package sstable_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"pgregory.net/rapid"

	"manifest/internal/sstable"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/oracle"
)

var stories = flag.Int("stories", 30, "random stories to play in each version of Cassandra's SSTables")

// TestRandomStories plays random statements on random tables, and compares what
// is read of the SSTables with what Cassandra reads: before and after a
// compaction, from any division of the SSTables into folders, from some of them
// twice, in ranges.
func TestRandomStories(t *testing.T) {
	if testing.Short() {
		t.Skip("runs Cassandra's storage engine")
	}
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	defer checks.Value.Set(before)
	if err := checks.Value.Set(fmt.Sprint(*stories)); err != nil {
		t.Fatal(err)
	}
	for _, version := range append([]string{"4.1"}, versions...) {
		keyTypes := allKeyTypes
		if version == "4.1" {
			keyTypes = keyTypes[:len(keyTypes)-2]
		}
		t.Run(version, func(t *testing.T) {
			o, err := oracle.Start(t.Context(), version, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			err = errors.Join(
				o.Exec(1, `CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`),
				o.Exec(1, `CREATE TYPE ks.pair (a int, b text)`),
			)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			rapid.Check(t, func(rt *rapid.T) {
				n++
				playRandom(rt, o, fmt.Sprintf("t%d", n), keyTypes)
			})
		})
	}
}

// playRandom plays one story.
func playRandom(t *rapid.T, o *oracle.Oracle, name string, keyTypes []string) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	table := newRandomTable(t, name, keyTypes)
	// Compactions go by the clock, so statements are of now and reads of later.
	now := time.Now().Unix()
	must(o.Exec(now, table.create()))
	t.Log(table.create())
	executed := 0
	for range rapid.IntRange(1, 40).Draw(t, "statements") {
		if rapid.IntRange(0, 7).Draw(t, "flush") == 0 {
			must(o.Flush("ks", name))
			t.Log("flush")
		}
		s := table.statement(t)
		t.Log(s)
		if err := o.Exec(now, s); err != nil {
			// Not all that is drawn is valid, such as an empty key; and Cassandra fails
			// with a ClassCastException on an empty map in a descending key.
			if !strings.Contains(err.Error(), "InvalidRequestException") && !strings.Contains(err.Error(), "ClassCastException") {
				t.Fatal(err)
			}
			t.Log("refused: ", err)
			continue
		}
		executed++
	}
	must(o.Flush("ks", name))
	if executed == 0 {
		t.Skip("no statement is valid")
	}
	queries := []int64{now + 500, now + 1000, now + 1500, now + 3000}
	answers := make([]oracle.Rows, len(queries))
	for i, at := range queries {
		var err error
		answers[i], err = o.Select(at, "SELECT * FROM ks."+name)
		must(err)
	}
	dir, err := o.Snapshot("ks", name, "flushed")
	must(err)
	checkStory(t, o, dir, queries, answers)

	must(o.Compact("ks", name))
	if dir, err = o.Snapshot("ks", name, "compacted"); err != nil {
		t.Fatal(err)
	}
	checkStory(t, o, dir, queries, answers)
	must(o.Exec(now, "DROP TABLE ks."+name))
}

// checkStory compares what is read of a snapshot with the answers.
func checkStory(t *rapid.T, o *oracle.Oracle, dir string, queries []int64, answers []oracle.Rows) {
	text, err := os.ReadFile(filepath.Join(dir, "schema.cql"))
	if err != nil {
		t.Fatal(err)
	}
	// The schema of a snapshot lacks types that are only inside of others.
	const types = "CREATE TYPE IF NOT EXISTS ks.pair (a int, b text);\n"
	table, err := openFolders(types+string(text), divide(t, dir)...)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	for _, r := range table.Readers() {
		path := filepath.Join(dir, filepath.Base(r.Path()))
		want, err := o.Dump(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := r.Dump(context.Background(), func(line []byte) error { got = append(got, string(line)); return nil }); err != nil {
			t.Fatalf("dump %s: %v", path, err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("dump of %s:\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	columns := table.Schema().Table.Names()
	for i, at := range queries {
		expected := want(t, table, columns, answers[i])
		opts := sstable.Options{RecordRows: rapid.IntRange(1, 20).Draw(t, "record rows"), ReadBytes: rapid.SampledFrom([]int{1, 5000}).Draw(t, "read")}
		var parts []arrow.Record
		for _, r := range table.Partitioner().Ring().Split(rapid.IntRange(1, 5).Draw(t, "ranges")) {
			part, err := scanAll(t, table, sstable.Query{Range: r, Columns: columns, Now: at}, opts)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part)
		}
		if err := compareRecords(concatenate(t, table, columns, parts), expected); err != nil {
			t.Fatalf("at %d: %v", at, err)
		}
		some := rapid.SampledFrom(columns).Draw(t, "column")
		one, err := scanAll(t, table, sstable.Query{Columns: []string{some}, Now: at}, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := compareRecords(one, want(t, table, []string{some}, answers[i])); err != nil {
			t.Fatalf("SELECT %s at %d: %v", some, at, err)
		}
	}
}

// divide gives a snapshot's SSTables as some folders, each SSTable in one of them
// or in several.
func divide(t *rapid.T, dir string) []component.Storage {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]map[string][]byte{}
	for _, e := range entries {
		d, _, err := component.ParseFileName(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if sets[d.String()] == nil {
			sets[d.String()] = map[string][]byte{}
		}
		sets[d.String()][e.Name()] = b
	}
	folders := make([]map[string][]byte, rapid.IntRange(1, 3).Draw(t, "folders"))
	for i := range folders {
		folders[i] = map[string][]byte{}
	}
	for _, d := range rapid.Permutation(slices.Sorted(maps.Keys(sets))).Draw(t, "order") {
		for range rapid.IntRange(1, 2).Draw(t, "copies") {
			maps.Copy(folders[rapid.IntRange(0, len(folders)-1).Draw(t, "folder")], sets[d])
		}
	}
	var all []component.Storage
	for _, f := range folders {
		all = append(all, storage(f))
	}
	return all
}
