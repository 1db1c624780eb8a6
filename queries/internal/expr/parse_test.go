package expr

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func column(name string, steps ...Step) Path { return Path{Column: name, Steps: steps} }

func TestParseBy(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []Key
	}{
		{"nothing", " ", nil},
		{"column", "device_id", []Key{{Expr{Path: column("device_id")}, "device_id", 0}}},
		{"folded to lower case", "Device_ID", []Key{{Expr{Path: column("device_id")}, "device_id", 0}}},
		{"mixed case", `"MixedCase"`, []Key{{Expr{Path: column("MixedCase")}, "MixedCase", 0}}},
		{"quote in a name", `"a""b"`, []Key{{Expr{Path: column(`a"b`)}, `a"b`, 0}}},
		{"function", "day(capture_time)", []Key{{Expr{Day, column("capture_time")}, "capture_time_day", 0}}},
		{"function in upper case and spaces", "DAY ( t )", []Key{{Expr{Day, column("t")}, "t_day", 0}}},
		{"column called like a function", "day, count", []Key{{Expr{Path: column("day")}, "day", 0}, {Expr{Path: column("count")}, "count", 5}}},
		{"map key", "attributes['region']", []Key{{Expr{Path: column("attributes", Step{Key: "region"})}, "attributes_region", 0}}},
		{"quote in a map key", "m['it''s']", []Key{{Expr{Path: column("m", Step{Key: "it's"})}, "m_it's", 0}}},
		{"empty map key", "m['']", []Key{{Expr{Path: column("m", Step{})}, "m_", 0}}},
		{"Unicode map key", "m['葉']", []Key{{Expr{Path: column("m", Step{Key: "葉"})}, "m_葉", 0}}},
		{"integer map key", "m[-05]", []Key{{Expr{Path: column("m", Step{Key: "-5", Integer: true})}, "m_-5", 0}}},
		{"fields", `place.Pos."X".1`, []Key{{Expr{Path: column("place", Step{Field: "pos"}, Step{Field: "X"}, Step{Field: "1"})}, "place_pos_X_1", 0}}},
		{"named", `a as b, c AS "D e"`, []Key{{Expr{Path: column("a")}, "b", 0}, {Expr{Path: column("c")}, "D e", 8}}},
		{"column called as", "as as as", []Key{{Expr{Path: column("as")}, "as", 0}}},
		{"write time", `writetime("W"), ttl(w)`, []Key{{Expr{WriteTime, column("W")}, "W_writetime", 0}, {Expr{TTL, column("w")}, "w_ttl", 16}}},
		{
			"the example of the manual", "device_id,day(capture_time),attributes['region'],width",
			[]Key{
				{Expr{Path: column("device_id")}, "device_id", 0},
				{Expr{Day, column("capture_time")}, "capture_time_day", 10},
				{Expr{Path: column("attributes", Step{Key: "region"})}, "attributes_region", 28},
				{Expr{Path: column("width")}, "width", 49},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseBy(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseAgg(t *testing.T) {
	got, err := ParseAgg("count, count(*), COUNT ( ), count(x), sum(width) as total, min(day(t)), distinct(m['k']), quantiles(w, 0.5, .999, 1)")
	if err != nil {
		t.Fatal(err)
	}
	want := []Agg{
		{Func: "count", Rows: true, As: "count", Offset: 0},
		{Func: "count", Rows: true, As: "count", Offset: 7},
		{Func: "count", Rows: true, As: "count", Offset: 17},
		{Func: "count", Arg: Expr{Path: column("x")}, As: "x_count", Offset: 28},
		{Func: "sum", Arg: Expr{Path: column("width")}, As: "total", Offset: 38},
		{Func: "min", Arg: Expr{Day, column("t")}, As: "t_day_min", Offset: 59},
		{Func: "distinct", Arg: Expr{Path: column("m", Step{Key: "k"})}, As: "m_k_distinct", Offset: 72},
		{Func: "quantiles", Arg: Expr{Path: column("w")}, Params: []float64{0.5, 0.999, 1}, As: "w", Offset: 90},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("aggregates (-want +got):\n%s", diff)
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		parse      string
		offset     int
		reason     string
	}{
		{"nothing after a comma", "a,", "by", 2, "expected a column, found the end"},
		{"no comma", "a b", "by", 2, `expected "," or the end, found "b"`},
		{"leading digit", "a, 9b", "by", 3, `expected a column, found "9"`},
		{"Unicode name without quotes", "größe", "by", 2, `expected "," or the end, found "ö"`},
		{"unknown function", "a, week(t)", "by", 3, `unknown function "week", known are hour, day, month, year, writetime, ttl`},
		{"aggregate among keys", "sum(x)", "by", 0, "sum is an aggregate, which has its place in the list of aggregates"},
		{"function of nothing", "day()", "by", 4, `expected a column, found ")"`},
		{"function not closed", "day(t", "by", 5, `expected ")", found the end`},
		{"function of a function", "day(hour(t))", "by", 8, `expected ")", found "("`},
		{"name not closed", `a, "b`, "by", 3, `the quote " is not closed`},
		{"empty name", `""`, "by", 0, "the name is empty"},
		{"key not closed", "m[ 'k", "by", 3, "the quote ' is not closed"},
		{"key without quotes", "m[k]", "by", 2, `expected a key in single quotes or a 64-bit integer, found "k"`},
		{"key beyond 64 bits", "m[9223372036854775808]", "by", 2, `expected a key in single quotes or a 64-bit integer, found "9"`},
		{"bracket not closed", "m['k'", "by", 5, `expected "]", found the end`},
		{"no field", "a.", "by", 2, "expected a field, found the end"},
		{"no name after as", "a as ,", "by", 5, `expected a name, found ","`},
		{"write time of a part", "writetime(m['k'])", "by", 10, "writetime takes a whole column"},
		{"not UTF-8", "a, \xff", "by", 3, "not UTF-8"},
		{"column among aggregates", "width", "agg", 0, `expected an aggregate such as count or sum(column), found "w"`},
		{"unknown aggregate", "count, mean(x)", "agg", 7, `unknown aggregate "mean", known are count, sum, avg, min, max, distinct, quantiles`},
		{"sum of everything", "sum(*)", "agg", 4, `expected a column, found "*"`},
		{"star and more", "count(*x)", "agg", 7, `expected ")", found "x"`},
		{"quantile above 1", "quantiles(x, 95)", "agg", 13, `expected a number from 0 to 1, found "9"`},
		{"parameter of a sum", "sum(x, 1)", "agg", 5, `expected ")", found ","`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var err error
			if tc.parse == "by" {
				_, err = ParseBy(tc.text)
			} else {
				_, err = ParseAgg(tc.text)
			}
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error %v, want a SyntaxError", err)
			}
			if want := (&SyntaxError{tc.text, tc.offset, tc.reason}); *syntax != *want {
				t.Errorf("error\n\t%v\nwant\n\t%v", syntax, want)
			}
		})
	}
}

// checkCanonical fails unless the canonical text of what was parsed reads back as the same.
func checkCanonical(t *testing.T, text string) {
	t.Helper()
	keys, err := ParseBy(text)
	var syntax *SyntaxError
	if errors.As(err, &syntax) && (syntax.Offset < 0 || syntax.Offset > len(text)) {
		t.Fatalf("offset %d of an error in a text of %d bytes", syntax.Offset, len(text))
	}
	if err != nil {
		return
	}
	var canonical []string
	for i := range keys {
		keys[i].Offset = 0
		canonical = append(canonical, keys[i].Expr.String()+" as "+Quote(keys[i].As))
	}
	again, err := ParseBy(strings.Join(canonical, ","))
	if err != nil {
		t.Fatalf("%q gave %q: %v", text, canonical, err)
	}
	for i := range again {
		again[i].Offset = 0
	}
	if diff := cmp.Diff(keys, again); diff != "" {
		t.Errorf("%q as %q (-first +second):\n%s", text, canonical, diff)
	}
}

func FuzzParseBy(f *testing.F) {
	for _, seed := range []string{
		"", "a", `"A""b" as "c d"`, "day(t), m['it''s'], m[-7], p.q.0", "as as as", "writetime(x)", "a,,b", "day(", "m['", "\xff", "größe",
	} {
		f.Add(seed)
	}
	f.Fuzz(checkCanonical)
}

func FuzzParseAgg(f *testing.F) {
	for _, seed := range []string{"count", "count(*)", "sum(a) as b, quantiles(x, 0.5, 1)", "quantiles(x, .)", "distinct(m['k'])", "sum(day("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		aggs, err := ParseAgg(text)
		if err != nil {
			return
		}
		for _, a := range aggs {
			again, err := ParseAgg(a.String() + " as " + Quote(a.As))
			if err != nil {
				t.Fatalf("%q gave %q: %v", text, a, err)
			}
			again[0].Offset = a.Offset
			if diff := cmp.Diff(a, again[0]); diff != "" {
				t.Errorf("%q as %q (-first +second):\n%s", text, a, diff)
			}
		}
	})
}
