package selection

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"manifest/internal/cqltype"
)

// The interpreter reads conditions row by row, in the plainest way: a condition that is drawn is a text for the package, and a function
// of a row for the interpreter, whose values are those of appendValue. nil is unknown.
type drawn struct {
	text string
	of   func(row []any) *bool
}

// operandOf is a path: its text, the type of its values, and how to get one.
type operandOf struct {
	text string
	typ  *cqltype.Type
	of   func(row []any) any
}

var (
	yes, no  = true, false
	answerOf = map[bool]*bool{true: &yes, false: &no}
)

const drawnColumns = "i int; t tinyint; b bigint; f double; g float; n decimal; v varint; s text; z ascii; ok boolean; dy date; ts timestamp; tm time; u uuid; w timeuuid; " +
	"ip inet; x blob; m map<text, text>; k map<int, bigint>; st set<text>; ld list<double>; p frozen<place>; pair tuple<int, text>; mm map<text, frozen<map<text, int>>>"

func drawOperand(t *rapid.T, columns []Column) operandOf {
	i := rapid.IntRange(0, len(columns)-1).Draw(t, "column")
	o := operandOf{columns[i].Name, columns[i].Type, func(row []any) any { return row[i] }}
	for rapid.IntRange(0, 3).Draw(t, "step") > 0 {
		before := o.of
		switch o.typ.Kind {
		case cqltype.Map:
			key := drawLiteral(t, o.typ.Elems[0])
			keyType := o.typ.Elems[0]
			o.text, o.typ = o.text+"["+key.text+"]", o.typ.Elems[1]
			o.of = func(row []any) any {
				entries, _ := before(row).([]entry)
				for _, e := range entries {
					if compareValues(keyType, e.key, key.value) == 0 {
						return e.value
					}
				}
				return nil
			}
		case cqltype.Tuple, cqltype.UDT:
			field := rapid.IntRange(0, len(o.typ.Elems)-1).Draw(t, "field")
			name := fmt.Sprint(field)
			if o.typ.Kind == cqltype.UDT {
				name = Quote(o.typ.Fields[field])
			}
			o.text, o.typ = o.text+"."+name, o.typ.Elems[field]
			o.of = func(row []any) any {
				if fields, ok := before(row).([]any); ok {
					return fields[field]
				}
				return nil
			}
		case cqltype.Timestamp:
			o.text, o.typ = "day("+o.text+")", typeOf("date")
			o.of = func(row []any) any {
				if millis, ok := before(row).(int64); ok {
					return int64(math.Floor(float64(millis) / 86_400_000))
				}
				return nil
			}
		}
	}
	return o
}

// literalOf is a text in a condition and its value: a *big.Rat for what is counted exactly.
type literalOf struct {
	text  string
	value any
}

func drawLiteral(t *rapid.T, typ *cqltype.Type) literalOf {
	v := drawValue(t, typ, false)
	switch typ.Kind {
	case cqltype.Tinyint, cqltype.Smallint, cqltype.Int, cqltype.Bigint, cqltype.Counter, cqltype.Decimal, cqltype.Varint:
		text := rapid.OneOf(rapid.Just(fmt.Sprint(v)), rapid.SampledFrom([]string{"0.5", "-0.5", "1e0", "100.0", "1e30", "-1e30", "1.01"})).Draw(t, "number")
		r, _ := new(big.Rat).SetString(text)
		return literalOf{text, r}
	case cqltype.Float, cqltype.Double:
		return literalOf{fmt.Sprintf("%v", floatText(v.(float64))), v}
	case cqltype.Timestamp:
		at := time.UnixMilli(v.(int64)).UTC()
		nanos := rapid.SampledFrom([]time.Duration{0, 0, time.Microsecond}).Draw(t, "nanoseconds")
		exact := new(big.Rat).Add(big.NewRat(v.(int64), 1), big.NewRat(nanos.Nanoseconds(), 1_000_000))
		return literalOf{quoteText(at.Add(nanos).Format(time.RFC3339Nano)), exact}
	case cqltype.Date:
		return literalOf{quoteText(time.Unix(v.(int64)*86_400, 0).UTC().Format(time.DateOnly)), v}
	case cqltype.Time:
		return literalOf{quoteText(time.Unix(0, v.(int64)).UTC().Format("15:04:05.999999999")), v}
	case cqltype.Blob:
		return literalOf{fmt.Sprintf("0x%x", v), v}
	case cqltype.Boolean:
		return literalOf{fmt.Sprint(v), v}
	case cqltype.UUID, cqltype.Timeuuid:
		return literalOf{rapid.SampledFrom([]string{v.(string), quoteText(strings.ToUpper(v.(string)))}).Draw(t, "uuid"), v}
	}
	return literalOf{quoteText(v.(string)), v}
}

func floatText(f float64) string {
	if math.IsInf(f, 1) {
		return "Infinity"
	}
	return fmt.Sprint(f)
}

// compareValues compares values of a type, or one with the value of a literal.
func compareValues(typ *cqltype.Type, a, b any) int {
	switch typ.Kind {
	case cqltype.Text, cqltype.Ascii:
		return cmp.Compare(a.(string), b.(string))
	case cqltype.Blob:
		return bytes.Compare(a.([]byte), b.([]byte))
	case cqltype.Boolean:
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) // "false" before "true"
	case cqltype.Float, cqltype.Double:
		x, y := a.(float64), b.(float64)
		if math.IsNaN(x) || math.IsNaN(y) {
			return -cmp.Compare(x, y) // cmp has NaN below all
		}
		return cmp.Compare(x, y)
	case cqltype.UUID:
		return cmp.Compare(a.(string), b.(string)) // lower case digits in the order of the bytes
	case cqltype.Timeuuid:
		x, y := uuid.MustParse(a.(string)), uuid.MustParse(b.(string))
		signed := func(b byte) int8 { return int8(b) }
		return cmp.Or(cmp.Compare(x.Time(), y.Time()), slices.CompareFunc(x[8:], y[8:], func(a, b byte) int { return cmp.Compare(signed(a), signed(b)) }))
	case cqltype.Inet:
		return bytes.Compare(addressOf(a.(string)), addressOf(b.(string)))
	}
	return rational(a).Cmp(rational(b))
}

func addressOf(s string) []byte {
	ip := net.ParseIP(s)
	if four := ip.To4(); four != nil {
		return four
	}
	return ip
}

func rational(v any) *big.Rat {
	if r, ok := v.(*big.Rat); ok {
		return r
	}
	r, _ := new(big.Rat).SetString(fmt.Sprint(v))
	return r
}

var holdsFor = map[string]func(c int) bool{
	"=": func(c int) bool { return c == 0 }, "!=": func(c int) bool { return c != 0 }, "<>": func(c int) bool { return c != 0 }, "<": func(c int) bool { return c < 0 },
	"<=": func(c int) bool { return c <= 0 }, ">": func(c int) bool { return c > 0 }, ">=": func(c int) bool { return c >= 0 },
}

func drawCondition(t *rapid.T, columns []Column, depth int) drawn {
	kind := "test"
	if depth > 0 {
		kind = rapid.SampledFrom([]string{"test", "NOT", "AND", "OR"}).Draw(t, "condition")
	}
	switch kind {
	case "test":
		return drawTest(t, drawOperand(t, columns), columns)
	case "NOT":
		arg := drawCondition(t, columns, depth-1)
		return drawn{"NOT (" + arg.text + ")", func(row []any) *bool { return negationOf(arg.of(row)) }}
	}
	var args []drawn
	var texts []string
	for range rapid.IntRange(2, 3).Draw(t, "arguments") {
		args = append(args, drawCondition(t, columns, depth-1))
		texts = append(texts, "("+args[len(args)-1].text+")")
	}
	return drawn{strings.Join(texts, " "+kind+" "), func(row []any) *bool {
		result := answerOf[kind == "AND"]
		for _, a := range args {
			switch v := a.of(row); {
			case v == nil:
				result = nil
			case *v == (kind == "OR"):
				return v
			}
		}
		return result
	}}
}

func negationOf(v *bool) *bool {
	if v == nil {
		return nil
	}
	return answerOf[!*v]
}

// drawTest draws a test that the type of an operand has.
func drawTest(t *rapid.T, o operandOf, columns []Column) drawn {
	tests := []string{"IS NULL", "IS NOT NULL"}
	switch o.typ.Kind {
	case cqltype.List, cqltype.Set, cqltype.Map:
		tests = append(tests, "CONTAINS", "CONTAINS")
	case cqltype.Tuple, cqltype.UDT:
	case cqltype.Text, cqltype.Ascii:
		tests = append(tests, "GLOB")
		fallthrough
	default:
		tests = append(tests, "compare", "compare", "compare", "flip", "column", "IN", "BETWEEN")
	}
	// known makes the test of NULL unknown.
	known := func(text string, of func(v any) bool) drawn {
		return drawn{text, func(row []any) *bool {
			v := o.of(row)
			if v == nil {
				return nil
			}
			return answerOf[of(v)]
		}}
	}
	op := rapid.SampledFrom([]string{"=", "!=", "<>", "<", "<=", ">", ">="}).Draw(t, "operator")
	switch test := rapid.SampledFrom(tests).Draw(t, "test"); test {
	case "IS NULL":
		return drawn{o.text + " IS NULL", func(row []any) *bool { return answerOf[o.of(row) == nil] }}
	case "IS NOT NULL":
		return drawn{o.text + " IS NOT NULL", func(row []any) *bool { return answerOf[o.of(row) != nil] }}
	case "CONTAINS":
		return drawContains(t, o)
	case "GLOB":
		prefix := rapid.SampledFrom([]string{"", "a", "it"}).Draw(t, "prefix")
		return known(o.text+" GLOB '"+prefix+"*'", func(v any) bool { return strings.HasPrefix(v.(string), prefix) })
	case "compare":
		l := drawLiteral(t, o.typ)
		return known(o.text+" "+op+" "+l.text, func(v any) bool { return holdsFor[op](compareValues(o.typ, v, l.value)) })
	case "flip":
		l := drawLiteral(t, o.typ)
		return known(l.text+" "+op+" "+o.text, func(v any) bool { return holdsFor[op](-compareValues(o.typ, v, l.value)) })
	case "column":
		var alike []int
		for i, c := range columns {
			if familyOf(c.Type) == familyOf(o.typ) {
				alike = append(alike, i)
			}
		}
		i := rapid.SampledFrom(alike).Draw(t, "other column")
		return drawn{o.text + " " + op + " " + columns[i].Name, func(row []any) *bool {
			a, b := o.of(row), row[i]
			if a == nil || b == nil {
				return nil
			}
			return answerOf[holdsFor[op](compareValues(o.typ, a, b))]
		}}
	case "IN":
		var literals []literalOf
		var texts []string
		for range rapid.IntRange(0, 4).Draw(t, "list") {
			literals = append(literals, drawLiteral(t, o.typ))
			texts = append(texts, literals[len(literals)-1].text)
		}
		return known(o.text+" IN ("+strings.Join(texts, ", ")+")", func(v any) bool {
			return slices.ContainsFunc(literals, func(l literalOf) bool { return compareValues(o.typ, v, l.value) == 0 })
		})
	default:
		low, high := drawLiteral(t, o.typ), drawLiteral(t, o.typ)
		return known(o.text+" BETWEEN "+low.text+" AND "+high.text, func(v any) bool {
			return compareValues(o.typ, v, low.value) >= 0 && compareValues(o.typ, v, high.value) <= 0
		})
	}
}

func drawContains(t *rapid.T, o operandOf) drawn {
	if o.typ.Kind == cqltype.Map && (rapid.Bool().Draw(t, "key") || o.typ.Elems[1].Kind == cqltype.Map) {
		l := drawLiteral(t, o.typ.Elems[0])
		return drawn{o.text + " CONTAINS KEY " + l.text, func(row []any) *bool {
			entries, _ := o.of(row).([]entry)
			return answerOf[slices.ContainsFunc(entries, func(e entry) bool { return compareValues(o.typ.Elems[0], e.key, l.value) == 0 })]
		}}
	}
	elem := o.typ.Elems[len(o.typ.Elems)-1]
	l := drawLiteral(t, elem)
	return drawn{o.text + " CONTAINS " + l.text, func(row []any) *bool {
		var values []any
		switch v := o.of(row).(type) {
		case []any:
			values = v
		case []entry:
			for _, e := range v {
				values = append(values, e.value)
			}
		}
		return answerOf[slices.ContainsFunc(values, func(v any) bool { return v != nil && compareValues(elem, v, l.value) == 0 })]
	}}
}

// TestConditionsLikeTheInterpreter draws a condition and a record, and compares the rows that are wanted.
func TestConditionsLikeTheInterpreter(t *testing.T) {
	columns := columnsOf(drawnColumns)
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		condition := drawCondition(t, columns, 3)
		rows := make([][]any, rapid.IntRange(0, 12).Draw(t, "rows"))
		for i := range rows {
			for _, c := range columns {
				rows[i] = append(rows[i], drawValue(t, c.Type, true))
			}
		}
		c, err := ParseWhere(condition.text)
		if err != nil {
			t.Fatal(err)
		}
		whole := recordOf(mem, columns, rows)
		defer whole.Release()
		lo := rapid.IntRange(0, len(rows)).Draw(t, "lo")
		rec := whole.NewSlice(int64(lo), int64(len(rows)))
		defer rec.Release()
		canonical, err := ParseWhere(c.String())
		if err != nil {
			t.Fatalf("%s gave %s: %v", condition.text, c, err)
		}
		for _, c := range []Condition{c, canonical} {
			f, err := Compile(c, columns)
			if err != nil {
				t.Fatal(err)
			}
			checkFilter(t, mem, f, rec, condition, rows[lo:])
		}
	})
}

func checkFilter(t *rapid.T, mem memory.Allocator, f *Filter, rec arrow.Record, condition drawn, rows [][]any) {
	mask, err := f.Mask(nil, rec)
	if err != nil {
		t.Fatal(err)
	}
	truths := make([]truth, len(rows))
	for i, row := range rows {
		answer := condition.of(row)
		if answer != nil && *answer {
			truths[i] = isTrue
		}
		if mask[i] != (truths[i] == isTrue) {
			t.Fatalf("row %v is wanted: %v, want the contrary, by %s", row, mask[i], condition.text)
		}
	}
	got, err := f.Apply(mem, rec)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	checkTaken(t, rows, truths, rec.Schema(), got)
}
