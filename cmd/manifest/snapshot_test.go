package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"manifest/export"
	"manifest/internal/sstable/oracle"
)

var fixtures = sync.OnceValues(func() (map[string]*oracle.Result, error) {
	return oracle.ReadResults("../../internal/sstable/testdata/fixtures.tar.zst")
})

// writeSnapshot writes the SSTables that a scenario left as a snapshot of a node's
// data directory, and returns that.
func writeSnapshot(t *testing.T, name string) string {
	t.Helper()
	all, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	files := all[name].Files
	_, id, ok := strings.Cut(string(files["schema.cql"]), "WITH ID = ")
	if !ok {
		t.Fatal("no id")
	}
	data := t.TempDir()
	folder := filepath.Join(data, "ks", filepath.Base(name)+"-"+strings.ReplaceAll(id[:36], "-", ""), "snapshots", "daily")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, b := range files {
		if err := os.WriteFile(filepath.Join(folder, file), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// find gives the files of a tree whose name ends so, in order.
func find(t *testing.T, dir, suffix string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, suffix) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ran is what a command gave.
type ran struct {
	code int
	out  string
	err  error
}

func (r ran) String() string { return fmt.Sprintf("exit code %d, %v\n%s", r.code, r.err, r.out) }

// manifest runs a command.
func manifest(args ...string) ran {
	root := newRootCommand()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(args)
	err := root.Execute()
	return ran{exitCode(err), out.String(), err}
}

// exported gives the lines that an export as JSON lines wrote, sorted.
func exported(t *testing.T, dir string) []string {
	t.Helper()
	var lines []string
	for _, f := range find(t, filepath.Join(dir, "data"), ".jsonl") {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")...)
	}
	slices.Sort(lines)
	return lines
}

// partitionLines are the rows of partitions.cql.
func partitionLines() []string {
	var lines []string
	add := func(pk string, ck int, v string) {
		lines = append(lines, fmt.Sprintf(`{"pk":%q,"ck":%d,"v":%q}`, pk, ck, v))
	}
	for i := 1; i <= 220; i++ {
		v := "value"
		if i >= 180 {
			v = "newer"
		}
		add(fmt.Sprintf("partition %d", i), i, fmt.Sprintf("%s %d", v, i))
	}
	for i := 1; i <= 60; i++ {
		text := fmt.Sprintf("some value that fills the partition, of number %d", i)
		add("also long", i, text)
		switch {
		case i >= 10 && i <= 30:
			add("long", i, fmt.Sprintf("newer %d", i))
		case i <= 20 || i >= 40:
			add("long", i, text)
		}
	}
	slices.Sort(lines)
	return lines
}

func TestExportOfASnapshot(t *testing.T) {
	for _, version := range []string{"nb", "oa", "da"} {
		data := writeSnapshot(t, version+"/partitions")
		out := filepath.Join(t.TempDir(), "out")
		r := manifest("export", "--snapshot", data, "--table", "ks.partitions", "--format", "jsonl", "--out", out, "--progress", "none")
		if r.code != exitDone || !strings.Contains(r.out, "complete: "+out) {
			t.Fatal(version, r)
		}
		if got := exported(t, out); !slices.Equal(got, partitionLines()) {
			t.Errorf("%s: %d rows, want %d", version, len(got), len(partitionLines()))
		}
		var m export.Manifest
		b, err := os.ReadFile(filepath.Join(out, export.ManifestFile))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		if m.Source.Kind != "snapshot" || len(m.Source.Paths) != 1 || !strings.HasPrefix(m.Source.Paths[0], data) || !m.Coverage.Complete {
			t.Errorf("%s: source %+v, coverage %+v", version, m.Source, m.Coverage)
		}
	}
}

func TestFiltersOfASnapshot(t *testing.T) {
	data := writeSnapshot(t, "oa/partitions")
	for where, want := range map[string]func(line string) bool{
		"pk = 'long' AND ck < 12": func(l string) bool {
			return strings.HasPrefix(l, `{"pk":"long","ck":`) && (len(strings.Split(l, ",")[1]) == len(`"ck":1`) || strings.Contains(l, `"ck":10,`) || strings.Contains(l, `"ck":11,`))
		},
		"pk IN ('partition 7', 'partition 190', 'nobody')": func(l string) bool {
			return strings.Contains(l, `"partition 7"`) || strings.Contains(l, `"partition 190"`)
		},
		"NOT pk GLOB 'partition *'": func(l string) bool { return strings.Contains(l, `long"`) },
	} {
		out := filepath.Join(t.TempDir(), "out")
		if r := manifest("export", "--snapshot", data, "--table", "ks.partitions", "--format", "jsonl", "--out", out, "--where", where, "--progress", "none"); r.code != exitDone {
			t.Fatal(where, r)
		}
		lines := slices.DeleteFunc(partitionLines(), func(l string) bool { return !want(l) })
		if got := exported(t, out); !slices.Equal(got, lines) {
			t.Errorf("%s: %q, want %q", where, got, lines)
		}
	}
}

func TestPlanAndDoctorOfASnapshot(t *testing.T) {
	data := writeSnapshot(t, "oa/partitions")
	r := manifest("plan", "--snapshot", data, "--table", "ks.partitions", "--now", "1700000100")
	for _, want := range []string{"ks.partitions of 2 SSTables, org.apache.cassandra.dht.Murmur3Partitioner", "all copies merged as of 2023-11-14T22:15:00Z", "format: oa", data} {
		if r.code != exitDone || !strings.Contains(r.out, want) {
			t.Errorf("plan: %v lacks %q", r, want)
		}
	}
	r = manifest("doctor", "--snapshot", data, "--table", "ks.partitions")
	for _, want := range []string{"ok       snapshot: 1 table in " + data + " of 1 node", "a row was read"} {
		if r.code != exitDone || !strings.Contains(r.out, want) {
			t.Errorf("doctor: %v lacks %q", r, want)
		}
	}
}

func TestSnapshotsThatAreRefused(t *testing.T) {
	data := writeSnapshot(t, "oa/partitions")
	snapshot := filepath.Dir(find(t, data, "schema.cql")[0])
	table := filepath.Dir(filepath.Dir(snapshot))
	another := func(tag string) {
		if err := os.CopyFS(filepath.Join(table, "snapshots", tag), os.DirFS(snapshot)); err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(name string, code int, text, try string, args ...string) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		r := manifest(append([]string{"export", "--format", "jsonl", "--out", out, "--progress", "none"}, args...)...)
		if r.code != code || r.err == nil || !strings.Contains(describe(r.err), text) || !strings.Contains(describe(r.err), try) {
			t.Errorf("%s: %v, want code %d with %q and %q", name, r, code, text, try)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: something was published", name)
		}
	}
	refuse("no such folder", exitUsage, "no such file", "", "--snapshot", data+"/x", "--table", "ks.partitions")
	refuse("no such table", exitUsage, `of table "ks.partition"`, `"ks.partitions"`, "--snapshot", data, "--table", "ks.partition")
	refuse("hosts too", exitUsage, "give one of them", "", "--snapshot", data, "--hosts", "127.0.0.1", "--table", "ks.partitions")
	refuse("policy", exitUsage, "not fail or skip", "", "--snapshot", data, "--on-corrupt", "ignore", "--table", "ks.partitions")
	refuse("now", exitUsage, "--now", "", "--snapshot", data, "--now", "yesterday", "--table", "ks.partitions")
	refuse("no such tag", exitUsage, "there are the snapshots daily", "", "--snapshot", data, "--snapshot-tag", "weekly", "--table", "ks.partitions")
	refuse("a column that is not there", exitUsage, `"ckk"`, `"ck"`, "--snapshot", data, "--columns", "ckk", "--table", "ks.partitions")
	another("weekly")
	refuse("two snapshots", exitUsage, "several snapshots: daily, weekly", "--snapshot-tag", "--snapshot", data, "--table", "ks.partitions")
	if err := os.Rename(filepath.Join(table, "snapshots", "weekly"), filepath.Join(table, "snapshots", "dropped-1700000000000-partitions")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if r := manifest("export", "--snapshot", data, "--table", "ks.partitions", "--out", out, "--progress", "none"); r.code != exitDone {
		t.Errorf("beside a snapshot of a dropped table: %v", r)
	}
	if err := os.CopyFS(table, os.DirFS(snapshot)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(snapshot); err != nil {
		t.Fatal(err)
	}
	refuse("a running server's files", exitUsage, "a running server's files", "nodetool snapshot", "--snapshot", data, "--table", "ks.partitions")
}

// TestDamage flips a bit, cuts a file and removes one.
func TestDamage(t *testing.T) {
	change := func(path string, f func(b []byte) []byte) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, file, text string
		damage           func(path string)
	}{
		{"a bit of the rows", "oa-1-big-Data.db", ", offset ", func(p string) {
			change(p, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}},
		{"rows cut off", "oa-1-big-Data.db", ", offset ", func(p string) { change(p, func(b []byte) []byte { return b[:len(b)-100] }) }},
		{"a bit of the statistics", "oa-2-big-Statistics.db", ", offset ", func(p string) {
			change(p, func(b []byte) []byte { b[len(b)-9] ^= 1; return b })
		}},
		{"a file is missing", "oa-2-big-CompressionInfo.db", "missing SSTable component", func(p string) {
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		data := writeSnapshot(t, "oa/partitions")
		c.damage(find(t, data, c.file)[0])
		out := filepath.Join(t.TempDir(), "out")
		args := []string{"export", "--snapshot", data, "--table", "ks.partitions", "--format", "jsonl", "--out", out, "--progress", "none", "--log-level", "error"}
		r := manifest(args...)
		if r.code != exitFault || !strings.Contains(r.err.Error(), c.file) || !strings.Contains(r.err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, r)
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
			t.Errorf("%s: %v is left", c.name, left)
		}

		// What the other SSTable has comes out, and nobody can take it for all.
		r = manifest(append(args, "--on-corrupt", "skip")...)
		if r.code != exitIncomplete || !strings.Contains(r.out, "INCOMPLETE") || !strings.Contains(r.err.Error(), c.file) {
			t.Errorf("%s, skipped: %v", c.name, r)
		}
		kept := export.IncompleteDir(out)
		if got, want := exported(t, kept), rowsWithout(c.file[:len("oa-1")]); len(got) != want {
			t.Errorf("%s, skipped: %d rows, want %d", c.name, len(got), want)
		}
		if _, err := os.Stat(filepath.Join(kept, export.SuccessFile)); err == nil {
			t.Errorf("%s, skipped: there is a _SUCCESS", c.name)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s, skipped: something is under the name that was asked for", c.name)
		}
	}
}

// rowsWithout counts the rows that show without one of the SSTables of
// partitions.cql: by its statements, which write 320 rows less 19 that are
// deleted, and then 62 of them or new ones.
func rowsWithout(sstable string) int {
	if sstable == "oa-1" {
		return 41 + 21
	}
	return 200 + 60 + 60 - 19
}

// TestResumeTakesFilesAndMoment goes on with a run whose window had ended before
// it began: only over the same files, and as of the same moment.
func TestResumeTakesFilesAndMoment(t *testing.T) {
	data := writeSnapshot(t, "oa/expiring")
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"export", "--snapshot", data, "--table", "ks.expiring", "--columns", "pk,ck", "--format", "jsonl", "--out", out, "--progress", "none", "--log-level", "error"}
	r := manifest(append(args, "--now", "2023-11-14T22:13:29Z", "--until", "2020-01-01T00:00:00Z")...)
	stopped, ok := errors.AsType[*interruptedError](r.err)
	if r.code != exitIncomplete || !ok {
		t.Fatal(r)
	}
	resume := append(args, "--resume", stopped.run)
	if r := manifest(append(resume, "--now", "1700000010")...); r.code != exitUsage || !strings.Contains(r.err.Error(), "now") {
		t.Errorf("another moment: %v", r)
	}
	digest := find(t, data, "oa-2-big-Digest.crc32")[0]
	sum, err := os.ReadFile(digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(digest, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := manifest(resume...); r.code != exitUsage || !strings.Contains(r.err.Error(), "sstables") {
		t.Errorf("other files: %v", r)
	}
	if err := os.WriteFile(digest, sum, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := manifest(resume...); r.code != exitDone {
		t.Fatal(r)
	}
	// Cassandra read eight rows at that moment, in the third read of expiring.cql,
	// and has fewer ever since.
	all, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(exported(t, out)), len(all["oa/expiring"].Answers[2].Values); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
}

func TestSnapshotLs(t *testing.T) {
	data := writeSnapshot(t, "oa/partitions")
	r := manifest("snapshot", "ls", data, "--json")
	if r.code != exitDone {
		t.Fatal(r)
	}
	var listings []tableListing
	if err := json.Unmarshal([]byte(r.out), &listings); err != nil {
		t.Fatal(err)
	}
	// By the statements of partitions.cql.
	if len(listings) != 1 {
		t.Fatalf("%d tables", len(listings))
	}
	l := listings[0]
	if l.Keyspace != "ks" || l.Table != "partitions" || len(l.ID) != 32 || !slices.Equal(l.Tags, []string{"daily"}) || len(l.Nodes) != 1 || len(l.Nodes[0].Files) != 2 {
		t.Errorf("%+v", l)
	}
	first, second := l.Nodes[0].Files[0], l.Nodes[0].Files[1]
	if first.Partitions != 202 || second.Partitions != 42 || second.Rows != 62 || l.SSTables != 2 || !slices.Equal(l.Versions, []string{"oa"}) || l.Tombstones == 0 || l.MaxTTL != 0 {
		t.Errorf("%+v", l)
	}
	if l.From == nil || l.From.UnixMicro() != 1 || l.To.UnixMicro() != 2 {
		t.Errorf("written from %v to %v", l.From, l.To)
	}
	stored := find(t, data, "-Data.db")
	for i, f := range l.Nodes[0].Files {
		info, err := os.Stat(stored[i])
		if err != nil || f.Path != stored[i] || f.Stored != info.Size() {
			t.Errorf("%+v, %v", f, err)
		}
	}
	r = manifest("snapshot", "ls", data)
	if !strings.Contains(r.out, "ks.partitions  daily     1      2         oa") {
		t.Errorf("%v", r)
	}
	if err := os.Remove(find(t, data, "oa-2-big-Statistics.db")[0]); err != nil {
		t.Fatal(err)
	}
	if r := manifest("snapshot", "ls", data); r.code != exitFault || !strings.Contains(r.out, "oa-2-big-Statistics.db: missing SSTable component") || !strings.Contains(r.out, "ks.partitions  daily     1      1         oa") {
		t.Errorf("a file is missing: %v", r)
	}
	if r := manifest("snapshot", "ls"); r.code != exitUsage {
		t.Errorf("no folder: %v", r)
	}
}
