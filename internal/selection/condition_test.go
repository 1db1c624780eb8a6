package selection

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

func TestIn(t *testing.T) {
	for _, tc := range []struct {
		name, operand string
		values        []string
		want          string
	}{
		{"one", "device_id", []string{"cam-1"}, "device_id IN ('cam-1')"},
		{"several", "device_id", []string{"cam-1", "it's", "葉"}, "device_id IN ('cam-1', 'it''s', '葉')"},
		{"a pattern", "device_id", []string{"cam-*"}, "device_id GLOB 'cam-*'"},
		{"both", "device_id", []string{"a?", "b", "c*"}, "device_id IN ('b') OR device_id GLOB 'a?' OR device_id GLOB 'c*'"},
		{"none", "device_id", nil, "device_id IN ()"},
		{"a key", "attributes['region']", []string{"north"}, "attributes['region'] IN ('north')"},
		{"a name in quotes", Quote("Device"), []string{"a"}, `"Device" IN ('a')`},
		{"escaped", "d", []string{`a\*b`, `a\?\\`, `a\b`, `a\`, EscapeGlob(`*\?`), EscapeGlob(`\`)}, `d IN ('a*b', 'a?\', 'a\b', 'a\', '*\?', '\')`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := In(tc.operand, tc.values)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.String(); got != tc.want {
				t.Errorf("condition %s, want %s", got, tc.want)
			}
		})
	}
	_, err := In("device id", nil)
	checkError(t, err, "id", `expected the end, found "id"`)
	_, err = In("d", []string{"a", "\xff"})
	checkError(t, err, "\xff')", "not UTF-8")
	c, err := In("width", []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Compile(c, columnsOf("width int"))
	checkError(t, err, "'a')", "width is int, 'a' is text")
}

func TestInTakesListsOfAnyLength(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	values := make([]string, 100_000)
	for i := range values {
		values[i] = time.Unix(int64(i), 0).UTC().Format(time.DateTime)
	}
	c, err := In("d", values)
	if err != nil {
		t.Fatal(err)
	}
	columns := columnsOf("d text")
	f, err := Compile(c, columns)
	if err != nil {
		t.Fatal(err)
	}
	rec := recordOf(mem, columns, [][]any{{values[99_999]}, {"x"}, {values[0]}, {nil}})
	defer rec.Release()
	if diff := cmp.Diff([]int{0, 2}, kept(t, f, rec)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestDays(t *testing.T) {
	day := func(s string) *Day {
		d, err := ParseDay(s)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	times := []any{"2025-05-31T23:59:59.999Z", "2025-06-01T00:00:00Z", "2025-06-15T12:00:00Z", "2025-06-30T23:59:59.999Z", "2025-07-01T00:00:00Z", nil}
	days := []any{"2025-05-31", "2025-06-01", "2025-06-15", "2025-06-30", "2025-07-01", nil}
	for _, tc := range []struct {
		name     string
		from, to *Day
		text     string
		want     []int
	}{
		{"both", day("2025-06-01"), day("2025-06-30"), "day(x) >= '2025-06-01' AND day(x) <= '2025-06-30'", []int{1, 2, 3}},
		{"one day", day("2025-06-15"), day("2025-06-15"), "day(x) >= '2025-06-15' AND day(x) <= '2025-06-15'", []int{2}},
		{"from", day("2025-06-30"), nil, "day(x) >= '2025-06-30'", []int{3, 4}},
		{"to", nil, day("2025-06-01"), "day(x) <= '2025-06-01'", []int{0, 1}},
		{"none", nil, nil, "", []int{0, 1, 2, 3, 4, 5}},
		{"no day at all", day("2025-06-30"), day("2025-06-01"), "day(x) >= '2025-06-30' AND day(x) <= '2025-06-01'", []int{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Days("x", tc.from, tc.to)
			if err != nil {
				t.Fatal(err)
			}
			if c.String() != tc.text {
				t.Errorf("condition %s, want %s", c, tc.text)
			}
			for typ, values := range map[string][]any{"timestamp": times, "date": days} {
				columns := columnsOf("x " + typ)
				f, err := Compile(c, columns)
				if err != nil {
					t.Fatal(err)
				}
				var rows [][]any
				for _, v := range values {
					rows = append(rows, []any{v})
				}
				rec := recordOf(mem, columns, rows)
				defer rec.Release()
				if diff := cmp.Diff(tc.want, kept(t, f, rec)); diff != "" {
					t.Errorf("rows by %s (-want +got):\n%s", typ, diff)
				}
			}
		})
	}
	if c, err := Days("day(x)", day("2025-06-01"), nil); err != nil || c.String() != "day(x) >= '2025-06-01'" {
		t.Errorf("days of day(x): %s, %v", c, err)
	}
	_, err := Days("x y", nil, day("2025-06-01"))
	checkError(t, err, "y", `expected the end, found "y"`)
	_, err = Days("ttl(x)", nil, day("2025-06-01"))
	checkError(t, err, "ttl(x)", "ttl(x) has no day")
	c, err := Days("x", nil, day("2025-06-01"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Compile(c, columnsOf("x text"))
	checkError(t, err, "day(x) <= '2025-06-01'", "x is text, which has no day")
}

func TestAll(t *testing.T) {
	parse := func(text string) Condition {
		c, err := ParseWhere(text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, tc := range []struct {
		name string
		c    Condition
		want string
	}{
		{"nothing", All(), ""},
		{"nothing of nothing", All(Condition{}, parse(" ")), ""},
		{"one", All(Condition{}, parse("a = 1 or b = 2")), "a = 1 OR b = 2"},
		{"two", All(parse("a = 1 or b = 2"), parse("c = 3 and d = 4")), "(a = 1 OR b = 2) AND c = 3 AND d = 4"},
		{"nested", All(All(parse("a"), parse("b")), parse("c or d")), "a AND b AND (c OR d)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.c.String(); got != tc.want {
				t.Errorf("condition %s, want %s", got, tc.want)
			}
		})
	}
}

func TestDayText(t *testing.T) {
	for s, want := range map[string]Day{
		"1970-01-01": 0, "1969-12-31": -1, "2000-02-29": 11016, "2025-06-01": 20240, "0000-01-01": -719528, "-0001-12-31": -719529,
		"9999-12-31": 2932896, "10000-01-01": 2932897,
	} {
		if got, err := ParseDay(s); got != want || err != nil {
			t.Errorf("ParseDay(%q) is %d, %v, want %d", s, got, err, want)
		}
		if got := want.String(); got != s {
			t.Errorf("day %d is %s, want %s", want, got, s)
		}
	}
	for _, s := range []string{
		"", "2025", "2025-6-1", "2025-13-01", "2025-00-01", "2025-02-29", "2025-06-31", "2025-06-00", "20250601", "2025-06-01 ", "025-06-01",
		"2025-06-01T00:00:00Z", "2025/06/01", "--2025-06-01", "9999999-01-01", "2025-06-0x", "99999999999999999999-01-01",
	} {
		if got, err := ParseDay(s); err == nil {
			t.Errorf("ParseDay(%q) is %d", s, got)
		}
	}
	if got := DayOf(time.Date(1969, 12, 31, 23, 59, 59, 999, time.UTC)); got != -1 {
		t.Errorf("day of the last moment of 1969 is %d", got)
	}
	if got := DayOf(time.Date(2025, 6, 1, 1, 0, 0, 0, time.FixedZone("", 2*3600))).String(); got != "2025-05-31" {
		t.Errorf("day of an hour past midnight in +02:00 is %s", got)
	}
	for _, d := range []Day{math.MinInt32, math.MaxInt32} {
		if got := d.String(); got != map[Day]string{math.MinInt32: "-5877641-06-23", math.MaxInt32: "5881580-07-11"}[d] {
			t.Errorf("day %d is %s", d, got)
		}
	}
}

func TestEmptyConditionWantsAll(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	columns := columnsOf("x int")
	f, err := Compile(Condition{}, columns)
	if err != nil {
		t.Fatal(err)
	}
	rec := recordOf(mem, columns, [][]any{{1}, {nil}})
	defer rec.Release()
	if diff := cmp.Diff([]int{0, 1}, kept(t, f, rec)); diff != "" || len(f.Columns()) != 0 {
		t.Errorf("rows (-want +got):\n%s, columns %q", diff, f.Columns())
	}
	if got, err := f.Apply(mem, rec); err != nil || got != rec {
		t.Errorf("Apply gives %v, %v", got, err)
	} else {
		got.Release()
	}
}

func TestErrorsAreTyped(t *testing.T) {
	_, err := ParseWhere("a =")
	if e := new(Error); !errors.As(err, &e) {
		t.Errorf("error %T", err)
	}
}

func TestConjuncts(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"a = 1", []string{"a = 1"}},
		{"a = 1 AND b = 2 AND (c = 3 AND d = 4)", []string{"a = 1", "b = 2", "c = 3", "d = 4"}},
		{"a = 1 AND (b = 2 OR c = 3)", []string{"a = 1", "b = 2 OR c = 3"}},
		{"a = 1 OR b = 2 AND c = 3", []string{"a = 1 OR b = 2 AND c = 3"}},
		{"NOT (a = 1 AND b = 2)", []string{"NOT (a = 1 AND b = 2)"}},
	} {
		c, err := ParseWhere(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, part := range c.Conjuncts() {
			got = append(got, part.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.text, diff)
		}
	}
	// Several conditions that All has joined are taken apart as well.
	a, err := ParseWhere("a = 1 AND b = 2")
	if err != nil {
		t.Fatal(err)
	}
	b, err := In("tag", []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	if got := All(a, b).Conjuncts(); len(got) != 3 || got[2].String() != "tag IN ('x')" {
		t.Errorf("%v", got)
	}
}
