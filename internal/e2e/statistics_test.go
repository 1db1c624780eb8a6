package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// groupingCase is a grouping, in the binary's language and as the worker computes it.
type groupingCase struct {
	table      string
	by, agg    string
	keys       [][]string // expressions: a column, then perhaps "day", or "key" and a text
	aggregates []any      // function, then perhaps an expression, then perhaps ranks
	byToken    bool       // the groups come in token order
}

func key(expression ...string) []string { return expression }

func call(function string, arguments ...any) any { return append([]any{function}, arguments...) }

var groupingCases = []groupingCase{
	{table: "image_metadata", by: "attributes['region'] as region, day(capture_time)",
		agg:  "count, count(width), sum(width), avg(height), min(capture_time), max(object_key), distinct(content_hash), quantiles(width, 0.5, 0.9)",
		keys: [][]string{key("attributes", "key", "region"), key("capture_time", "day")},
		aggregates: []any{call("count"), call("count", key("width")), call("sum", key("width")), call("avg", key("height")), call("min", key("capture_time")),
			call("max", key("object_key")), call("distinct", key("content_hash")), call("quantiles", key("width"), []float64{0.5, 0.9})}},
	{table: "image_metadata", by: "image_id", agg: "count, max(width), distinct(object_store), quantiles(height, 0.5)", byToken: true,
		keys:       [][]string{key("image_id")},
		aggregates: []any{call("count"), call("max", key("width")), call("distinct", key("object_store")), call("quantiles", key("height"), []float64{0.5})}},
	{table: "image_metadata", by: "object_key", agg: "count, min(width), avg(width)",
		keys: [][]string{key("object_key")}, aggregates: []any{call("count"), call("min", key("width")), call("avg", key("width"))}},
	{table: "image_metadata", by: "", agg: "count, sum(width), avg(width), min(width), max(height), distinct(object_store)",
		aggregates: []any{call("count"), call("sum", key("width")), call("avg", key("width")), call("min", key("width")), call("max", key("height")),
			call("distinct", key("object_store"))}},
	{table: "nothing", by: "", agg: "count, sum(id), min(v), distinct(v)",
		aggregates: []any{call("count"), call("sum", key("id")), call("min", key("v")), call("distinct", key("v"))}},
	{table: "nothing", by: "v", agg: "count", keys: [][]string{key("v")}, aggregates: []any{call("count")}},
	{table: "device_daily_images", by: "device_id, day_bucket", agg: "count, min(capture_time), max(capture_time), distinct(content_hash)", byToken: true,
		keys:       [][]string{key("device_id"), key("day_bucket")},
		aggregates: []any{call("count"), call("min", key("capture_time")), call("max", key("capture_time")), call("distinct", key("content_hash"))}},
	{table: "device_daily_images", by: "day_bucket, object_store, device_id", agg: "count, avg(width)", byToken: true,
		keys: [][]string{key("day_bucket"), key("object_store"), key("device_id")}, aggregates: []any{call("count"), call("avg", key("width"))}},
	{table: "tag_image_index", by: "tag, device_id", agg: "count, distinct(image_id)",
		keys: [][]string{key("tag"), key("device_id")}, aggregates: []any{call("count"), call("distinct", key("image_id"))}},
	{table: "image_review_status", by: "status, reviewer", agg: "count, max(reviewed_at)",
		keys: [][]string{key("status"), key("reviewer")}, aggregates: []any{call("count"), call("max", key("reviewed_at"))}},
	{table: "wide", by: "n", agg: "count, min(c), max(v), sum(c), distinct(p)",
		keys: [][]string{key("n")}, aggregates: []any{call("count"), call("min", key("c")), call("max", key("v")), call("sum", key("c")), call("distinct", key("p"))}},
	{table: "wide", by: "p", agg: "count, sum(n), avg(c)", byToken: true,
		keys: [][]string{key("p")}, aggregates: []any{call("count"), call("sum", key("n")), call("avg", key("c"))}},
	{table: "scalars", by: "bo", agg: "count, count(t), sum(ti), sum(si), sum(i), sum(vi), sum(de), sum(f), sum(d), min(t), max(t), min(de), max(de), min(d), max(d), " +
		"min(f), max(f), min(ts), max(ts), min(da), max(da), distinct(t), avg(i)",
		keys: [][]string{key("bo")},
		aggregates: []any{call("count"), call("count", key("t")), call("sum", key("ti")), call("sum", key("si")), call("sum", key("i")), call("sum", key("vi")),
			call("sum", key("de")), call("sum", key("f")), call("sum", key("d")), call("min", key("t")), call("max", key("t")), call("min", key("de")),
			call("max", key("de")), call("min", key("d")), call("max", key("d")), call("min", key("f")), call("max", key("f")), call("min", key("ts")),
			call("max", key("ts")), call("min", key("da")), call("max", key("da")), call("distinct", key("t")), call("avg", key("i"))}},
	{table: "statics", by: "s", agg: "count, count(c), sum(n)",
		keys: [][]string{key("s")}, aggregates: []any{call("count"), call("count", key("c")), call("sum", key("n"))}},
	{table: "counters", by: "p", agg: "count, sum(hits), max(misses)", byToken: true,
		keys: [][]string{key("p")}, aggregates: []any{call("count"), call("sum", key("hits")), call("max", key("misses"))}},
	{table: "readings", by: "station, day", agg: "count, avg(value), sum(value), min(value), max(seq)", byToken: true,
		keys:       [][]string{key("station"), key("day")},
		aggregates: []any{call("count"), call("avg", key("value")), call("sum", key("value")), call("min", key("value")), call("max", key("seq"))}},
	{table: "image_metadata", by: "hour(capture_time)", agg: "count, quantiles(width)",
		keys:       [][]string{key("capture_time", "hour")},
		aggregates: []any{call("count"), call("quantiles", key("width"), []float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99})}},
	{table: "image_metadata", by: "day(image_id), month(upload_time)", agg: "count, avg(width)",
		keys: [][]string{key("image_id", "day"), key("upload_time", "month")}, aggregates: []any{call("count"), call("avg", key("width"))}},
	{table: "readings", by: "year(at), month(day)", agg: "count, max(value)",
		keys: [][]string{key("at", "year"), key("day", "month")}, aggregates: []any{call("count"), call("max", key("value"))}},
	{table: "keys_partition", by: "de", agg: "count, sum(vi), min(de)",
		keys: [][]string{key("de")}, aggregates: []any{call("count"), call("sum", key("vi")), call("min", key("de"))}},
	{table: "keys_empty_partition", by: "p, q", agg: "count", byToken: true, keys: [][]string{key("p"), key("q")}, aggregates: []any{call("count")}},
	{table: "scalars", by: "d, f", agg: "count, max(id)",
		keys: [][]string{key("d"), key("f")}, aggregates: []any{call("count"), call("max", key("id"))}},
	{table: "scalars", by: "u", agg: "count, avg(ti), avg(vi), distinct(vi), quantiles(ti, 0, 1)", keys: [][]string{key("u")},
		aggregates: []any{call("count"), call("avg", key("ti")), call("avg", key("vi")), call("distinct", key("vi")),
			call("quantiles", key("ti"), []float64{0, 1})}},
	{table: "udts", by: "fp.label, t.0", agg: "count, max(p.lat)", keys: [][]string{key("fp", "field", "label"), key("t", "field", "0")},
		aggregates: []any{call("count"), call("max", key("p", "field", "lat"))}},
	{table: "collections", by: "m['k']", agg: "count, distinct(fm['k'])", keys: [][]string{key("m", "key", "k")},
		aggregates: []any{call("count"), call("distinct", key("fm", "key", "k"))}},
	{table: "tags", by: "tag", agg: "count, sum(n)", keys: [][]string{key("tag")}, aggregates: []any{call("count"), call("sum", key("n"))}},
	{table: `"Select"`, by: `"Where", "ID"`, agg: `count, sum("a.b"), sum("été"), max("a""b")`,
		keys:       [][]string{key("Where"), key("ID")},
		aggregates: []any{call("count"), call("sum", key("a.b")), call("sum", key("été")), call("max", key(`a"b`))}},
}

// checkStatistics computes the named statistics and groupings, compares them with the worker's, and computes each again in another way,
// which must give the same bytes.
func (s *site) checkStatistics(t *testing.T, d draws) {
	t.Run("named", func(t *testing.T) { s.checkNamed(t, d) })
	for _, c := range groupingCases {
		t.Run(fmt.Sprintf("%s by %s", c.table, c.by), func(t *testing.T) {
			args := []string{"--table", s.flag(c.table), "--by", c.by, "--agg", c.agg}
			dir := s.statistics(t, d, s.rows[c.table], args...)
			if c.keys == nil {
				c.keys = [][]string{}
			}
			s.reportProblems(t, "compare_grouping", map[string]any{
				"dir": dir, "name": "groups", "table": s.full(c.table), "by": c.keys, "aggregates": c.aggregates, "ordered": !c.byToken,
			})
			if long() || d.IntN(3) == 0 {
				compareBytes(t, dir, s.statistics(t, d, s.rows[c.table], args...))
			}
		})
	}
}

func (s *site) checkNamed(t *testing.T, d draws) {
	dir := s.statistics(t, d, s.rows["tag_image_index"], "--keyspace", s.keyspace)
	s.reportProblems(t, "compare_named", map[string]any{
		"dir": dir, "metadata": s.full("image_metadata"), "device": s.full("device_daily_images"), "tag": s.full("tag_image_index"),
	})
	compareBytes(t, dir, s.statistics(t, d, s.rows["tag_image_index"], "--keyspace", s.keyspace))
}

// statistics runs the command in a random way and returns the directory of the results.
func (s *site) statistics(t *testing.T, d draws, rows int, args ...string) string {
	t.Helper()
	dir := filepath.Join(scratch(t), "out")
	flags := slices.Concat([]string{"stats", "--out", dir, "--progress", "none", "--memory", pick(d, "1KiB", "64KiB", "1MiB", "256MiB")}, d.reading(rows), args)
	if o := s.command(flags...).run(t); o.code != exitDone {
		t.Fatalf("statistics failed: %s", o)
	} else {
		t.Log(o.command)
	}
	return dir
}

// reportProblems asks the worker for a comparison.
func (s *site) reportProblems(t *testing.T, method string, params map[string]any) {
	t.Helper()
	answer := ask[struct{ Problems []string }](t, s.worker, method, params)
	for _, problem := range answer.Problems {
		t.Error(problem)
	}
}

// ledgerName is that of a ledger beside the results, which tells of splits and times.
var ledgerName = regexp.MustCompile(`^ledger-[0-9]+\.jsonl$`)

var runName = regexp.MustCompile(`part-[0-9A-Za-z-]+\.parquet$`)

// compareBytes checks that two runs gave the same results, byte for byte. Only the run's own name is in the names of files.
func compareBytes(t *testing.T, dirs ...string) {
	t.Helper()
	sums := make([]map[string]string, len(dirs))
	for i, dir := range dirs {
		sums[i] = map[string]string{}
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || entry.Name() == "run.json" || ledgerName.MatchString(entry.Name()) {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(content)
			name := runName.ReplaceAllString(strings.TrimPrefix(path, dir), "part-RUN.parquet")
			sums[i][name] = hex.EncodeToString(sum[:])
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums[0])) {
		if sums[0][name] != sums[1][name] {
			t.Errorf("%s differs between two runs over the same rows", name)
		}
	}
	if len(sums[0]) != len(sums[1]) {
		t.Errorf("one run has %d files, the other %d", len(sums[0]), len(sums[1]))
	}
}
