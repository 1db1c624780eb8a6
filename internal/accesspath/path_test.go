package accesspath

import (
	"errors"
	"testing"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/selection"
	"manifest/tokenrange"
)

func TestFewOrMostPartitionsAreWanted(t *testing.T) {
	ranges := tokenrange.Murmur3.Ring().Split(maxList + 1)
	for _, c := range []struct {
		wanted, all int
		kind        Kind
		ranges      int
	}{{0, 500, DistinctThenRead, 1}, {10, 500, DistinctThenRead, 10}, {90, 100, DistinctThenRead, 90}, {400, 500, FullScan, 0}, {maxList + 1, 1 << 30, FullScan, 0}} {
		path := Path{Kind: DistinctThenRead}.Narrow(ranges[:min(c.wanted, maxList)], int64(c.wanted), int64(c.all), tokenrange.Murmur3)
		if path.Kind != c.kind || len(path.Ranges) != c.ranges {
			t.Errorf("%d of %d: %s of %d ranges", c.wanted, c.all, path.Kind, len(path.Ranges))
		}
	}
}

func day(n int32) *selection.Day { d := selection.Day(n); return &d }

func tableOf(clustering bool, keys ...*cqltype.Type) *schema.Table {
	t := &schema.Table{Keyspace: "ks", Name: "t"}
	for i, typ := range keys {
		t.Columns = append(t.Columns, schema.Column{Name: string(rune('a' + i)), Kind: schema.PartitionKey, Type: typ})
	}
	if clustering {
		t.Columns = append(t.Columns, schema.Column{Name: "c", Kind: schema.Clustering, Type: &cqltype.Type{Kind: cqltype.Int}})
	}
	return t
}

func TestPathsOfTables(t *testing.T) {
	text, date, double := &cqltype.Type{Kind: cqltype.Text}, &cqltype.Type{Kind: cqltype.Date}, &cqltype.Type{Kind: cqltype.Double}
	list := tokenrange.Murmur3.Ring().Split(3)
	for _, c := range []struct {
		name    string
		table   *schema.Table
		where   string
		list    []tokenrange.Range
		options Options
		want    Kind // empty where it is refused
	}{
		{"a list", tableOf(true, text, date), "a = 'x'", list, Options{Distinct: true}, PartitionList},
		{"a list of most", tableOf(true, text, date), "a = 'x'", list, Options{Distinct: true, Partitions: 3}, FullScan},
		{"a condition on the key", tableOf(true, text, date), "a = 'x' AND c > 2", nil, Options{Distinct: true}, DistinctThenRead},
		{"no condition on the key alone", tableOf(true, text, date), "a = 'x' OR c > 2", nil, Options{Distinct: true}, FullScan},
		{"no distinct keys", tableOf(true, text, date), "a = 'x'", nil, Options{}, FullScan},
		{"as many keys as rows", tableOf(false, text), "a = 'x'", nil, Options{Distinct: true}, FullScan},
		{"as many keys as rows, asked for", tableOf(false, text), "a = 'x'", nil, Options{Distinct: true, Forced: DistinctThenRead}, DistinctThenRead},
		{"tokens that are not computed", tableOf(true, double), "a > 1", nil, Options{Distinct: true}, FullScan},
		{"tokens that are not computed, asked for", tableOf(true, double), "a > 1", nil, Options{Distinct: true, Forced: DistinctThenRead}, ""},
		{"no list, asked for", tableOf(true, text), "a > 'x'", nil, Options{Distinct: true, Forced: PartitionList}, ""},
		{"a scan, asked for", tableOf(true, text), "a = 'x'", list, Options{Distinct: true, Forced: FullScan}, FullScan},
	} {
		where, err := selection.ParseWhere(c.where)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := KeyFilter(c.table, where)
		if err != nil {
			t.Fatal(err)
		}
		path, err := Choose(c.table, c.list, "because", keys, c.options)
		if path.Kind != c.want || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, ErrImpossible) {
			t.Errorf("%s: %s, since %q, %v", c.name, path.Kind, path.Why, err)
		}
	}
}

func TestListsNeedTheKey(t *testing.T) {
	text, date := &cqltype.Type{Kind: cqltype.Text}, &cqltype.Type{Kind: cqltype.Date}
	names := []selection.Pattern{selection.ParsePattern("x"), selection.ParsePattern("y")}
	for _, c := range []struct {
		table *schema.Table
		names []selection.Pattern
		days  Days
		want  int
	}{
		{tableOf(true, text, date), names, Days{day(10), day(12)}, 6},
		{tableOf(true, text, date), append(names[:2:2], names[0]), Days{day(10), day(10)}, 2},
		{tableOf(true, text, date), names, Days{day(10), nil}, 0},
		{tableOf(true, text, date), names, Days{day(12), day(10)}, 0},
		{tableOf(true, text, date), names, Days{day(0), day(maxList)}, 0},
		{tableOf(true, text, date), nil, Days{day(10), day(10)}, 0},
		{tableOf(true, text, date), []selection.Pattern{selection.ParsePattern("x*")}, Days{day(10), day(10)}, 0},
		{tableOf(true, text, text), names, Days{day(10), day(10)}, 0},
		{tableOf(true, text), names, Days{day(10), day(10)}, 0},
		{tableOf(true, text, date, date), names, Days{day(10), day(10)}, 0},
	} {
		ranges, why := ListDays(c.table, "names", "a", c.names, "b", c.days, tokenrange.Murmur3)
		if len(ranges) != c.want || why == "" {
			t.Errorf("%v of %d names: %d ranges, since %q", c.days, len(c.names), len(ranges), why)
		}
	}
}
