package selection

import (
	"errors"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

func TestParseWhereCanonical(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", " \n", ""},
		{"the example of the manual", "width >= 1024 AND attributes['weather'] = 'rain'", "width >= 1024 AND attributes['weather'] = 'rain'"},
		{"AND binds closer than OR", "a=1 or b=2 and c=3", "a = 1 OR b = 2 AND c = 3"},
		{"OR inside of AND", "(a=1 or b=2) and c=3", "(a = 1 OR b = 2) AND c = 3"},
		{"chains lose parentheses of their own kind", "((a=1) and (b=2 and c=3))", "a = 1 AND b = 2 AND c = 3"},
		{"NOT binds closer than AND", "not a=1 and b=2", "NOT a = 1 AND b = 2"},
		{"NOT of a chain", "not (a=1 and b=2)", "NOT (a = 1 AND b = 2)"},
		{"NOT NOT", "not not a", "NOT NOT a"},
		{"operators", "a<>1 and b!=1 and c<=1 and d>=1 and e<1 and f>1", "a != 1 AND b != 1 AND c <= 1 AND d >= 1 AND e < 1 AND f > 1"},
		{"constant on the left", "1024 <= width and 'x' = a and 1 <> b and 2 > c and 3 < d and 4 >= e", "width >= 1024 AND a = 'x' AND b != 1 AND c < 2 AND d > 3 AND e <= 4"},
		{"two columns", "width > height", "width > height"},
		{"quotes in text", "a = 'it''s'", "a = 'it''s'"},
		{"empty text", "a = ''", "a = ''"},
		{"Unicode text", "tag = '葉🍃'", "tag = '葉🍃'"},
		{"mixed case name", `Width = 1 and "Width" = 2 and "a""b" = 3`, `Width = 1 AND "Width" = 2 AND "a""b" = 3`},
		{"reserved name in quotes", `"in" in (1)`, `"in" IN (1)`},
		{"names that are words elsewhere", "glob glob 'x' and contains contains key 'y' and between between 1 and 2 and day = 1", "glob GLOB 'x' AND contains CONTAINS KEY 'y' AND between >= 1 AND between <= 2 AND day = 1"},
		{"in a list", "a IN ( 'x' ,'y')", "a IN ('x', 'y')"},
		{"in nothing", "a in ()", "a IN ()"},
		{"negated tests", "a not in (1) and b not glob 'x' and c not contains 1 and d not contains key 1 and e is not null", "a NOT IN (1) AND b NOT GLOB 'x' AND c NOT CONTAINS 1 AND d NOT CONTAINS KEY 1 AND e IS NOT NULL"},
		{"NOT in front of a test", "not a in (1)", "a NOT IN (1)"},
		{"between", "a between 1 and 2 and b", "a >= 1 AND a <= 2 AND b"},
		{"not between", "a not between 1 and b", "NOT (a >= 1 AND a <= b)"},
		{"numbers", "a in (1, -2, 1.5, -0.5e-3, 1E+10, nan, -nan, infinity, -infinity)", "a IN (1, -2, 1.5, -0.5e-3, 1E+10, NaN, NaN, Infinity, -Infinity)"},
		{"booleans", "a = TRUE and b = False", "a = true AND b = false"},
		{"blobs", "a in (0x, 0XCAfe)", "a IN (0x, 0xcafe)"},
		{"uuids", "a in (F81D4FAE-7dec-11d0-a765-00a0c91e6bf6, 00000000-0000-0000-0000-000000000000)", "a IN (f81d4fae-7dec-11d0-a765-00a0c91e6bf6, 00000000-0000-0000-0000-000000000000)"},
		{"paths", `place.city = 'x' and place."Zip" = 1 and pair.0 = 1 and pair.0.1 = 2 and m[-5] = 1 and m['a']['b'].c = 1`, `place.city = 'x' AND place."Zip" = 1 AND pair.0 = 1 AND pair.0.1 = 2 AND m[-5] = 1 AND m['a']['b'].c = 1`},
		{"functions", "DAY(m['t']) = '2025-06-01' and writetime(Width) > 5 and ttl( \"A\" ) is null", `day(m['t']) = '2025-06-01' AND writetime(Width) > 5 AND ttl("A") IS NULL`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := ParseWhere(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.String(); got != tc.want {
				t.Errorf("canonical text\n\t%s\nwant\n\t%s", got, tc.want)
			}
			again, err := ParseWhere(tc.want)
			if err != nil || again.String() != tc.want {
				t.Errorf("which reads back as %s, %v", again, err)
			}
		})
	}
}

// checkError fails unless err is an *Error with that position, which is given by what the text goes on with there, and reason.
func checkError(t *testing.T, err error, rest, reason string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *Error", err)
	}
	if e.Text[e.Offset:] != rest || e.Reason != reason {
		t.Errorf("error %q in front of %q,\n\twant %q in front of %q", e.Reason, e.Text[e.Offset:], reason, rest)
	}
}

func TestParseWhereErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, rest, reason string }{
		{"condition missing", "a = 1 and", "", "expected a column or a value, found the end"},
		{"operand missing", "a = and b = 1", "and b = 1", `expected a column or a value, found "and"`},
		{"operator missing", "width 5", "5", `expected an operator such as =, IN or IS NULL, found "5"`},
		{"condition goes on", "a = 1 b = 2", "b = 2", `expected AND, OR or the end, found "b"`},
		{"comparison goes on", "1 < a < 5", "< 5", `expected AND, OR or the end, found "<"`},
		{"parenthesis open", "(a = 1 and (b = 2)", "", `expected AND, OR or ")", found the end`},
		{"parenthesis closed twice", "(a = 1))", ")", `expected AND, OR or the end, found ")"`},
		{"quote open", "a = 'x and b = 1", "'x and b = 1", "the quote ' is not closed"},
		{"name open", `a = 1 and "b`, `"b`, `the quote " is not closed`},
		{"empty name", `"" = 1`, `"" = 1`, "the name is empty"},
		{"two constants", "a = 1 and 1 = 1", "1 = 1", "two constants are compared"},
		{"constant alone", "true", "", "expected a comparison such as = or <, found the end"},
		{"constant in a list", "1 in (1)", "in (1)", `expected a comparison such as = or <, found "in"`},
		{"NULL compared", "a = NULL", "NULL", "nothing equals NULL: IS NULL tests for it"},
		{"NULL in a list", "a in (1, null)", "null)", "nothing equals NULL: IS NULL tests for it"},
		{"is what", "a is 5", "5", `expected NULL, found "5"`},
		{"not what", "a not = 5", "= 5", `expected IN, BETWEEN, GLOB or CONTAINS, found "="`},
		{"like", "device like 'cam-%'", "like 'cam-%'", "there is no LIKE: GLOB takes patterns such as 'cam-*'"},
		{"list not opened", "a in 1", "1", `expected "(", found "1"`},
		{"list not closed", "a in (1", "", `expected "," or ")", found the end`},
		{"list ends with a comma", "a in (1,)", ")", `expected a value, found ")"`},
		{"column in a list", "a in (b)", "b)", `expected a value, found "b"`},
		{"between half", "a between 1", "", "expected AND, found the end"},
		{"unknown function", "week(a) = 1", "week(a) = 1", "there is no function week, only day, writetime, ttl"},
		{"function not closed", "day(a = 1", "= 1", `expected ")", found "="`},
		{"write time of a part", "writetime(a['b']) = 1", "['b']) = 1", `expected ")", found "["`},
		{"number with letters", "a = 12ab", "ab", `"a" does not belong to a number`},
		{"number with two points", "a = 1.2.3", ".3", `"." does not belong to a number`},
		{"point without digits", "a = 1.", "1.", `"1." is not a number`},
		{"exponent without digits", "a = 1e", "1e", `"1e" is not a number`},
		{"minus alone", "a = -", "-", `"-" is not a number`},
		{"exponent beyond 32 bits", "a = 1e2147483648", "1e2147483648", "the exponent of 1e2147483648 is too large"},
		{"half a byte", "a = 0xabc", "0xabc", "a blob has two hexadecimal digits for each byte"},
		{"blob with letters", "a = 0xabxy", "xy", `"x" does not belong to a blob`},
		{"key not closed", "a['b' = 1", "= 1", `expected "]", found "="`},
		{"key without quotes", "a[b] = 1", "b] = 1", `expected a value, found "b"`},
		{"field missing", "a. = 1", "= 1", `expected a field, found "="`},
		{"position beyond all", "a.99999999999999999999 = 1", "99999999999999999999 = 1", "99999999999999999999 is no position in a tuple"},
		{"Unicode name without quotes", "größe = 1", "öße = 1", `expected an operator such as =, IN or IS NULL, found "ö"`},
		{"not UTF-8", "a = '\xff'", "\xff'", "not UTF-8"},
		{"semicolon", "a = 1; drop table b", "; drop table b", `expected AND, OR or the end, found ";"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseWhere(tc.text)
			checkError(t, err, tc.rest, tc.reason)
		})
	}
}

func TestParseWhereLimits(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		offset     int
		reason     string
	}{
		{"parentheses", strings.Repeat("(", 1000) + "a" + strings.Repeat(")", 1000), 101, "nested deeper than 100"},
		{"NOT", strings.Repeat("not ", 1000) + "a", 404, "nested deeper than 100"},
		{"length", strings.Repeat(" ", 1<<17) + "a", 0, "the expression has 131073 bytes, more than 131072"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseWhere(tc.text)
			checkError(t, err, tc.text[tc.offset:], tc.reason)
		})
	}
	if _, err := ParseWhere(strings.Repeat("(", 100) + "a" + strings.Repeat(")", 100)); err != nil {
		t.Errorf("100 levels: %v", err)
	}
	if _, err := ParseWhere(strings.Repeat("a = 1 and ", 10_000) + "a = 1"); err != nil {
		t.Errorf("a long chain: %v", err)
	}
}

func TestErrorShowsThePosition(t *testing.T) {
	runewidth.DefaultCondition.EastAsianWidth = false // whatever the locale says
	for _, tc := range []struct {
		name string
		err  Error
		want []string
	}{
		{"ASCII", Error{Text: "width 5", Offset: 6, Reason: "oops"}, []string{"oops", "  width 5", "        ^"}},
		{"end", Error{Text: "width", Offset: 5, Reason: "oops"}, []string{"oops", "  width", "       ^"}},
		{"wide characters take two columns", Error{Text: "'葉🍃' x", Offset: 10, Reason: "oops"}, []string{"oops", "  '葉🍃' x", "         ^"}},
		{"combining characters take none", Error{Text: "'e\u0301' x", Offset: 6, Reason: "oops"}, []string{"oops", "  'e\u0301' x", "      ^"}},
		{"the line alone", Error{Text: "a = 1\n and\tb\n or c", Offset: 11, Reason: "oops"}, []string{"oops", "   and b", "       ^"}},
		{"control characters", Error{Text: "\x1b[31m\u202e x", Offset: 9, Reason: "oops"}, []string{"oops", "  \ufffd[31m\ufffd x", "         ^"}},
		{"bytes that are no UTF-8", Error{Text: "a = \xff\xfe", Offset: 5, Reason: "oops"}, []string{"oops", "  a = \ufffd\ufffd", "       ^"}},
		{
			"long text is cut", Error{Text: strings.Repeat("a", 100) + "b" + strings.Repeat("c", 100), Offset: 100, Reason: "oops"},
			[]string{"oops", "  …" + strings.Repeat("a", 60) + "b" + strings.Repeat("c", 58) + "…", strings.Repeat(" ", 63) + "^"},
		},
		{"offset outside", Error{Text: "a", Offset: 9, Reason: "oops"}, []string{"oops", "  a", "   ^"}},
		{"no text", Error{Reason: "oops"}, []string{"oops"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, want := tc.err.Error(), strings.Join(tc.want, "\n"); got != want {
				t.Errorf("message\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"width": "width", "a1_b": "a1_b", "Width": `"Width"`, "": `""`, "1a": `"1a"`, "_a": `"_a"`, "größe": `"größe"`, `a"b`: `"a""b"`,
		"null": `"null"`, "in": `"in"`, "day": "day",
	} {
		if got := Quote(name); got != want {
			t.Errorf("Quote(%q) is %s, want %s", name, got, want)
		}
	}
}

func FuzzParseWhere(f *testing.F) {
	for _, seed := range []string{
		"", "width >= 1024 AND attributes['weather'] = 'rain'", `"A""b" != 'it''s' or not (a is null)`, "a in (1, -2.5e3, 0xff, true)",
		"a between 1 and 2 and b not glob 'x*'", "m['k'].f.0 contains key 1", "day(t) <= '2025-06-01'", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6 = a",
		"((((", "not not not a", "a = 'x", "größe", "\xff", "a=1e99999999999", "1<2", "place.city = 'x'",
	} {
		f.Add(seed)
	}
	columns := columnsOf("a int; b text; t timestamp; m map<text, frozen<place>>; place place; l list<double>; width int; attributes map<text, text>")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseWhere(text)
		if err != nil {
			checkFuzzError(t, err)
			return
		}
		canonical := c.String()
		again, err := ParseWhere(canonical)
		if err != nil {
			t.Fatalf("%q gave %q: %v", text, canonical, err)
		}
		if got := again.String(); got != canonical {
			t.Fatalf("%q gave %q, which gave %q", text, canonical, got)
		}
		if _, err := Compile(c, columns); err != nil {
			checkFuzzError(t, err)
		}
	})
}

func checkFuzzError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *Error", err)
	}
	if e.Offset < 0 || e.Offset > len(e.Text) || e.Reason == "" || strings.Contains(e.Reason, "\n") {
		t.Fatalf("offset %d of %d, reason %q", e.Offset, len(e.Text), e.Reason)
	}
	if lines := strings.Count(e.Error(), "\n"); lines != 2 && e.Text != "" {
		t.Fatalf("%d line ends in %q", lines, e.Error())
	}
}
