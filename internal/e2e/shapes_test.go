package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkShapes exports with the settings by which types look another way.
func (s *site) checkShapes(t *testing.T) {
	flags := map[string]string{"uuid": "--uuid", "map": "--map-as", "time": "--time-unit"}
	for _, c := range []struct {
		shape           map[string]string
		tables, formats []string
	}{
		{map[string]string{"uuid": "binary", "map": "map", "time": "nanos"}, []string{"scalars", "collections", "collections_of"}, []string{"parquet", "arrow", "jsonl"}},
		{map[string]string{"map": "json"}, []string{"collections_of", "image_metadata"}, []string{"parquet", "arrow", "jsonl", "csv"}},
	} {
		var settings []string
		for name, value := range c.shape {
			settings = append(settings, flags[name], value)
		}
		for _, table := range c.tables {
			for _, format := range c.formats {
				e := exported{table: table, format: format, shape: c.shape, dirs: []string{filepath.Join(scratch(t), "out")}}
				e.commands = []string{s.export(t, e, e.dirs[0], settings...)}
				s.compare(t, e)
			}
		}
	}
}

// checkUnfit exports values that Parquet's types do not hold.
func (s *site) checkUnfit(t *testing.T) {
	session, err := s.cluster.Session(s.keyspace)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS far (id text PRIMARY KEY, ts timestamp, tm time, da date)",
		"INSERT INTO far (id, ts, tm, da) VALUES ('last', 9223372036854775807, '23:59:59.999999999', 2147483648)",
		"INSERT INTO far (id, ts, tm, da) VALUES ('first', -9223372036854775808, '00:00:00.000000001', 0)",
		"INSERT INTO far (id, ts, tm, da) VALUES ('near', 9223372036854775, '00:00:00.000001', 4294967295)",
	} {
		if err := session.Query(statement).WithContext(t.Context()).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	s.read(t, "far")
	for _, format := range []string{"jsonl", "csv"} {
		e := exported{table: "far", format: format, dirs: []string{filepath.Join(scratch(t), "out")}}
		e.commands = []string{s.export(t, e, e.dirs[0])}
		s.compare(t, e)
	}
	for _, c := range []struct {
		flags  []string
		column string
		unfit  map[string]int64
	}{
		{flags: nil, column: "ts", unfit: map[string]int64{"ts": 2}},
		{flags: []string{"--time-unit", "micros", "--columns", "id,tm"}, column: "tm", unfit: map[string]int64{"tm": 2}},
	} {
		parent := scratch(t)
		out := filepath.Join(parent, "out")
		export := append([]string{"export", "--table", s.flag("far"), "--out", out, "--progress", "none"}, c.flags...)
		o := s.command(export...).run(t)
		partition := strings.Contains(o.stderr, "first") || strings.Contains(o.stderr, "last")
		if o.code != exitFault || !strings.Contains(o.stderr, c.column) || !partition {
			t.Errorf("want exit code %d, the column and the partition: %s", exitFault, o)
		}
		if left := list(t, parent); len(left) > 0 {
			t.Errorf("of a run that cannot go on is left: %q", left)
		}
		for _, unfit := range []string{"null", "clamp"} {
			if o := s.command(slices.Concat(export, []string{"--overwrite", "--unfit", unfit})...).run(t); o.code != exitDone {
				t.Errorf("--unfit %s: %s", unfit, o)
				continue
			}
			content, err := os.ReadFile(filepath.Join(out, "manifest.json"))
			if err != nil {
				t.Fatal(err)
			}
			var manifest struct{ Unfit map[string]int64 }
			if err := json.Unmarshal(content, &manifest); err != nil {
				t.Fatal(err)
			}
			if manifest.Unfit[c.column] != c.unfit[c.column] {
				t.Errorf("--unfit %s: manifest.json counts %v, want %v", unfit, manifest.Unfit, c.unfit)
			}
		}
	}
}
