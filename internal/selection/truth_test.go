package selection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestThreeValuedLogic holds AND, OR and NOT to the tables of the SQL standard, on columns that hold false, NULL and true.
func TestThreeValuedLogic(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	columns := columnsOf("a boolean; b boolean; c boolean")
	values := []any{false, nil, true}
	names := "FUT"
	var rows [][]any
	for _, a := range values {
		for _, b := range values {
			rows = append(rows, []any{a, b, b})
		}
	}
	rec := recordOf(mem, columns, rows)
	defer rec.Release()
	for _, tc := range []struct{ text, want string }{
		//         a = F    a = U    a = T, with b = F, U, T each
		{"a AND b", "FFF FUU FUT"},
		{"a OR b", "FUT UUT TTT"},
		{"NOT a", "TTT UUU FFF"},
		{"NOT (a AND b)", "TTT TUU TUF"},
		{"NOT (a OR b)", "TUF UUF FFF"},
		{"a = b", "TUF UUU FUT"},
		{"a != b", "FUT UUU TUF"},
		{"a AND NOT a", "FFF UUU FFF"},
		{"a OR NOT a", "TTT UUU TTT"},
		{"a AND b AND c", "FFF FUU FUT"},
		{"a OR b OR NOT c", "TUT TUT TTT"},
		{"a IS NULL", "FFF TTT FFF"},
		{"a IS NOT NULL AND b", "FUT FFF FUT"},
		{"a IN (true)", "FFF UUU TTT"},
		{"a IN ()", "FFF UUU FFF"},
		{"a NOT IN (true)", "TTT UUU FFF"},
		{"b BETWEEN a AND true", "TUT UUU FUT"},
	} {
		// A row is wanted if the condition is true, and by its negation if it is false.
		var got strings.Builder
		yes, err := mustFilter(t, tc.text, columns).Mask(nil, rec)
		if err != nil {
			t.Fatal(err)
		}
		no, err := mustFilter(t, "NOT ("+tc.text+")", columns).Mask(nil, rec)
		if err != nil {
			t.Fatal(err)
		}
		for i := range yes {
			if i > 0 && i%3 == 0 {
				got.WriteByte(' ')
			}
			switch {
			case yes[i] && no[i]:
				t.Errorf("%s and its negation are both true", tc.text)
			case yes[i]:
				got.WriteByte(names[2])
			case no[i]:
				got.WriteByte(names[0])
			default:
				got.WriteByte(names[1])
			}
		}
		if got.String() != tc.want {
			t.Errorf("%s is %s, want %s", tc.text, &got, tc.want)
		}
	}
}

func TestRecordsOfAnySize(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	columns := columnsOf("x int; s text; m map<text, text>; l list<text>")
	f := mustFilter(t, "(x >= 10 AND s != '5') OR m['k'] = 'v' OR l CONTAINS 'e' OR day(x2) IS NULL", append(columns, Column{"x2", typeOf("timestamp")}))
	columns = append(columns, Column{"x2", typeOf("timestamp")})
	for _, n := range []int{100, 0, 1, 3, 1000, 2} { // One evaluation serves all: it grows and shrinks.
		var rows [][]any
		var want []int
		for i := range n {
			m, l := []entry{}, []any{}
			if i%7 == 0 {
				m, l = append(m, entry{"k", "v"}), append(l, "e")
			}
			rows = append(rows, []any{i, fmt.Sprint(i), m, l, i})
			if i >= 10 || i%7 == 0 {
				want = append(want, i)
			}
		}
		rec := recordOf(mem, columns, rows)
		if got := kept(t, f, rec); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of %d rows %v are wanted, want %v", n, got, want)
		}
		rec.Release()
	}
}
