package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/sstable"
	"manifest/internal/sstable/oracle"
)

const (
	id1 = "0123456789abcdef0123456789abcdef"
	id2 = "fedcba9876543210fedcba9876543210"
)

func tree(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys[f] = &fstest.MapFile{}
	}
	return fsys
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name string
		fsys fs.FS
		opts Options
		want string // node|keyspace|table|tag|backup of each folder
		err  error
	}{
		{"the folder itself", tree("nb-1-big-Data.db", "schema.cql"), Options{}, "||||false", nil},
		{
			"a data directory with one snapshot",
			tree("ks/t-"+id1+"/nb-2-big-Data.db", "ks/t-"+id1+"/snapshots/daily/nb-1-big-Data.db", "ks/t-"+id1+"/snapshots/daily/schema.cql", "ks/t-"+id1+"/snapshots/daily/.idx/nb-1-big-Data.db"),
			Options{}, "|ks|t|daily|false", nil,
		},
		{
			"an empty table of a snapshot", tree("ks/t-" + id1 + "/snapshots/daily/schema.cql"), Options{}, "|ks|t|daily|false", nil,
		},
		{
			"nodes, and a copy without snapshots in its path",
			tree("node1/ks/t-"+id1+"/nb-1-big-Data.db", "dc/node2/ks/t-"+id1+"/snapshots/x/nb-1-big-Data.db"),
			Options{}, "dc/node2|ks|t|x|false node1|ks|t||false", nil,
		},
		{
			"two snapshots", tree("ks/t-"+id1+"/snapshots/a/nb-1-big-Data.db", "ks/t-"+id1+"/snapshots/b/nb-1-big-Data.db"), Options{}, "", ErrTags,
		},
		{
			"one of two snapshots", tree("ks/t-"+id1+"/snapshots/a/nb-1-big-Data.db", "ks/t-"+id1+"/snapshots/b/nb-1-big-Data.db"), Options{Tag: "b"}, "|ks|t|b|false", nil,
		},
		{
			"a live table beside a snapshot", tree("ks/t-"+id1+"/snapshots/a/nb-1-big-Data.db", "ks/u-"+id2+"/nb-1-big-Data.db"), Options{Tag: "a"}, "|ks|t|a|false", nil,
		},
		{"no such snapshot", tree("ks/t-" + id1 + "/snapshots/a/nb-1-big-Data.db"), Options{Tag: "b"}, "", ErrNoTable},
		{
			"snapshots that Cassandra made by itself", tree("ks/t-"+id1+"/snapshots/truncated-1700000000000-t/nb-1-big-Data.db", "ks/t-"+id1+"/snapshots/dropped-1700000000000-t/nb-1-big-Data.db"),
			Options{}, "", ErrNoTable,
		},
		{
			"such a snapshot asked for by name", tree("ks/t-" + id1 + "/snapshots/dropped-1700000000000-t/nb-1-big-Data.db"), Options{Tag: "dropped-1700000000000-t"}, "|ks|t|dropped-1700000000000-t|false", nil,
		},
		{"a running server's files", tree("ks/t-"+id1+"/nb-2-big-Data.db", "ks/t-"+id1+"/backups/nb-1-big-Data.db"), Options{}, "", ErrLive},
		{
			"a running server's files beside an old snapshot of a dropped table", tree("ks/t-"+id1+"/nb-2-big-Data.db", "ks/t-"+id1+"/snapshots/dropped-1-t/nb-1-big-Data.db"), Options{}, "", ErrLive,
		},
		{
			"a snapshot and backups", tree("ks/t-"+id1+"/snapshots/a/nb-1-big-Data.db", "ks/t-"+id1+"/backups/nb-2-big-Data.db"), Options{Backups: true}, "|ks|t||true |ks|t|a|false", nil,
		},
		{"backups not asked for", tree("ks/t-"+id1+"/snapshots/a/nb-1-big-Data.db", "ks/t-"+id1+"/backups/nb-2-big-Data.db"), Options{}, "|ks|t|a|false", nil},
		{"nothing", tree("readme.txt"), Options{}, "", ErrNoTable},
	} {
		catalog, err := Find(t.Context(), []Tree{FromFS("", c.fsys)}, c.opts)
		var got []string
		if err == nil {
			for _, table := range catalog.Tables {
				err = errors.Join(err, table.Fault)
				for _, f := range table.Folders {
					got = append(got, fmt.Sprintf("%s|%s|%s|%s|%t", f.Node, f.Keyspace, f.Table, f.Tag, f.Backup))
				}
			}
		}
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		if s := strings.Join(got, " "); c.err == nil && s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

// vanishing is a file system in which folders are listed that are gone.
type vanishing struct {
	fs.FS
	gone string
}

func (v vanishing) Open(name string) (fs.File, error) {
	if name == v.gone {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return v.FS.Open(name)
}

func TestFoldersThatVanish(t *testing.T) {
	files := tree("ks/t-"+id1+"/snapshots/a/nb-1-big-Data.db", "ks/t-"+id1+"/snapshots/b/nb-1-big-Data.db", "ks/u-"+id2+"/nb-1-big-Data.db")
	for _, c := range []struct {
		gone, tag string
		ok        bool
	}{
		{"ks/u-" + id2, "a", true},
		{"ks/t-" + id1 + "/snapshots/b", "a", true},
		{"ks/t-" + id1 + "/snapshots/a", "a", false},
		{"ks/t-" + id1 + "/snapshots/b", "", false},
		{".", "a", false},
	} {
		catalog, err := Find(t.Context(), []Tree{FromFS("", vanishing{files, c.gone})}, Options{Tag: c.tag})
		if (err == nil) != c.ok || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of snapshot %q is gone: %v", c.gone, c.tag, err)
		} else if c.ok && (len(catalog.Tables) != 1 || catalog.Tables[0].Name != "t") {
			t.Errorf("%s is gone: %+v", c.gone, catalog.Tables)
		}
	}
}

func TestTablesAreGrouped(t *testing.T) {
	catalog, err := Find(t.Context(), []Tree{FromFS("", tree("n1/ks/t-"+id1+"/nb-1-big-Data.db", "n2/ks/t-"+id1+"/nb-1-big-Data.db", "n1/ks/t-"+id2+"/nb-1-big-Data.db", "n1/a/z-"+id2+"/nb-1-big-Data.db"))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range catalog.Tables {
		got = append(got, fmt.Sprintf("%s.%s-%s:%d", table.Keyspace, table.Name, table.ID[:2], len(table.Folders)))
	}
	if s := strings.Join(got, " "); s != "a.z-fe:1 ks.t-01:2 ks.t-fe:1" {
		t.Errorf("got %s", s)
	}
	if _, err := catalog.Table(t.Context(), "ks", "t"); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("two tables of one name: %v", err)
	}
	var unknown *UnknownTableError
	if _, err := catalog.Table(t.Context(), "ks", "zz"); !errors.As(err, &unknown) || !errors.Is(err, ErrNoTable) || fmt.Sprint(unknown.Known) != "[a.z ks.t]" {
		t.Errorf("no such table: %v", err)
	}
}

// TestFindFromInside begins in the middle of what a tree looks like.
func TestFindFromInside(t *testing.T) {
	table := "/data1/ks/t-" + id1
	for _, c := range []struct {
		name  string
		trees []Tree
		want  string
		err   error
	}{
		{"a snapshot", []Tree{FromFS(table+"/snapshots/a", tree("nb-1-big-Data.db"))}, "/data1|ks|t|a|false", nil},
		{"a snapshot that Cassandra made by itself, named", []Tree{FromFS(table+"/snapshots/dropped-1-t", tree("nb-1-big-Data.db"))}, "/data1|ks|t|dropped-1-t|false", nil},
		{
			"a snapshot and the backups since", []Tree{FromFS(table+"/snapshots/a", tree("nb-1-big-Data.db")), FromFS(table+"/backups", tree("nb-2-big-Data.db"))},
			"/data1|ks|t|a|false /data1|ks|t||true", nil,
		},
		{
			"two snapshots, both named", []Tree{FromFS(table+"/snapshots/a", tree("nb-1-big-Data.db")), FromFS(table+"/snapshots/b", tree("nb-1-big-Data.db"))}, "", ErrTags,
		},
		{"a running server's table", []Tree{FromFS(table, tree("nb-1-big-Data.db", "backups/x"))}, "", ErrLive},
		{
			"a snapshot of one node, and another node's files", []Tree{
				FromFS("/n1", tree("ks/t-"+id1+"/snapshots/a/nb-1-big-Data.db")),
				FromFS("/n2", tree("ks/t-"+id1+"/nb-1-big-Data.db", "ks/t-"+id1+"/backups/x")),
			}, "", ErrLive,
		},
	} {
		catalog, err := Find(t.Context(), c.trees, Options{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		found, err := catalog.Table(t.Context(), "ks", "t")
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		var got []string
		for _, f := range found.Folders {
			got = append(got, fmt.Sprintf("%s|%s|%s|%s|%t", f.Node, f.Keyspace, f.Table, f.Tag, f.Backup))
		}
		if s := strings.Join(got, " "); c.err == nil && s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
	// With a tag, a node that lacks it is noticed too.
	catalog, err := Find(t.Context(), []Tree{FromFS("", tree("n1/ks/t-"+id1+"/snapshots/a/nb-1-big-Data.db", "n2/ks/t-"+id1+"/nb-1-big-Data.db", "n2/ks/t-"+id1+"/snapshots/b/nb-1-big-Data.db"))}, Options{Tag: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Table(t.Context(), "ks", "t"); !errors.Is(err, ErrIncomplete) {
		t.Errorf("a node without the snapshot: %v", err)
	}
}

// fixture puts the files of a fixture into a folder of a tree.
func fixture(t *testing.T, name, folder string, into fstest.MapFS) {
	t.Helper()
	results, err := oracle.ReadResults("../testdata/fixtures.tar.zst")
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range results[name].Files {
		into[path.Join(folder, file)] = &fstest.MapFile{Data: b}
	}
}

// tableID is the id of a fixture's table, by its schema.cql.
func tableID(t *testing.T, fsys fstest.MapFS, folder string) string {
	t.Helper()
	_, rest, ok := strings.Cut(string(fsys[path.Join(folder, "schema.cql")].Data), "WITH ID = ")
	if !ok {
		t.Fatal("no id")
	}
	return strings.ReplaceAll(rest[:36], "-", "")
}

// snapshotOf gives a tree with a fixture as a snapshot of two nodes.
func snapshotOf(t *testing.T, name string) (fstest.MapFS, string) {
	t.Helper()
	plain := fstest.MapFS{}
	fixture(t, name, "x", plain)
	folder := "ks/" + path.Base(name) + "-" + tableID(t, plain, "x") + "/snapshots/daily"
	fsys := fstest.MapFS{}
	for file, f := range plain {
		for _, node := range []string{"n1", "n2"} {
			fsys[path.Join(node, folder, path.Base(file))] = f
		}
	}
	return fsys, "n1/" + folder
}

func open(t *testing.T, fsys fstest.MapFS, text string) (*sstable.Table, error) {
	t.Helper()
	catalog, err := Find(t.Context(), []Tree{FromFS("", fsys)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := catalog.Open(t.Context(), catalog.Tables[0], OpenOptions{Schema: text})
	if err != nil {
		return nil, err
	}
	return opened.Table, nil
}

func rows(t *testing.T, table *sstable.Table) int64 {
	t.Helper()
	defer table.Close()
	stats, err := table.Scan(t.Context(), sstable.Query{Columns: table.Schema().Table.Names(), Now: 1700000100}, sstable.Options{}, func(arrow.Record) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return stats.Rows
}

func TestOpen(t *testing.T) {
	fsys, folder := snapshotOf(t, "oa/partitions")
	table, err := open(t, fsys, "")
	if err != nil {
		t.Fatal(err)
	}
	// Of the two nodes each has all of the table: its rows show once.
	if n := len(table.Readers()); n != 4 {
		t.Errorf("%d SSTables", n)
	}
	both := rows(t, table)
	for name := range fsys {
		if strings.HasPrefix(name, "n2/") {
			delete(fsys, name)
		}
	}
	if table, err = open(t, fsys, ""); err != nil {
		t.Fatal(err)
	}
	if one := rows(t, table); one != both || one == 0 {
		t.Errorf("%d rows of one node, %d of two", one, both)
	}

	manifest := path.Join(folder, "manifest.json")
	fsys[manifest] = &fstest.MapFile{Data: []byte(`{"files": ["oa-1-big-Data.db", "oa-2-big-Data.db", ".idx/oa-1-big-Data.db"]}`)}
	if table, err = open(t, fsys, ""); err != nil {
		t.Fatal(err)
	}
	table.Close()
	fsys[manifest] = &fstest.MapFile{Data: []byte(`{"files": ["oa-1-big-Data.db", "oa-2-big-Data.db", "oa-3-big-Data.db"]}`)}
	if _, err := open(t, fsys, ""); !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "oa-3-big-Data.db") {
		t.Errorf("a file of the manifest is missing: %v", err)
	}
	delete(fsys, manifest)

	own := string(fsys[path.Join(folder, "schema.cql")].Data)
	delete(fsys, path.Join(folder, "schema.cql"))
	if _, err := open(t, fsys, ""); !errors.Is(err, ErrNoSchema) {
		t.Errorf("no schema.cql: %v", err)
	}
	if table, err = open(t, fsys, own); err != nil {
		t.Errorf("a schema of the user's: %v", err)
	} else if got := rows(t, table); got != both {
		t.Errorf("%d rows, want %d", got, both)
	}
	if _, err := open(t, fsys, strings.Replace(own, "v text", "v int", 1)); !errors.Is(err, sstable.ErrSchema) {
		t.Errorf("a schema that does not fit: %v", err)
	}
	if _, err := open(t, fsys, "CREATE TABLE ks.other (a int PRIMARY KEY)"); !errors.Is(err, ErrNoSchema) {
		t.Errorf("a schema of another table: %v", err)
	}
}

// TestOpenWithTypesOfOtherTables has a schema that needs a type which another
// table's defines and no SSTable has.
func TestOpenWithTypesOfOtherTables(t *testing.T) {
	fsys, folder := snapshotOf(t, "oa/partitions")
	file := path.Join(folder, "schema.cql")
	schema := strings.Replace(string(fsys[file].Data), "v text", "v text, l list<frozen<place>>", 1)
	for _, node := range []string{"n1", "n2"} {
		fsys[strings.Replace(file, "n1", node, 1)] = &fstest.MapFile{Data: []byte(schema)}
	}
	if _, err := open(t, fsys, ""); err == nil || !strings.Contains(err.Error(), "place") {
		t.Errorf("a type that nothing defines: %v", err)
	}
	fsys["n1/ks/zz-"+id1+"/snapshots/daily/schema.cql"] = &fstest.MapFile{Data: []byte("CREATE TYPE ks.place (name text); CREATE TABLE ks.zz (id int PRIMARY KEY, p place) WITH ID = 01234567-89ab-cdef-0123-456789abcdef;")}
	table, err := open(t, fsys, "")
	if err != nil {
		t.Fatal(err)
	}
	if rows(t, table) == 0 {
		t.Error("no rows")
	}
}
