package queries

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
	"pgregory.net/rapid"
)

// The model groups rows in a map, row by row, and computes every aggregate from all values of a group at once.

// expression is one of the language, with its meaning for a row.
type expression struct {
	text string
	eval func(r map[string]any) any // int64, float64, string, time.Time (days marked by day), or nil
}

// day is a date, as it is written.
type day string

func dayOf(t time.Time) day { return day(t.Format(time.DateOnly)) }

func of(column string) func(map[string]any) any {
	return func(r map[string]any) any { return r[column] }
}

func mapAt(column, key string) func(map[string]any) any {
	return func(r map[string]any) any {
		m, _ := r[column].(map[string]any)
		return m[key]
	}
}

// startOf applies f to a time that is not NULL.
func startOf(column string, f func(t time.Time) any) func(map[string]any) any {
	return func(r map[string]any) any {
		t, ok := r[column].(time.Time)
		if !ok {
			return nil
		}
		return f(t)
	}
}

// compareModel is the order of keys.
func compareModel(a, b any) int {
	if a == nil || b == nil {
		return boolInt(a != nil) - boolInt(b != nil)
	}
	switch a := a.(type) {
	case int64:
		return cmp.Compare(a, b.(int64))
	case float64:
		b := b.(float64)
		if a != a || b != b {
			return boolInt(a != a) - boolInt(b != b)
		}
		return cmp.Compare(a, b)
	case string:
		return bytes.Compare([]byte(a), []byte(b.(string)))
	case day:
		return cmp.Compare(a, b.(day)) // All are in years of four digits.
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	panic(fmt.Sprintf("no order of %T", a))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// modelCell writes a value as cellText writes that of a result.
func modelCell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return "'" + v + "'"
	case day:
		return string(v)
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.999")
	}
	panic(fmt.Sprintf("no cell of %T", v))
}

// aggregate is an aggregate of an expression, with its meaning for the values that are not NULL.
type aggregate struct {
	text string
	arg  func(r map[string]any) any // nil for a count of rows
	eval func(values []any) any
}

func countModel(values []any) any { return int64(len(values)) }

func sumModel(values []any) any {
	if len(values) == 0 {
		return nil
	}
	sum, special := rationalSum(values)
	if _, isInt := values[0].(int64); isInt {
		return sum.Num().Int64()
	}
	return roundModel(sum, special)
}

func avgModel(values []any) any {
	if len(values) == 0 {
		return nil
	}
	sum, special := rationalSum(values)
	return roundModel(sum.Quo(sum, big.NewRat(int64(len(values)), 1)), special)
}

// rationalSum adds numbers exactly, but for those that are none, which it adds apart.
func rationalSum(values []any) (sum *big.Rat, special float64) {
	sum = new(big.Rat)
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			sum.Add(sum, new(big.Rat).SetInt64(v))
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				special += v
				continue
			}
			sum.Add(sum, new(big.Rat).SetFloat64(v))
		}
	}
	return sum, special
}

func roundModel(r *big.Rat, special float64) float64 {
	if special != 0 { // NaN is not 0 either.
		return special
	}
	f, _ := r.Float64()
	return f
}

func extremeModel(pick func([]any, func(a, b any) int) any) func([]any) any {
	return func(values []any) any {
		if len(values) == 0 {
			return nil
		}
		return pick(values, compareModel)
	}
}

var (
	minModel = extremeModel(slices.MinFunc[[]any])
	maxModel = extremeModel(slices.MaxFunc[[]any])
)

func distinctModel(values []any) any {
	different := map[string]bool{}
	for _, v := range values {
		different[modelCell(v)] = true
	}
	return int64(len(different))
}

// quantileModel is the library's own sketch.
func quantileModel(p float64) func([]any) any {
	return func(values []any) any {
		sketch, err := ddsketch.LogUnboundedDenseDDSketch(0.01)
		if err != nil {
			panic(err)
		}
		for _, v := range values {
			if n, ok := v.(int64); ok {
				v = float64(n)
			}
			if err := sketch.Add(v.(float64)); err != nil {
				panic(err)
			}
		}
		q, err := sketch.GetValueAtQuantile(p)
		if err != nil {
			return nil
		}
		return q
	}
}

// model groups rows and returns the rows of the result. Groups come by their keys; if byPartition, first by the number of their partition.
func model(rs rows, partitionOf []int, by []expression, aggs []aggregate, byPartition bool) []string {
	type group struct {
		keys      []any
		partition int
		rows      rows
	}
	groups := map[string]*group{}
	for i, r := range rs {
		var keys []any
		name := ""
		for _, e := range by {
			v := e.eval(r)
			if f, ok := v.(float64); ok && f == 0 {
				v = 0.0 // The zeros are one key.
			}
			keys = append(keys, v)
			name += modelCell(v) + "\x00"
		}
		if groups[name] == nil {
			groups[name] = &group{keys: keys, partition: partitionOf[i]}
		}
		groups[name].rows = append(groups[name].rows, r)
	}
	if len(by) == 0 && len(groups) == 0 {
		groups[""] = &group{}
	}
	sorted := make([]*group, 0, len(groups))
	for _, g := range groups {
		sorted = append(sorted, g)
	}
	slices.SortFunc(sorted, func(a, b *group) int {
		if byPartition && a.partition != b.partition {
			return a.partition - b.partition
		}
		return slices.CompareFunc(a.keys, b.keys, compareModel)
	})
	var lines []string
	for _, g := range sorted {
		var cells []string
		for _, v := range g.keys {
			cells = append(cells, modelCell(v))
		}
		for _, a := range aggs {
			var values []any
			for _, r := range g.rows {
				if a.arg == nil {
					values = append(values, r)
				} else if v := a.arg(r); v != nil {
					values = append(values, v)
				}
			}
			cells = append(cells, modelCell(a.eval(values)))
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return lines
}

// The table of the property test, the expressions that may be keys, and the aggregates.
func randomTable(t testing.TB) Table {
	return tableOf(t, "ks.random", "tag | text | partition_key", "bucket | date | partition_key", "n | int | clustering", "w | int | regular",
		"big | bigint | regular", "f | double | regular", "ts | timestamp | regular", "s | text | regular", "m | map<text, text> | regular")
}

var bucketDay = startOf("bucket", func(t time.Time) any { return dayOf(t) })

var keyExpressions = []expression{
	{"tag", of("tag")},
	{"bucket", bucketDay},
	{"w", of("w")},
	{"big", of("big")},
	{"f", of("f")},
	{"s", of("s")},
	{"ts", of("ts")},
	{"m['a']", mapAt("m", "a")},
	{"day(ts)", startOf("ts", func(t time.Time) any { return dayOf(t) })},
	{"hour(ts)", startOf("ts", func(t time.Time) any { return t.Truncate(time.Hour) })},
	{"month(bucket)", startOf("bucket", func(t time.Time) any { return day(t.Format("2006-01-01")) })},
	{"year(ts)", startOf("ts", func(t time.Time) any { return day(t.Format("2006") + "-01-01") })},
}

var aggregates = []aggregate{
	{"count", nil, countModel},
	{"count(s)", of("s"), countModel},
	{"sum(w)", of("w"), sumModel},
	{"avg(w)", of("w"), avgModel},
	{"sum(f)", of("f"), sumModel},
	{"avg(f)", of("f"), avgModel},
	{"avg(big)", of("big"), avgModel},
	{"min(w)", of("w"), minModel},
	{"max(big)", of("big"), maxModel},
	{"min(ts)", of("ts"), minModel},
	{"max(day(ts))", startOf("ts", func(t time.Time) any { return dayOf(t) }), maxModel},
	{"min(m['a'])", mapAt("m", "a"), minModel},
	{"max(s)", of("s"), maxModel},
	{"distinct(s)", of("s"), distinctModel},
	{"distinct(w)", of("w"), distinctModel},
	{"quantiles(w, 0.9)", of("w"), quantileModel(0.9)},
	{"quantiles(big, 0.5)", of("big"), quantileModel(0.5)},
}

// maybe is NULL one time in six.
func maybe[T any](t *rapid.T, name string, g *rapid.Generator[T]) any {
	if rapid.IntRange(0, 5).Draw(t, name+" is NULL") == 0 {
		return nil
	}
	return g.Draw(t, name)
}

var (
	textGen = rapid.SampledFrom([]string{"", "a", "b", "ab", "\x00", "ü"})
	timeGen = rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMilli(rapid.OneOf(rapid.Int64Range(-86_400_000, 86_400_000), rapid.Int64Range(1_700_000_000_000, 1_700_300_000_000)).Draw(t, "ms")).UTC()
	})
	floatGen = rapid.OneOf(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 0.1, 1e300, -1e300, math.NaN(), math.Inf(1)}), rapid.Float64Range(-5, 5))
)

// randomRows are rows in token order: partitions one after the other.
func randomRows(t *rapid.T) (rs rows, partitionOf []int) {
	for p := range rapid.IntRange(0, 8).Draw(t, "partitions") {
		tag, bucket := fmt.Sprintf("tag %d", 7*p%5), time.Date(2024, 1, 1+p/5*20, 0, 0, 0, 0, time.UTC)
		for n := range rapid.IntRange(1, 8).Draw(t, "rows") {
			row := map[string]any{
				"tag": tag, "bucket": bucket, "n": int64(n),
				"w": maybe(t, "w", rapid.Int64Range(-2, 3)), "big": maybe(t, "big", rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 2))),
				"f": maybe(t, "f", floatGen), "ts": maybe(t, "ts", timeGen), "s": maybe(t, "s", textGen),
			}
			if rapid.Bool().Draw(t, "has attributes") {
				row["m"] = map[string]any{"b": "x", "a": maybe(t, "a", textGen)}
			}
			rs, partitionOf = append(rs, row), append(partitionOf, p)
		}
	}
	return rs, partitionOf
}

// randomPlan deals rows to splits, without dividing a partition, and to records of any size.
func randomPlan(t *rapid.T, rs rows, partitionOf []int, shuffle bool) plan {
	p := plan{memory: rapid.SampledFrom([]int64{1, 3_000, 0}).Draw(t, "memory"), attempt: rapid.Bool().Draw(t, "attempt")}
	splits := []rows{nil}
	for i, r := range rs {
		if i > 0 && partitionOf[i] != partitionOf[i-1] && rapid.IntRange(0, 2).Draw(t, "new split") == 0 {
			splits = append(splits, nil)
		}
		splits[len(splits)-1] = append(splits[len(splits)-1], r)
	}
	for i, s := range splits {
		var records []rows
		for len(s) > 0 {
			n := rapid.IntRange(0, len(s)).Draw(t, "record")
			records, s = append(records, s[:n]), s[n:]
		}
		p.splits = append(p.splits, records)
		p.order = append(p.order, i)
	}
	if shuffle {
		p.order = rapid.Permutation(p.order).Draw(t, "order of merging")
	}
	return p
}

// Whatever the splits, the records, the memory, attempts that came to nothing and, for results by key, the order of merging: the result
// is that of the model, and the same bytes.
func TestAnyPlanGivesTheModelsResult(t *testing.T) {
	table := randomTable(t)
	rapid.Check(t, func(rt *rapid.T) {
		by := rapid.SliceOfNDistinct(rapid.SampledFrom(keyExpressions), 0, 4, func(e expression) string { return e.text }).Draw(rt, "by")
		aggs := rapid.SliceOfNDistinct(rapid.SampledFrom(aggregates), 1, 5, func(a aggregate) string { return a.text }).Draw(rt, "aggregates")
		var spec [2][]string
		holds := map[string]bool{}
		for _, e := range by {
			spec[0] = append(spec[0], e.text)
			holds[e.text] = true
		}
		for _, a := range aggs {
			spec[1] = append(spec[1], a.text)
		}
		q, err := Compile(table, Spec{By: strings.Join(spec[0], ", "), Agg: strings.Join(spec[1], ", ")})
		if err != nil {
			rt.Fatal(err)
		}
		byPartition := holds["tag"] && holds["bucket"]
		if q.Streams() != byPartition {
			rt.Fatalf("streams: %t", q.Streams())
		}
		rs, partitionOf := randomRows(rt)
		want := model(rs, partitionOf, by, aggs, byPartition)
		var first outcome
		for i := range 2 {
			got, err := randomPlan(rt, rs, partitionOf, !byPartition).run(t, q, table)
			if err != nil {
				rt.Fatal(err)
			}
			if !slices.Equal(got.tables["groups"], want) {
				rt.Fatalf("%s gives\n%s\nwant\n%s", q, strings.Join(got.tables["groups"], "\n"), strings.Join(want, "\n"))
			}
			if i == 0 {
				first = got
			} else if !bytes.Equal(got.bytes, first.bytes) {
				rt.Fatalf("%s gives other bytes", q)
			}
		}
	})
}

// Many blocks, many groups and large partitions, with memory for some of it.
func TestLargePartsGiveTheModelsResult(t *testing.T) {
	table := randomTable(t)
	var rs rows
	var partitionOf []int
	for p, size := range []int{30_000, 1, 1, 9_000, 4096, 2, 15_000} {
		for i := range size {
			x := mix(uint64(p*100_000 + i))
			rs = append(rs, map[string]any{
				"tag": fmt.Sprintf("tag %d", 7*p%5), "bucket": time.Date(2024, 1, 1+p/5*20, 0, 0, 0, 0, time.UTC), "n": int64(i),
				"w": int64(x % 2000), "big": int64(x >> 20), "f": float64(x%1000) / 7, "s": fmt.Sprintf("%x", x%20_000),
			})
			partitionOf = append(partitionOf, p)
		}
	}
	records := slices.Collect(slices.Chunk(rs, 7000))
	for _, tc := range []struct {
		by   []expression
		aggs []int
	}{
		{[]expression{{"w", of("w")}}, []int{0, 2, 6, 12}},
		{[]expression{{"bucket", bucketDay}, {"w", of("w")}, {"tag", of("tag")}}, []int{0, 4, 6, 15}},
		{[]expression{{"bucket", bucketDay}, {"tag", of("tag")}}, []int{0, 4, 14, 8}},
		{[]expression{{"bucket", bucketDay}, {"big", of("big")}}, []int{0, 12}},
	} {
		var spec [2][]string
		var aggs []aggregate
		for _, e := range tc.by {
			spec[0] = append(spec[0], e.text)
		}
		for _, i := range tc.aggs {
			aggs = append(aggs, aggregates[i])
			spec[1] = append(spec[1], aggregates[i].text)
		}
		q, err := Compile(table, Spec{By: strings.Join(spec[0], ", "), Agg: strings.Join(spec[1], ", ")})
		if err != nil {
			t.Fatal(err)
		}
		want := model(rs, partitionOf, tc.by, aggs, q.Streams())
		for _, memory := range []int64{0, 1 << 20, 100_000} {
			got, err := plan{memory: memory, splits: [][]rows{records}}.run(t, q, table)
			if err != nil {
				t.Fatal(err)
			}
			if i := firstDifference(got.tables["groups"], want); i >= 0 {
				t.Fatalf("%s in %d bytes: %d rows, want %d; row %d is\n%s, want\n%s", q, memory, len(got.tables["groups"]), len(want), i,
					slices.Concat(got.tables["groups"], []string{"none"})[i], slices.Concat(want, []string{"none"})[i])
			}
		}
	}
}

// firstDifference returns the first row in which a and b differ, -1 if none.
func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= min(len(a), len(b)) || a[i] != b[i] {
			return i
		}
	}
	return -1
}
