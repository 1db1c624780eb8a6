package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"

	"manifest/internal/sstable"
	"manifest/internal/sstable/oracle"
)

// TestSystemSchema makes tables of every kind in Cassandra, and compares what its
// system_schema says of them, read from SSTables, with what its schema.cql says.
func TestSystemSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("runs Cassandra's storage engine")
	}
	for _, version := range []string{"4.1", "oa"} { // what system_schema has differs between servers, not formats
		t.Run(version, func(t *testing.T) { testSystemSchema(t, version) })
	}
}

func testSystemSchema(t *testing.T, version string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	o, err := oracle.Start(t.Context(), version, dir)
	must(err)
	defer o.Close()
	const now = 1_700_000_000
	for _, statement := range []string{
		`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
		`CREATE TYPE ks.place (name text, at frozen<tuple<double, double>>)`,
		`CREATE TYPE ks."Shot" (place frozen<place>, tags set<text>)`,
		`CREATE TABLE ks.images (device text, day date, taken timestamp, id timeuuid, shot frozen<"Shot">, place place, tags map<text, frozen<list<int>>>,
			old int, gone text, owner text static, "Odd ""name" blob, PRIMARY KEY ((device, day), taken, id)) WITH CLUSTERING ORDER BY (taken DESC, id ASC)`,
		`CREATE TABLE ks.counts (id int PRIMARY KEY, n counter)`,
		`CREATE TABLE ks.shots (id int PRIMARY KEY, device text, v text)`,
		`CREATE MATERIALIZED VIEW ks.by_device AS SELECT id, device FROM ks.shots WHERE device IS NOT NULL AND id IS NOT NULL PRIMARY KEY (device, id) WITH CLUSTERING ORDER BY (id DESC)`,
		`INSERT INTO ks.shots (id, device, v) VALUES (1, 'd', 'v')`,
		`INSERT INTO ks.images (device, day, taken, id, shot, place, tags, old, gone, owner) VALUES ('d', '2025-06-01', 1000, 50554d6e-29bb-11e5-b345-feff819cdc9f,
			{place: {name: 'p', at: (1.5, 2.5)}, tags: {'a'}}, {name: 'q'}, {'k': [1, 2]}, 7, 'x', 'o')`,
		`UPDATE ks.counts SET n = n + 5 WHERE id = 1`,
	} {
		must(o.Exec(now, statement))
	}
	tables := []string{"images", "counts", "shots", "by_device"}
	for _, table := range tables {
		must(o.Flush("ks", table))
	}
	must(o.Exec(now+10, `ALTER TABLE ks.images DROP gone`))
	must(o.Exec(now+10, `ALTER TABLE ks.images DROP old`))
	must(o.Exec(now+20, `ALTER TABLE ks.images ADD old int`))
	must(o.Exec(now+30, `ALTER TYPE ks.place ADD height float`))
	for _, table := range tables {
		if _, err := o.Snapshot("ks", table, "daily"); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"keyspaces", "tables", "columns", "types", "views", "dropped_columns"} {
		must(o.Flush(systemKeyspace, table))
		if _, err := o.Snapshot(systemKeyspace, table, "daily"); err != nil {
			t.Fatal(err)
		}
	}

	tree, err := Local(filepath.Join(dir, "data"))
	must(err)
	catalog, err := Find(t.Context(), []Tree{tree}, Options{Tag: "daily"})
	must(err)
	records := map[string][]string{}
	var files []string
	for _, name := range tables {
		table, err := catalog.Table(t.Context(), "ks", name)
		must(err)
		fromFile, rows := readAll(t, catalog, table)
		if len(rows) != 1 && !fromFile.Table.View { // the engine alone does not fill views
			t.Errorf("%s: %d records", name, len(rows))
		}
		records[name] = rows
		system, err := catalog.systemSchema(t.Context(), table)
		must(err)
		for i := range fromFile.Dropped {
			// Of two drops in a millisecond, schema.cql tells the second's microsecond.
			fromFile.Dropped[i].At -= fromFile.Dropped[i].At % 1000
		}
		if diff := cmp.Diff(fromFile, system); diff != "" {
			t.Errorf("%s: schema.cql and system_schema differ: %s", name, diff)
		}
		for _, f := range table.Folders {
			if f.Schema {
				files = append(files, filepath.Join(f.Name(), "schema.cql"))
			}
		}
	}
	// Without the files, the same rows come by the other way.
	for _, f := range files {
		must(os.Remove(f))
	}
	catalog, err = Find(t.Context(), []Tree{tree}, Options{Tag: "daily"})
	must(err)
	for _, name := range tables {
		table, err := catalog.Table(t.Context(), "ks", name)
		must(err)
		if _, rows := readAll(t, catalog, table); !cmp.Equal(records[name], rows) {
			t.Errorf("%s: %v and %v", name, records[name], rows)
		}
	}
	if _, err := catalog.systemSchema(t.Context(), Table{Keyspace: "ks", Name: "images", ID: id1}); err == nil {
		t.Error("another table of the name")
	}
}

// readAll gives a table's schema and its records as JSON.
func readAll(t *testing.T, c *Catalog, table Table) (sstable.Schema, []string) {
	t.Helper()
	opened, err := c.Open(context.Background(), table, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	var records []string
	q := sstable.Query{Columns: opened.Schema().Table.Names(), Now: 1_700_000_100}
	if _, err := opened.Scan(t.Context(), q, sstable.Options{}, func(rec arrow.Record) error {
		b, err := rec.MarshalJSON()
		records = append(records, string(b))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return opened.Schema(), records
}
