package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkExtras checks what is promised beside the rows.
func (s *site) checkExtras(t *testing.T) {
	t.Run("the comparison finds what differs", func(t *testing.T) { s.checkComparison(t) })
	t.Run("write times and times to live", func(t *testing.T) { s.checkWriteTimes(t) })
	t.Run("one plan, the same bytes", func(t *testing.T) { s.checkSameBytes(t) })
	t.Run("statistics replace those of their days", func(t *testing.T) { s.checkStatisticsAgain(t) })
	t.Run("results as JSON", func(t *testing.T) { s.checkJSON(t) })
	t.Run("doctor", func(t *testing.T) { s.checkDoctor(t) })
	t.Run("plan", func(t *testing.T) { s.checkPlan(t) })
	t.Run("types by setting", func(t *testing.T) { s.checkShapes(t) })
	t.Run("values that do not fit", func(t *testing.T) { s.checkUnfit(t) })
}

// checkComparison compares what is not the same.
func (s *site) checkComparison(t *testing.T) {
	dir := filepath.Join(scratch(t), "out")
	s.export(t, exported{table: "tags", format: "jsonl"}, dir, "--where", "n != 3")
	compare := func(where string) comparison {
		return ask[comparison](t, s.worker, "compare", map[string]any{"table": s.full("tags"), "dirs": []string{dir}, "format": "jsonl", "where": where})
	}
	if c := compare(""); len(c.Missing) != 1 || len(c.Extra) != 0 || c.InOrder {
		t.Errorf("a row is missing: %+v", c)
	}
	if c := compare("r['n'] not in (3, 4)"); len(c.Missing) != 0 || len(c.Extra) != 1 || c.InOrder {
		t.Errorf("a row is too many: %+v", c)
	}
	if c := compare("r['n'] != 3"); len(c.Missing)+len(c.Extra) != 0 || !c.InOrder {
		t.Errorf("the same rows: %+v", c)
	}
	stats := filepath.Join(scratch(t), "out")
	if o := s.command("stats", "--table", s.flag("tags"), "--by", "tag", "--agg", "sum(n)", "--out", stats, "--progress", "none").run(t); o.code != exitDone {
		t.Fatal(o)
	}
	answer := ask[struct{ Problems []string }](t, s.worker, "compare_grouping", map[string]any{"dir": stats, "name": "groups", "table": s.full("tags"),
		"by": [][]string{key("tag")}, "aggregates": []any{call("max", key("n")), call("count")}, "ordered": true})
	if len(answer.Problems) == 0 {
		t.Error("no problem with another aggregate")
	}
}

// checkWriteTimes compares writetime(column) with the other client's. Times to live go by: between two looks of the other client.
func (s *site) checkWriteTimes(t *testing.T) {
	e := exported{table: "ttls", format: "jsonl", dirs: []string{filepath.Join(scratch(t), "out")}, columns: []string{"id", "writetime(plain)", "writetime(long)"}}
	e.commands = []string{s.export(t, e, e.dirs[0], "--columns", strings.Join(e.columns, ","))}
	// Under this name the worker keeps the table with these columns.
	ask[struct{}](t, s.worker, "read", map[string]any{"table": s.full(e.table), "columns": strings.Join(e.columns, ", "), "name": "write times"})
	s.compareWith(t, e, "write times")

	const lives = "SELECT id, ttl(long) FROM "
	type shown struct{ Rows [][]*int64 }
	before := ask[shown](t, s.worker, "look", map[string]any{"statement": lives + s.full("ttls")})
	dir := filepath.Join(scratch(t), "out")
	s.export(t, e, dir, "--columns", "id,ttl(long)")
	after := ask[shown](t, s.worker, "look", map[string]any{"statement": lives + s.full("ttls")})
	rows := map[int64]*int64{}
	for line := range strings.Lines(readData(t, dir, "jsonl")) {
		var row struct {
			ID  int64  `json:"id"`
			TTL *int64 `json:"ttl(long)"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows[row.ID] = row.TTL
	}
	for i, row := range before.Rows {
		id, high, low := *row[0], row[1], after.Rows[i][1]
		got := rows[id]
		if (got == nil) != (high == nil) || got != nil && (*got > *high || *got < *low) {
			t.Errorf("ttl of row %d: %v, want between %v and %v", id, got, low, high)
		}
	}
}

// readData returns the content of all data files, in their order.
func readData(t testing.TB, dir, format string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "data", "*."+format))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	var all strings.Builder
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}

// checkSameBytes exports with the same splits, but otherwise differently: the files must be the same.
func (s *site) checkSameBytes(t *testing.T) {
	for _, format := range []string{"parquet", "arrow", "csv", "jsonl"} {
		var first map[string]string
		for _, flags := range [][]string{{"--workers", "1", "--page-size", "5000", "--seed", "1"}, {"--workers", "9", "--page-size", "61", "--seed", "2"}} {
			dir := filepath.Join(scratch(t), "out")
			e := exported{table: "image_metadata", format: format}
			s.export(t, e, dir, append(flags, "--splits", "23", "--shards", "3")...)
			sums := dataSums(t, dir)
			if first == nil {
				first = sums
			}
			for name, sum := range first {
				if sums[name] != sum {
					t.Errorf("%s differs with %q", name, flags)
				}
			}
		}
	}
}

// dataSums returns the checksums of the data files, as SHA256SUMS lists them.
func dataSums(t testing.TB, dir string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if sum, name, _ := strings.Cut(strings.TrimSpace(line), "  "); strings.HasPrefix(name, "data/") {
			sums[name] = sum
		}
	}
	if len(sums) == 0 {
		t.Fatalf("no data files in %s", dir)
	}
	return sums
}

// checkStatisticsAgain computes statistics twice into one directory: the views must not count twice.
func (s *site) checkStatisticsAgain(t *testing.T) {
	out := filepath.Join(scratch(t), "out")
	for range 2 {
		if o := s.command("stats", "--keyspace", s.keyspace, "--out", out, "--progress", "none").run(t); o.code != exitDone {
			t.Fatalf("statistics failed: %s", o)
		}
	}
	s.reportProblems(t, "compare_named", map[string]any{
		"dir": out, "metadata": s.full("image_metadata"), "device": s.full("device_daily_images"), "tag": s.full("tag_image_index"),
	})
}

func (s *site) checkDoctor(t *testing.T) {
	o := s.command("doctor", "--keyspace", s.keyspace, "--json").run(t)
	if o.code != exitDone {
		t.Fatalf("doctor: %s", o)
	}
	var findings []struct{ Check, Status string }
	if err := json.Unmarshal([]byte(o.stdout), &findings); err != nil {
		t.Fatalf("%v: %s", err, o)
	}
	for _, want := range append([]string{"connection"}, imageTables...) {
		found := slices.ContainsFunc(findings, func(f struct{ Check, Status string }) bool { return strings.Contains(f.Check, want) })
		if !found {
			t.Errorf("no finding about %s: %s", want, o)
		}
	}
	for _, f := range findings {
		if f.Status == "fault" {
			t.Errorf("fault on a healthy cluster: %+v", f)
		}
	}
	o = s.command("doctor", "--keyspace", s.keyspace, "--table", "image_metadat", "--json").run(t)
	if o.code != exitUsage || !strings.Contains(o.stderr, "image_metadat") || !strings.Contains(o.stdout, `"fault"`) {
		t.Errorf("doctor about a table that does not exist: want exit code %d and a fault: %s", exitUsage, o)
	}
}

// checkPlan checks that a plan tiles the ring exactly once, by arithmetic of our own.
func (s *site) checkPlan(t *testing.T) {
	for _, splits := range []string{"1", "16", "100"} {
		o := s.command("plan", "--table", s.flag("image_metadata"), "--splits", splits, "--json").run(t)
		if o.code != exitDone {
			t.Fatalf("plan: %s", o)
		}
		ranges := plannedRanges(t, o)
		slices.SortFunc(ranges, func(a, b [2]int64) int {
			if a[0] < b[0] {
				return -1
			}
			return 1
		})
		at := int64(-1 << 63)
		for _, r := range ranges {
			if r[0] != at || r[1] <= r[0] {
				t.Fatalf("range (%d, %d] after %d: %s", r[0], r[1], at, o.command)
			}
			at = r[1]
		}
		if at != 1<<63-1 {
			t.Errorf("the plan ends at %d: %s", at, o.command)
		}
	}
}

// checkJSON reads what the commands print with --json: one object, and nothing else on standard output.
func (s *site) checkJSON(t *testing.T) {
	out := scratch(t)
	for _, args := range [][]string{
		{"export", "--table", s.flag("image_metadata"), "--out", filepath.Join(out, "export"), "--json", "--progress", "plain"},
		{"stats", "--keyspace", s.keyspace, "--out", filepath.Join(out, "stats"), "--json", "--progress", "plain", "--log-level", "debug"},
	} {
		o := s.command(args...).run(t)
		var result map[string]any
		if err := json.Unmarshal([]byte(o.stdout), &result); o.code != exitDone || err != nil || len(result) == 0 {
			t.Errorf("want one JSON object: %v: %s", err, o)
		}
		if args[0] == "export" && result["rows"] != float64(s.rows["image_metadata"]) {
			t.Errorf("want %d rows: %s", s.rows["image_metadata"], o)
		}
	}
}
