package snapshot

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"manifest/internal/demodata"
	sstables "manifest/internal/sstable/snapshot"
	"manifest/tokenrange"
)

// TestAnyDivisionGivesTheSame puts the SSTables of two nodes into any folders, in
// any order, some of them more than once, and reads in any splits.
func TestAnyDivisionGivesTheSame(t *testing.T) {
	dir := t.TempDir()
	if err := demodata.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{
		"image_metadata":      {"image_id", "width", "attributes", "object_store", "writetime(width)", "ttl(object_store)"},
		"tag_image_index":     {"tag", "day_bucket", "capture_time", "image_id", "object_store", "writetime(object_store)"},
		"device_daily_images": {"device_id", "capture_time", "content_hash"},
		"image_review_status": {"image_id", "status", "reviewer", "ttl(status)"},
	}
	tables := slices.Sorted(maps.Keys(columns))
	whole, sets := map[string][]string{}, map[string]map[string][]string{}
	for _, table := range tables {
		whole[table], sets[table] = readFolders(t, t, table, columns[table], 8<<10, 1, dir), sstableFiles(t, dir, table)
		if len(whole[table]) < 1000 {
			t.Fatalf("%d rows of %s", len(whole[table]), table)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		table := rapid.SampledFrom(tables).Draw(rt, "table")
		home := t.TempDir()
		var folders []string
		for i := range rapid.IntRange(1, 4).Draw(rt, "folders") {
			f := filepath.Join(home, fmt.Sprint(i))
			folders = append(folders, f)
			if err := os.Mkdir(f, 0o755); err != nil {
				rt.Fatal(err)
			}
			link(rt, f, sets[table]["schema.cql"])
		}
		for _, name := range slices.Sorted(maps.Keys(sets[table])) {
			if name == "schema.cql" {
				continue
			}
			first := rapid.IntRange(0, len(folders)-1).Draw(rt, "folder of "+name)
			for i, f := range folders {
				if i == first || rapid.IntRange(0, 3).Draw(rt, "copy too") == 0 {
					link(rt, f, sets[table][name])
				}
			}
		}
		got := readFolders(rt, t, table, columns[table], rapid.IntRange(1, 3000).Draw(rt, "rows in a record"), rapid.IntRange(1, 40).Draw(rt, "splits"),
			rapid.Permutation(folders).Draw(rt, "order")...)
		if !slices.Equal(got, whole[table]) {
			rt.Fatalf("%s: %d rows, and not the %d of all", table, len(got), len(whole[table]))
		}
	})
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// sstableFiles gives the files of each of a table's SSTables, whose names are
// all different, and one of its schemas.
func sstableFiles(t *testing.T, dir, table string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", table+"-*", "snapshots", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string][]string{}
	for _, f := range files {
		switch parts := strings.Split(filepath.Base(f), "-"); {
		case filepath.Base(f) == "schema.cql":
			sets["schema.cql"] = []string{f}
		case len(parts) == 4:
			name := strings.Join(parts[:3], "-")
			sets[name] = append(sets[name], f)
		}
	}
	if len(sets) < 5 {
		t.Fatalf("%d SSTables", len(sets)-1)
	}
	return sets
}

func link(t fataler, folder string, files []string) {
	t.Helper()
	for _, f := range files {
		if err := os.Link(f, filepath.Join(folder, filepath.Base(f))); err != nil {
			t.Fatal(err)
		}
	}
}

// readFolders reads a table from folders, in token order.
func readFolders(t fataler, tb *testing.T, table string, columns []string, recordRows, splits int, folders ...string) []string {
	t.Helper()
	var trees []sstables.Tree
	for _, f := range folders {
		tree, err := sstables.Local(f)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	catalog, err := sstables.Find(tb.Context(), trees, sstables.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := catalog.Table(tb.Context(), demodata.Keyspace, table)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := catalog.Open(tb.Context(), found, sstables.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	s, err := New(opened.Table, Options{Now: demodata.Now, RecordRows: recordRows})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Plan(tokenrange.PlanOptions{Splits: splits})
	if err != nil {
		t.Fatal(err)
	}
	return texts(tb, s, plan, columns...)
}
