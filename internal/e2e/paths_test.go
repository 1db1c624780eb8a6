package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"manifest/internal/casstest"
)

// pathCases are selections of rows and the paths that they leave, the one that is chosen first; in CQL, the partitions that have the rows.
var pathCases = []struct {
	name, table string
	flags       []string
	paths       []string
	partitions  func(partition) bool
	rows        func(row map[string]any) bool // nil where all of the partitions are wanted
}{
	{"tags and days", "tag_image_index", []string{"--tags", "leaf_spot,rust", "--from", "2025-05-02", "--to", "2025-05-04"},
		[]string{"partition-list", "distinct-then-read", "full-scan"},
		func(p partition) bool {
			return (p.name == "leaf_spot" || p.name == "rust") && p.day >= "2025-05-02" && p.day <= "2025-05-04"
		}, nil},
	{"an open day", "tag_image_index", []string{"--tags", "leaf_spot", "--from", "2025-05-03"}, []string{"distinct-then-read", "full-scan"},
		func(p partition) bool { return p.name == "leaf_spot" && p.day >= "2025-05-03" }, nil},
	{"a pattern and other columns", "tag_image_index", []string{"--tags", "leaf_*", "--day", "2025-05-03", "--where", "device_id != 'CAM-0012'"},
		[]string{"distinct-then-read", "full-scan"},
		func(p partition) bool { return strings.HasPrefix(p.name, "leaf_") && p.day == "2025-05-03" },
		func(row map[string]any) bool { return row["device_id"] != "CAM-0012" }},
	{"a device and a day", "device_daily_images", []string{"--device", "CAM-0012", "--day", "2025-05-04"},
		[]string{"partition-list", "distinct-then-read", "full-scan"},
		func(p partition) bool { return p.name == "CAM-0012" && p.day == "2025-05-04" }, nil},
	{"a condition on the key", "device_daily_images", []string{"--where", "device_id > 'CAM-0012' AND device_id < 'CAM-0020'"},
		[]string{"distinct-then-read", "full-scan"},
		func(p partition) bool { return p.name > "CAM-0012" && p.name < "CAM-0020" }, nil},
	{"nothing", "device_daily_images", []string{"--device", "nobody", "--from", "2025-05-04"}, []string{"distinct-then-read", "full-scan"},
		func(partition) bool { return false }, nil},
	{"no key", "device_daily_images", []string{"--where", "width >= 0 OR width IS NULL"}, []string{"full-scan"},
		func(partition) bool { return true }, nil},
}

// partition is a key of device_daily_images or tag_image_index.
type partition struct{ name, day string }

// imagesOf asks for the images of each partition by its key, with plain SELECTs.
func (s *site) imagesOf(t *testing.T, session *gocql.Session, table string) map[partition][]string {
	t.Helper()
	name := map[string]string{"device_daily_images": "device_id", "tag_image_index": "tag"}[table]
	images := map[partition][]string{}
	rows := session.Query(fmt.Sprintf("SELECT DISTINCT %s, day_bucket FROM %s.%s", name, s.keyspace, table)).WithContext(t.Context()).Iter()
	for key := (map[string]any{}); rows.MapScan(key); key = map[string]any{} {
		p := partition{key[name].(string), fmt.Sprint(key["day_bucket"])[:len("2025-05-01")]}
		found := session.Query(fmt.Sprintf("SELECT image_id FROM %s.%s WHERE %s = ? AND day_bucket = ?", s.keyspace, table, name), p.name, p.day).WithContext(t.Context()).Iter()
		var id gocql.UUID
		for found.Scan(&id) {
			images[p] = append(images[p], id.String())
		}
		if err := found.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return images
}

// pathRecord is what a manifest or run.json says of how tables were reached.
type pathRecord struct {
	Reads []struct {
		Role       string `json:"role"`
		Path       string `json:"access_path"`
		Why        string `json:"why"`
		Partitions int    `json:"partitions"`
		Rows       int    `json:"rows_read"`
		Ledger     string `json:"ledger"`
	} `json:"reads"`
}

func readPaths(t testing.TB, file string) (r pathRecord) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Whatever the path to them, a selection has the rows that plain SELECTs of the partitions find, and a partition that is not wanted
// is not read where the path leaves it out.
func TestSelectionsByAnyPath(t *testing.T) {
	s, session := newImageSite(t, casstest.Shared(t, casstest.Options{Nodes: 1}), "paths", trainingImages)
	images := map[string]map[partition][]string{}
	for _, table := range []string{"device_daily_images", "tag_image_index"} {
		images[table] = s.imagesOf(t, session, table)
	}
	files := s.fromSnapshots(t)
	for _, c := range pathCases {
		t.Run(c.name, func(t *testing.T) {
			dir := scratch(t)
			var inPartitions, want []string
			for p, of := range images[c.table] {
				if c.partitions(p) {
					inPartitions = append(inPartitions, of...)
				}
			}
			made := 0
			check := func(from *site, path string, flags ...string) {
				t.Helper()
				made++
				out := filepath.Join(dir, fmt.Sprintf("%d-%s", made, path))
				args := slices.Concat([]string{"export", "--table", s.flag(c.table), "--out", out, "--format", "jsonl"}, c.flags, flags)
				if o := from.command(args...).run(t); o.code != exitDone {
					t.Fatalf("%s", o)
				}
				var got []string
				for _, row := range readLines(t, filepath.Join(out, "data")) {
					if c.rows != nil && !c.rows(row) {
						t.Errorf("%s: row %v is not wanted", path, row)
					}
					got = append(got, row["image_id"].(string))
				}
				slices.Sort(got)
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %d rows, want %d", path, len(got), len(want))
				}
				if o := (invocation{args: []string{"verify", out}}).run(t); o.code != exitDone {
					t.Errorf("%s", o)
				}
				reads := readPaths(t, filepath.Join(out, "manifest.json")).Reads
				rows := reads[len(reads)-1]
				if rows.Role != "rows" || rows.Path != path || rows.Why == "" || rows.Ledger != "ledger.jsonl" {
					t.Errorf("%s: the manifest says %+v", path, reads)
				}
				if path != "full-scan" && (rows.Rows != len(inPartitions) || rows.Partitions == 0) {
					t.Errorf("%s: %d rows of %d partitions were read, want %d", path, rows.Rows, rows.Partitions, len(inPartitions))
				}
				if path == "distinct-then-read" {
					if keys := reads[0]; keys.Role != "keys" || keys.Rows != len(images[c.table]) || keys.Ledger != "ledger-keys.jsonl" {
						t.Errorf("%s: of %d keys the manifest says %+v", path, len(images[c.table]), keys)
					}
				}
			}
			if c.rows == nil {
				want = slices.Sorted(slices.Values(inPartitions))
				if want == nil {
					want = []string{}
				}
			}
			check(s, c.paths[0])
			for _, path := range c.paths {
				check(s, path, "--access-path", path, "--splits", "7", "--workers", "3", "--page-size", "17")
			}
			check(files, "full-scan") // which passes over other partitions
			for _, path := range []string{"distinct-then-read", "partition-list"} {
				if !slices.Contains(c.paths, path) {
					o := s.command(slices.Concat([]string{"export", "--table", s.flag(c.table), "--out", filepath.Join(dir, "no"), "--access-path", path}, c.flags)...).run(t)
					if o.code != exitUsage {
						t.Errorf("%s: want exit code %d: %s", path, exitUsage, o)
					}
				}
			}

			o := s.command(slices.Concat([]string{"plan", "--table", s.flag(c.table)}, c.flags)...).run(t)
			if o.code != exitDone || !strings.Contains(o.stdout, "access path: "+strings.ReplaceAll(c.paths[0], "-", " ")+", ") {
				t.Errorf("want %s: %s", c.paths[0], o)
			}
			if whole := strings.Contains(o.stdout, "what follows is the whole table"); whole != (c.paths[0] == "distinct-then-read") {
				t.Errorf("%s, and %t that the load is that of the whole table: %s", c.paths[0], whole, o)
			}
			s.checkStatisticsByAnyPath(t, c.table, c.flags, c.paths)
		})
	}
}

// checkStatisticsByAnyPath compares statistics bytewise.
func (s *site) checkStatisticsByAnyPath(t *testing.T, table string, flags, paths []string) {
	t.Helper()
	named := map[string]string{"device_daily_images": "device-day", "tag_image_index": "tags"}[table]
	run := regexp.MustCompile(`part-[^/]*\.parquet$`)
	for _, what := range [][]string{
		{"--table", s.flag(table), "--by", "day(capture_time) as day", "--agg", "count, distinct(image_id)"},
		{"--keyspace", s.keyspace, "--query", named},
	} {
		var want map[string]string
		for _, path := range append([]string{"auto"}, paths...) {
			out := filepath.Join(scratch(t), "stats")
			if o := s.command(slices.Concat([]string{"stats", "--out", out, "--access-path", path}, what, flags)...).run(t); o.code != exitDone {
				t.Fatalf("%s", o)
			}
			if o := (invocation{args: []string{"verify", out}}).run(t); o.code != exitDone {
				t.Errorf("%s", o)
			}
			got := map[string]string{}
			found, err := filepath.Glob(filepath.Join(out, "*", "*", "*.parquet"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range found {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				name, err := filepath.Rel(out, file)
				if err != nil {
					t.Fatal(err)
				}
				got[run.ReplaceAllString(name, "part")] = string(data)
			}
			if want == nil {
				want = got
			} else if !maps.Equal(got, want) {
				t.Errorf("%q by %s: other bytes than by the path that was chosen", what, path)
			}
			reads := readPaths(t, filepath.Join(out, "run.json")).Reads
			if chosen := reads[len(reads)-1]; chosen.Path != paths[0] && path == "auto" || chosen.Path != path && path != "auto" {
				t.Errorf("%q by %s: run.json says %+v", what, path, reads)
			}
		}
	}
}

// What was listed or read of the keys is gone on with.
func TestSelectionGoesOnByItsPath(t *testing.T) {
	s, _ := newImageSite(t, casstest.Shared(t, casstest.Options{Nodes: 1}), "paths_resumed", trainingImages)
	selection := []string{"--table", s.flag("device_daily_images"), "--where", "device_id != ''", "--format", "jsonl", "--access-path", "distinct-then-read"}
	for _, lines := range []int{3, 30} { // while keys are read, and while rows are
		parent := scratch(t)
		out := filepath.Join(parent, "out")
		args := slices.Concat([]string{"export", "--out", out}, selection)
		run := s.launch(t, slices.Concat(args, []string{"--splits", "20", "--workers", "1", "--page-size", "1", "--progress", "none"})...)
		waitFor(t, "commits in the ledgers", func() bool {
			select {
			case <-run.ended:
				t.Fatalf("ended too early: %s", run.outcome())
			default:
			}
			return ledgerLines(t, parent) > lines
		})
		s.checkInterrupted(t, run, os.Interrupt, out)
		if o := s.command(slices.Concat(args, []string{"--resume", "auto"})...).run(t); o.code != exitDone {
			t.Fatalf("the run does not go on: %s", o)
		}
		whole := filepath.Join(scratch(t), "whole")
		if o := s.command(slices.Concat([]string{"export", "--out", whole}, selection)...).run(t); o.code != exitDone {
			t.Fatalf("%s", o)
		}
		if !maps.Equal(dataFiles(t, out), dataFiles(t, whole)) {
			t.Error("other bytes than at once")
		}
		if o := (invocation{args: []string{"verify", out}}).run(t); o.code != exitDone {
			t.Errorf("%s", o)
		}
		if left := list(t, parent); len(left) != 1 {
			t.Errorf("beside the dataset is left: %q", left)
		}
	}
}

// The tokens of keys of all types that are computed here are those of the server.
func TestKeysOfManyTypes(t *testing.T) {
	s := newEmptySite(t, casstest.Shared(t, casstest.Options{Nodes: 1}), "path_keys", fmt.Sprintf(simpleReplication, 1))
	session, err := s.cluster.Session(s.keyspace)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	keys := map[string][]string{
		"int":       {"-2147483648", "-1", "0", "2147483647"},
		"bigint":    {"-9223372036854775808", "-1", "0", "9223372036854775807"},
		"timestamp": {"-62135596800001", "-1", "0", "1746057600123"},
		"date":      {"'1969-12-31'", "'1970-01-01'", "'2025-05-01'", "'-0004-01-01'"},
		"uuid":      {"00000000-0000-0000-0000-000000000000", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
		"timeuuid":  {"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "00000000-0000-1000-8080-808080808080"},
		"text":      {"'a'", "'ß 雪'", "'x''y'"},
		"ascii":     {"'a'", "'~'"},
	}
	for _, shape := range []string{"(k)", "(k, j)"} {
		for kind, values := range keys {
			table := "of_" + kind + fmt.Sprint(len(shape))
			if err := session.Query(fmt.Sprintf("CREATE TABLE %s (k %s, j int, c int, PRIMARY KEY (%s, c))", table, kind, shape)).Exec(); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				for c := range 2 {
					if err := session.Query(fmt.Sprintf("INSERT INTO %s (k, j, c) VALUES (%s, 7, %d)", table, v, c)).Exec(); err != nil {
						t.Fatal(err)
					}
				}
			}
			out := filepath.Join(scratch(t), "out")
			o := s.command("export", "--table", s.flag(table), "--out", out, "--format", "jsonl", "--where", "k IS NOT NULL", "--access-path", "distinct-then-read").run(t)
			if o.code != exitDone {
				t.Fatalf("%s", o)
			}
			reads := readPaths(t, filepath.Join(out, "manifest.json")).Reads
			if got := readLines(t, filepath.Join(out, "data")); len(got) != 2*len(values) || reads[1].Partitions != len(values) {
				t.Errorf("%s: %d rows of %d keys were read by %+v: %v", table, len(got), len(values), reads[1], got)
			}
		}
	}
}
