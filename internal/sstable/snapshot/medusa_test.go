package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"manifest/internal/sstable"
	"manifest/internal/sstable/fault"
)

// medusaTree makes backups of two nodes as Medusa lays them out, whose table has
// the SSTables of a fixture: one differential, and with full also one full, whose
// files are folders of their own.
func medusaTree(t *testing.T, prefix string, full bool) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	fixture(t, "oa/partitions", "x", files)
	tableFolder := "partitions-" + tableID(t, files, "x")
	fsys := fstest.MapFS{}
	type object struct {
		Path string `json:"path"`
		MD5  string `json:"MD5"`
		Size int    `json:"size"`
	}
	type section struct {
		Keyspace string   `json:"keyspace"`
		Table    string   `json:"columnfamily"`
		Objects  []object `json:"objects"`
	}
	backup := func(node, name, data string, wanted func(file string) bool) {
		s := section{Keyspace: "ks", Table: tableFolder}
		for p, f := range files {
			if base := path.Base(p); base != "schema.cql" && wanted(base) {
				at := path.Join(prefix, node, data, "ks", tableFolder, base)
				fsys[at] = f
				s.Objects = append(s.Objects, object{at, "0", len(f.Data)})
			}
		}
		// An index has files of the same names.
		index := path.Join(prefix, node, data, "ks", tableFolder, ".by_v", "oa-1-big-Data.db")
		fsys[index] = &fstest.MapFile{Data: []byte("x")}
		s.Objects = append(s.Objects, object{index, "0", 1})
		manifest, err := json.Marshal([]section{s, {Keyspace: "ks", Table: tableFolder + ".by_v"}})
		if err != nil {
			t.Fatal(err)
		}
		meta := path.Join(prefix, node, name, "meta")
		fsys[path.Join(meta, "manifest.json")] = &fstest.MapFile{Data: manifest}
		fsys[path.Join(meta, "schema.cql")] = &fstest.MapFile{Data: files["x/schema.cql"].Data}
		fsys[path.Join(meta, "tokenmap.json")] = &fstest.MapFile{Data: []byte(`{"node1.example": {"tokens": [0]}, "node2.example": {"tokens": [1]}}`)}
	}
	all := func(string) bool { return true }
	first := func(file string) bool { return strings.HasPrefix(file, "oa-1-") }
	for _, node := range []string{"node1.example", "node2.example"} {
		backup(node, "monday", "data", first)
		backup(node, "tuesday", "data", all)
		if full {
			backup(node, "wednesday", "wednesday/data", first)
		}
	}
	fsys[path.Join(prefix, "index/backup_index/monday/x")] = &fstest.MapFile{}
	return fsys
}

// medusaSchema is the schema of the table, which Medusa does not back up beside
// its files.
func medusaSchema(t *testing.T) string {
	t.Helper()
	files := fstest.MapFS{}
	fixture(t, "oa/partitions", "x", files)
	return string(files["x/schema.cql"].Data)
}

func openMedusa(t *testing.T, tree Tree, tag string) (*sstable.Table, error) {
	t.Helper()
	catalog, err := Find(t.Context(), []Tree{tree}, Options{Tag: tag})
	if err != nil {
		return nil, err
	}
	table, err := catalog.Table(t.Context(), "ks", "partitions")
	if err != nil {
		return nil, err
	}
	opened, err := catalog.Open(t.Context(), table, OpenOptions{Schema: medusaSchema(t)})
	if err != nil {
		return nil, err
	}
	return opened.Table, nil
}

// By the statements of partitions.cql, of both SSTables and of the first.
const (
	rowsOfBoth  = 220 + 60 + 60 - 9 // of the 19 that are deleted, 10 are written again
	rowsOfFirst = 200 + 60 + 60 - 19
)

func TestMedusa(t *testing.T) {
	fsys := medusaTree(t, "", true)
	sub := func(dir string) Tree { // a tree that begins below the root
		s := fstest.MapFS{}
		for p, f := range fsys {
			if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
				s[rest] = f
			}
		}
		return FromFS("/storage/"+dir, s)
	}
	for _, c := range []struct {
		name      string
		tree      Tree
		tag       string
		sstables  int
		wantsRows int64
	}{
		{"all nodes, differential", FromFS("/storage", fsys), "monday", 2, rowsOfFirst},
		{"all nodes, a later one", FromFS("/storage", fsys), "tuesday", 4, rowsOfBoth},
		{"all nodes, full", FromFS("/storage", fsys), "wednesday", 2, rowsOfFirst},
		{"with a prefix", FromFS("/storage/clusters/one", prefixed(t)), "tuesday", 4, rowsOfBoth},
		{"one node", sub("node1.example"), "tuesday", 2, rowsOfBoth},
		{"one full backup of one node", sub("node1.example/wednesday"), "", 1, rowsOfFirst},
	} {
		table, err := openMedusa(t, c.tree, c.tag)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		n := len(table.Readers())
		if got := rows(t, table); n != c.sstables || got != c.wantsRows {
			t.Errorf("%s: %d SSTables with %d rows, want %d with %d", c.name, n, got, c.sstables, c.wantsRows)
		}
	}
}

// prefixed is the same where several clusters share a storage, and the tree is
// one of them: the manifests' paths count from the root of the storage.
func prefixed(t *testing.T) fstest.MapFS {
	fsys := fstest.MapFS{}
	for p, f := range medusaTree(t, "clusters/one", false) {
		fsys[strings.TrimPrefix(p, "clusters/one/")] = f
	}
	return fsys
}

func TestMedusaRefuses(t *testing.T) {
	for _, c := range []struct {
		name, tag string
		change    func(fsys fstest.MapFS)
		want      error
		text      string
	}{
		{"several backups", "", func(fstest.MapFS) {}, ErrTags, "monday, tuesday"},
		{"no such backup", "sunday", func(fstest.MapFS) {}, ErrNoTable, "monday, tuesday"},
		{"a node that did not finish", "tuesday", func(f fstest.MapFS) { delete(f, "node2.example/tuesday/meta/manifest.json") }, ErrIncomplete, "node2.example"},
		{"a node without the backup", "tuesday", func(f fstest.MapFS) {
			for _, name := range []string{"manifest.json", "schema.cql", "tokenmap.json"} {
				delete(f, "node2.example/tuesday/meta/"+name)
			}
		}, ErrIncomplete, "node2.example"},
		{"a file that is gone", "tuesday", func(f fstest.MapFS) { deleteOne(f, "node1.example/data/", "oa-2-big-Data.db") }, fault.ErrMissing, "oa-2-big-Data.db"},
		{"a file that is shorter", "tuesday", func(f fstest.MapFS) {
			for p, file := range f {
				if strings.HasPrefix(p, "node1.example/data/") && strings.HasSuffix(p, "oa-2-big-Data.db") {
					f[p] = &fstest.MapFile{Data: file.Data[:len(file.Data)-1]}
				}
			}
		}, fault.ErrCorrupt, "in manifest.json"},
	} {
		fsys := medusaTree(t, "", false)
		c.change(fsys)
		table, err := openMedusa(t, FromFS("/storage", fsys), c.tag)
		if err == nil {
			table.Close()
		}
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.want, c.text)
		}
	}
}

func deleteOne(fsys fstest.MapFS, prefix, suffix string) {
	for p := range fsys {
		if strings.HasPrefix(p, prefix) && strings.HasSuffix(p, suffix) && !strings.Contains(p, "/.") {
			delete(fsys, p)
		}
	}
}
