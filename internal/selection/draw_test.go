package selection

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"manifest/internal/cqltype"
)

// drawType draws the text of a type, nested at most depth times.
func drawType(t *rapid.T, depth int) string {
	kinds := []string{
		"ascii", "bigint", "blob", "boolean", "counter", "date", "decimal", "double", "duration", "float", "inet", "int", "smallint", "text", "time",
		"timestamp", "timeuuid", "tinyint", "uuid", "varint",
	}
	if depth > 0 {
		kinds = append(kinds, "list", "set", "map", "tuple", "vector", "place", "list", "map")
	}
	elem := func() string { return drawType(t, depth-1) }
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "list", "set":
		return kind + "<" + elem() + ">"
	case "map":
		return "map<" + elem() + ", " + elem() + ">"
	case "tuple":
		return "tuple<" + elem() + ", " + elem() + ">"
	case "vector":
		return fmt.Sprintf("vector<%s, %d>", elem(), rapid.IntRange(1, 3).Draw(t, "size"))
	case "place":
		return "frozen<place>"
	default:
		return kind
	}
}

// drawValue draws a value for appendValue, from few so that many are equal; NULL at times if nullable.
func drawValue(t *rapid.T, typ *cqltype.Type, nullable bool) any {
	if nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return nil
	}
	sample := func(values ...any) any { return rapid.SampledFrom(values).Draw(t, "value") }
	parts := func(n int, nullable bool) []any {
		values := make([]any, n)
		for i := range values {
			values[i] = drawValue(t, typ.Elems[min(i, len(typ.Elems)-1)], nullable)
		}
		return values
	}
	switch typ.Kind {
	case cqltype.Ascii, cqltype.Text:
		return sample("", "a", "ab", "葉", "it's")
	case cqltype.Blob:
		return sample([]byte{}, []byte{0}, []byte{0xff, 1})
	case cqltype.Boolean:
		return sample(true, false)
	case cqltype.Tinyint, cqltype.Smallint, cqltype.Int, cqltype.Bigint, cqltype.Counter, cqltype.Date, cqltype.Time:
		return sample(int64(0), int64(1), int64(2), int64(100))
	case cqltype.Timestamp:
		return sample(int64(-1), int64(0), int64(86_400_000), int64(172_799_999))
	case cqltype.Float, cqltype.Double:
		return sample(-1.5, 0.0, math.Copysign(0, -1), 2.0, math.NaN(), math.Inf(1))
	case cqltype.Decimal:
		return sample("0", "1.0", "1.00", "-1.5", "1E+3")
	case cqltype.Varint:
		return sample("0", "1", "-1", "36893488147419103232")
	case cqltype.UUID:
		return sample("00000000-0000-0000-0000-000000000000", "7fffffff-0000-4000-8000-000000000000", "ffffffff-0000-4000-8000-000000000000")
	case cqltype.Timeuuid:
		return sample("ffffffff-0000-1000-8000-000000000000", "00000000-0001-1000-8000-000000000000", "00000000-0001-1000-8000-0000000000ff")
	case cqltype.Inet:
		return sample("10.0.0.1", "9.0.0.1", "2001:db8::1")
	case cqltype.Duration:
		return parts3(t)
	case cqltype.List, cqltype.Set:
		return parts(rapid.IntRange(0, 3).Draw(t, "elements"), true)
	case cqltype.Vector:
		return parts(typ.Size, false)
	case cqltype.Map:
		entries := []entry{}
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			entries = append(entries, entry{drawValue(t, typ.Elems[0], false), drawValue(t, typ.Elems[1], true)})
		}
		return entries
	default: // a tuple or user defined type
		return parts(len(typ.Elems), true)
	}
}

// parts3 draws the months, days and nanoseconds of a duration.
func parts3(t *rapid.T) []any {
	n := rapid.Int64Range(0, 2).Draw(t, "duration")
	return []any{n, n + 1, n + 2}
}
