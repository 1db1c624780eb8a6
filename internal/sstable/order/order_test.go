package order

import (
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"manifest/internal/cqltype"
)

func parse(t testing.TB, s string) *cqltype.Type {
	t.Helper()
	typ, err := cqltype.Parse(s, func(name string) (*cqltype.Type, error) {
		return &cqltype.Type{Kind: cqltype.UDT, Name: name, Fields: []string{"a", "b"}, Elems: []*cqltype.Type{{Kind: cqltype.Int}, {Kind: cqltype.Text}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// TestOrder has values of each type in ascending order, by the comparators of
// Cassandra's AbstractTypes; those with a bar between them are equal.
func TestOrder(t *testing.T) {
	for typ, values := range map[string]string{
		"ascii":     "- 61 6161 62",
		"blob":      "- 00 7f 80 ff",
		"boolean":   "- 00 01|02",
		"tinyint":   "- 80 ff 00 7f",
		"smallint":  "- 8000 ff00 ffff 0000 0001 7fff",
		"int":       "- 80000000 ffffffff 00000000 00000001 7fffffff",
		"bigint":    "- 8000000000000000 ffffffffffffffff 0000000000000000 7fffffffffffffff",
		"timestamp": "- ffffffffffffffff 0000000000000000 0000000000000001",
		"date":      "- 00000000 7fffffff 80000000 ffffffff",
		"time":      "- 0000000000000000 0000000000000001",
		"float":     "- ff800000 bf800000 80000000 00000000 3f800000 7f800000 7fc00000|ffc00000",
		"double":    "- fff0000000000000 8000000000000000 0000000000000000 3ff0000000000000 7ff0000000000000 7ff8000000000000",
		"varint":    "- 8000 ff7f 80 ff|ffff|ffffff 00|0000 01|0001 7f 0080 00ff 0100",
		"decimal":   "- 00000000ff|00000001f6 00000000" + "00" + "|0000000500 0000000101 000000010a|0000000264|0000000001 fffffffe01|0000000064",
		"inet":      "- 01020304 7f000001 ff000000 ff0000000000000000000000000000ff",
		"uuid": "- 00000000000000000000000000000000 ffffffffffff0fffffffffffffffffff" + // version 0
			" 00000001000010008000000000000000 00000001000010008000000000000001 00000000000110000000000000000000 00000000000010010000000000000000" + // 1: by time
			" 00000000000040000000000000000000 ffffffffffff4fffffffffffffffffff",
		"timeuuid":                   "- 00000001000010008000000000000000 000000010000100000000000000000ff 00000001000010000000000000000000 00000001000010000000000000000001 00000000000110000000000000000000",
		"frozen<list<int>>":          "- 00000000 00000001000000040000000a 00000002000000040000000a00000004ffffffff 0000000100000004" + "0000000b",
		"frozen<set<text>>":          "- 00000000 000000010000000161 00000002000000016100000001" + "62 000000010000000162",
		"frozen<map<int, text>>":     "- 00000000 0000000100000004000000010000000161 0000000100000004000000010000000162 00000001000000040000000200000000",
		"tuple<int, text>":           "- ffffffff|ffffffffffffffff ffffffff0000000161 00000004ffffffff 0000000400000000|0000000400000000ffffffff 00000004000000000000000161",
		"frozen<pair>":               "- ffffffff0000000161 0000000400000000",
		"vector<float, 2>":           "- bf80000000000000 000000003f800000 3f80000000000000",
		"vector<text, 2>":            "- 0000 000161 016100 01610161",
		"frozen<list<frozen<pair>>>": "- 00000000 00000001000000" + "04ffffffff 0000000100000008" + "0000000400000001",
	} {
		compare := Of(parse(t, typ))
		var groups [][][]byte
		for _, g := range strings.Fields(values) {
			var group [][]byte
			for _, v := range strings.Split(g, "|") {
				b, err := hex.DecodeString(strings.TrimPrefix(v, "-"))
				if err != nil {
					t.Fatal(typ, err)
				}
				group = append(group, b)
			}
			groups = append(groups, group)
		}
		for i, a := range groups {
			for j, b := range groups {
				for _, x := range a {
					for _, y := range b {
						if got, want := sign(compare(x, y)), sign(i-j); got != want {
							t.Errorf("%s: %x and %x compare to %d, want %d", typ, x, y, got, want)
						}
						if got := sign(Reverse(compare)(x, y)); got != sign(j-i) {
							t.Errorf("%s descending: %x and %x compare to %d", typ, x, y, got)
						}
					}
				}
			}
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

func TestPath(t *testing.T) {
	early, late := unhex("00000000000010008000000000000000"), unhex("00000000000110000000000000000000")
	if Path(parse(t, "list<int>"))(early, late) >= 0 {
		t.Error("elements of a list are ordered by time")
	}
	if Path(parse(t, "set<int>"))(unhex("ffffffff"), unhex("00000000")) >= 0 || Path(parse(t, "map<int, text>"))(unhex("ffffffff"), unhex("00000000")) >= 0 {
		t.Error("elements of a set and keys of a map are ordered by their type")
	}
	if Path(parse(t, "pair"))(unhex("0001"), unhex("0002")) >= 0 {
		t.Error("fields are ordered by number")
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// TestAnyBytes compares bytes that are no values: an order all the same.
func TestAnyBytes(t *testing.T) {
	types := []string{
		"boolean", "tinyint", "int", "bigint", "float", "double", "varint", "decimal", "uuid", "timeuuid", "frozen<list<int>>", "frozen<map<int, text>>",
		"tuple<int, text>", "frozen<pair>", "vector<float, 2>", "vector<text, 2>", "frozen<list<vector<text, 3>>>",
	}
	rapid.Check(t, func(r *rapid.T) {
		compare := Of(parse(t, rapid.SampledFrom(types).Draw(r, "type")))
		bytes := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 4, 8, 0x7f, 0x80, 0xff}), 0, 24)
		a, b := bytes.Draw(r, "a"), bytes.Draw(r, "b")
		if sign(compare(a, b)) != -sign(compare(b, a)) {
			r.Fatalf("%x and %x compare to %d and %d", a, b, compare(a, b), compare(b, a))
		}
		if compare(a, a) != 0 {
			r.Fatalf("%x is not equal to itself", a)
		}
	})
}
