package selection

import (
	"math"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

// cases are conditions on the column x, with the indices of the rows that are wanted.
type cases map[string][]int

// checkKept runs conditions over a record of one column, x.
func checkKept(t *testing.T, typ string, values []any, want cases) {
	t.Helper()
	t.Run(typ, func(t *testing.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		columns := columnsOf("x " + typ)
		rows := make([][]any, len(values))
		for i, v := range values {
			rows[i] = []any{v}
		}
		rec := recordOf(mem, columns, rows)
		defer rec.Release()
		for text, rows := range want {
			if diff := cmp.Diff(rows, kept(t, mustFilter(t, text, columns), rec)); diff != "" {
				t.Errorf("rows of %s (-want +got):\n%s", text, diff)
			}
		}
	})
}

func TestIntegers(t *testing.T) {
	for typ, limits := range map[string][2]int64{
		"tinyint": {math.MinInt8, math.MaxInt8}, "smallint": {math.MinInt16, math.MaxInt16}, "int": {math.MinInt32, math.MaxInt32},
		"bigint": {math.MinInt64, math.MaxInt64}, "counter": {math.MinInt64, math.MaxInt64},
	} {
		least, most := strconv.FormatInt(limits[0], 10), strconv.FormatInt(limits[1], 10)
		checkKept(t, typ, []any{limits[0], -1, 0, 1, 2, limits[1], nil}, cases{
			"x = 1": {3}, "x != 1": {0, 1, 2, 4, 5}, "x <> 1": {0, 1, 2, 4, 5}, "x < 1": {0, 1, 2}, "x <= 1": {0, 1, 2, 3}, "x > 1": {4, 5}, "x >= 1": {3, 4, 5},
			"x = " + least: {0}, "x = " + most: {5}, "x <= " + least: {0}, "x < " + least: {}, "x >= " + most: {5}, "x > " + most: {},
			"1 < x": {4, 5}, "1 >= x": {0, 1, 2, 3},
			// Numbers that are no integers lie between two of them.
			"x = 1.5": {}, "x != 1.5": {0, 1, 2, 3, 4, 5}, "x < 1.5": {0, 1, 2, 3}, "x <= 1.5": {0, 1, 2, 3}, "x > 1.5": {4, 5}, "x >= 1.5": {4, 5},
			"x < -0.5": {0, 1}, "x > -0.5": {2, 3, 4, 5}, "x >= -1.0": {1, 2, 3, 4, 5}, "x = 1.0": {3}, "x = 100e-2": {3}, "x = 0.1e1": {3}, "x = -0": {2}, "x = 0e99": {2},
			// So do those beyond all.
			"x < 1e30": {0, 1, 2, 3, 4, 5}, "x > 1e30": {}, "x = 1e30": {}, "x != 1e30": {0, 1, 2, 3, 4, 5}, "x > -1e30": {0, 1, 2, 3, 4, 5}, "x <= -1e30": {},
			"x < 9223372036854775808": {0, 1, 2, 3, 4, 5}, "x >= 9223372036854775808": {}, "x <= -9223372036854775809": {}, "x > -9223372036854775808.5": {0, 1, 2, 3, 4, 5},
			"x < 1e2147483647": {0, 1, 2, 3, 4, 5}, "x > 1e-2147483647": {3, 4, 5}, "x >= -1e-2147483647": {2, 3, 4, 5},
			"x IN (2, 1.5, -1, 1e30, 2.0)": {1, 4}, "x NOT IN (2, 1.5, -1)": {0, 2, 3, 5}, "x IN ()": {}, "x NOT IN ()": {0, 1, 2, 3, 4, 5},
			"x BETWEEN -1 AND 1": {1, 2, 3}, "x NOT BETWEEN -1 AND 1": {0, 4, 5}, "x BETWEEN 1 AND -1": {}, "x BETWEEN 0.5 AND 1.5": {3},
			"x IS NULL": {6}, "x IS NOT NULL": {0, 1, 2, 3, 4, 5}, "NOT x = 1": {0, 1, 2, 4, 5}, "x = x": {0, 1, 2, 3, 4, 5}, "x < x": {},
		})
	}
}

func TestFloats(t *testing.T) {
	for _, typ := range []string{"float", "double"} {
		values := []any{math.Inf(-1), -1.5, math.Copysign(0, -1), 0.0, 0.1, math.Inf(1), math.NaN(), nil}
		checkKept(t, typ, values, cases{
			"x = 0": {2, 3}, "x = -0.0": {2, 3}, "x < 0": {0, 1}, "x > 0": {4, 5, 6}, "x <= 0": {0, 1, 2, 3},
			// A literal is rounded to the type, so 0.1 is the value that 0.1 was stored as.
			"x = 0.1": {4}, "x IN (0.1, 7)": {4}, "x >= 0.1": {4, 5, 6}, "x < 0.1": {0, 1, 2, 3},
			"x = infinity": {5}, "x < infinity": {0, 1, 2, 3, 4}, "x > -infinity": {1, 2, 3, 4, 5, 6},
			"x = nan": {6}, "x != nan": {0, 1, 2, 3, 4, 5}, "x < nan": {0, 1, 2, 3, 4, 5}, "x >= nan": {6}, "x > nan": {}, "x > 1e38": {5, 6},
			"x IN (nan, -1.5)": {1, 6}, "x NOT IN (nan, -0.0)": {0, 1, 4, 5}, "x = x": {0, 1, 2, 3, 4, 5, 6}, "x IS NULL": {7},
		})
	}
	checkKept(t, "float", []any{16777216.0, 16777218.0}, cases{"x = 16777217": {0}, "x > 16777217": {1}}) // 2^24 + 1 is no float
	checkKept(t, "double", []any{16777217.0, 1e308, 5e-324}, cases{"x = 16777217": {0}, "x >= 1e308": {1}, "x > 0 AND x < 1e-300": {2}})
}

func TestExactNumbers(t *testing.T) {
	checkKept(t, "decimal", []any{"1.0", "1.00", "1", "0.1E+1", "-1.5", "0E-10", "1E+400000000", "9007199254740993.1", nil}, cases{
		"x = 1": {0, 1, 2, 3}, "x = 1.000": {0, 1, 2, 3}, "x != 1": {4, 5, 6, 7}, "x > 1": {6, 7}, "x < 0": {4}, "x = 0": {5}, "x = -0.0": {5},
		"x > 9007199254740993": {6, 7}, "x > 9007199254740993.1": {6}, "x = 9007199254740993.10": {7}, "x < 1e399999999": {0, 1, 2, 3, 4, 5, 7},
		"x = 10e399999999": {6}, "x IN (1.0, -15e-1)": {0, 1, 2, 3, 4}, "x NOT IN (1)": {4, 5, 6, 7}, "x BETWEEN -1.5 AND 0": {4, 5}, "x = x": {0, 1, 2, 3, 4, 5, 6, 7},
	})
	checkKept(t, "varint", []any{"123456789012345678901234567890", "-123456789012345678901234567890", "9", "10", "0", nil}, cases{
		"x = 123456789012345678901234567890": {0}, "x < 0": {1}, "x > 9": {0, 3}, "x >= 9.5": {0, 3}, "x = 1e1": {3}, "x > 123456789012345678901234567889.9": {0},
		"x > -123456789012345678901234567891": {0, 1, 2, 3, 4}, "x IN (9, 10.0)": {2, 3}, "x = 0": {4},
	})
}

func TestTexts(t *testing.T) {
	for _, typ := range []string{"text", "ascii"} {
		checkKept(t, typ, []any{"", "B", "a", "aa", "it's", "a\x00", nil}, cases{
			"x = 'a'": {2}, "x != 'a'": {0, 1, 3, 4, 5}, "x < 'a'": {0, 1}, "x <= 'a'": {0, 1, 2}, "x > 'a'": {3, 4, 5}, "x = ''": {0}, "x > ''": {1, 2, 3, 4, 5},
			"x = 'it''s'": {4}, "x IN ('aa', '', 'zz')": {0, 3}, "x NOT IN ('a')": {0, 1, 3, 4, 5}, "x BETWEEN 'a' AND 'b'": {2, 3, 5}, "x IS NULL": {6},
			"x GLOB 'a*'": {2, 3, 5}, "x NOT GLOB 'a*'": {0, 1, 4}, "x GLOB '*'": {0, 1, 2, 3, 4, 5}, "x GLOB '?'": {1, 2}, "x = x": {0, 1, 2, 3, 4, 5},
		})
	}
	// UTF-8 bytes have the order of code points: U+FF5E comes before U+1F343 although UTF-16 has it the other way. é as one code point
	// is another text than e and an accent.
	checkKept(t, "text", []any{"～", "🍃", "é", "e\u0301", "葉"}, cases{
		"x < '🍃'": {0, 2, 3, 4}, "x = 'é'": {2}, "x = 'e\u0301'": {3}, "x GLOB '?'": {0, 1, 2, 4}, "x IN ('葉', '🍃')": {1, 4},
	})
}

func TestOtherTypes(t *testing.T) {
	checkKept(t, "blob", []any{[]byte{}, []byte{0}, []byte{0x7f}, []byte{0x80}, []byte{0x7f, 0}, nil}, cases{
		"x = 0x": {0}, "x = 0x7F": {2}, "x > 0x7f": {3, 4}, "x < 0x80": {0, 1, 2, 4}, "x IN (0x00, 0x7f00)": {1, 4}, "x != 0x": {1, 2, 3, 4},
	})
	checkKept(t, "boolean", []any{true, false, nil}, cases{
		"x": {0}, "NOT x": {1}, "x = true": {0}, "x = false": {1}, "x != true": {1}, "x < true": {1}, "x >= false": {0, 1}, "x IN (true, false)": {0, 1}, "x OR NOT x": {0, 1}, "x IS NULL": {2},
	})
	checkKept(t, "date", []any{"1969-12-31", "1970-01-01", "2025-06-01", int64(math.MaxInt32), int64(math.MinInt32), nil}, cases{
		"x = '2025-06-01'": {2}, "x < '1970-01-01'": {0, 4}, "x >= '1970-01-01'": {1, 2, 3}, "x BETWEEN '1969-12-31' AND '1970-01-01'": {0, 1},
		"x > '5000000-01-01'": {3}, "x < '-0001-01-01'": {4}, "x IN ('2025-06-01', '2024-02-29')": {2}, "day(x) = '2025-06-01'": {2},
	})
	checkKept(t, "timestamp", []any{"2025-06-01T00:00:00Z", "2025-06-01T12:00:00.123Z", int64(-1), int64(math.MaxInt64), int64(math.MinInt64), int64(0), nil}, cases{
		"x = '2025-06-01'": {0}, "x = '2025-06-01T12:00:00.123Z'": {1}, "x = '2025-06-01 14:00:00.123+02:00'": {1}, "x = '2025-06-01T09:30:00.123-0230'": {1},
		"x >= '2025-06-01'": {0, 1, 3}, "x < '1970-01-01'": {2, 4}, "x = 0": {5}, "x = -1": {2}, "x >= 1748736000000": {0, 1, 3}, "x < -0.5": {2, 4},
		// A time between two milliseconds equals none.
		"x = '2025-06-01T12:00:00.1230001Z'": {}, "x > '2025-06-01T12:00:00.1230001Z'": {3}, "x < '2025-06-01T12:00:00.1230001Z'": {0, 1, 2, 4, 5},
		"x = '1969-12-31T23:59:59.9991Z'": {}, "x < '1969-12-31T23:59:59.9991Z'": {2, 4}, "x IN ('1970-01-01', '2025-06-01')": {0, 5},
		"day(x) = '2025-06-01'": {0, 1}, "day(x) = '1969-12-31'": {2}, "day(x) < '1969-12-31'": {4}, "day(x) IS NULL": {6}, "day(x) > '2025-06-01'": {3},
	})
	checkKept(t, "time", []any{int64(0), int64(45_296_000_000_789), int64(86_399_999_999_999), nil}, cases{
		"x = '00:00'": {0}, "x = '12:34:56.000000789'": {1}, "x > '12:34:56'": {1, 2}, "x = '23:59:59.999999999'": {2}, "x <= '12:34:56'": {0},
	})
	checkKept(t, "uuid", []any{"00000000-0000-0000-0000-000000000000", "7fffffff-0000-4000-8000-000000000000", "80000000-0000-4000-8000-000000000000", nil}, cases{
		"x = '7FFFFFFF-0000-4000-8000-000000000000'": {1}, "x = 80000000-0000-4000-8000-000000000000": {2}, "x > '7fffffff-0000-4000-8000-000000000000'": {2},
		"x < '00000000-0000-0000-0000-000000000001'": {0}, "x IN ('00000000-0000-0000-0000-000000000000', 7fffffff-0000-4000-8000-000000000000)": {0, 1},
	})
	// Row 0 is the earliest although its first bytes are the greatest: they are the low part of the time. Rows 2 to 4 are of the same
	// time; the other bytes compare as signed ones.
	checkKept(t, "timeuuid", []any{
		"ffffffff-0000-1000-8000-000000000000", "00000000-0001-1000-8000-000000000000", "00000000-0000-1001-8000-0000000000ff",
		"00000000-0000-1001-8000-000000000000", "00000000-0000-1001-8000-00000000007f", nil,
	}, cases{
		"x < 00000000-0001-1000-8000-000000000000": {0}, "x > 00000000-0001-1000-8000-000000000000": {2, 3, 4},
		"x < 00000000-0000-1001-8000-000000000000": {0, 1, 2}, "x > 00000000-0000-1001-8000-000000000000": {4}, "x = '00000000-0000-1001-8000-0000000000FF'": {2},
		"x <= '00000000-0000-1001-8000-0000000000ff'": {0, 1, 2}, "x IN (ffffffff-0000-1000-8000-000000000000)": {0}, "x = x": {0, 1, 2, 3, 4},
	})
	checkKept(t, "inet", []any{"9.0.0.1", "10.0.0.1", "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", nil}, cases{
		"x = '192.0.2.1'": {2}, "x = '2001:0DB8:0:0::1'": {3}, "x = '::ffff:192.0.2.1'": {4}, "x = '::ffff:c000:201'": {4}, "x > '9.0.0.1'": {1, 2, 3},
		"x >= '10.0.0.0' AND x <= '10.255.255.255'": {1}, "x < '9.0.0.2'": {0, 4}, "x IN ('10.0.0.1', '2001:DB8::1')": {1, 3},
	})
	checkKept(t, "duration", []any{[]any{int64(1), int64(2), int64(3)}, nil}, cases{"x IS NULL": {1}, "x IS NOT NULL": {0}})
	checkKept(t, "vector<float, 2>", []any{[]any{1.0, 2.0}, nil}, cases{"x IS NULL": {1}})
}

func TestPartsOfValues(t *testing.T) {
	checkKept(t, "map<text, text>", []any{
		[]entry{{"weather", "rain"}, {"region", "north"}}, []entry{{"region", "south"}}, []entry{{"weather", nil}}, []entry{}, nil, []entry{{"weather", "sun"}},
	}, cases{
		"x['weather'] = 'rain'": {0}, "x['weather'] != 'rain'": {5}, "x['weather'] IS NULL": {1, 2, 3, 4}, "x['region'] IN ('north', 'south')": {0, 1}, "x['no'] IS NOT NULL": {},
		"x CONTAINS 'south'": {1}, "x NOT CONTAINS 'south'": {0, 2, 3, 4, 5}, "x CONTAINS KEY 'weather'": {0, 2, 5}, "NOT x CONTAINS KEY 'weather'": {1, 3, 4},
		"x IS NULL": {4}, "x['weather'] < x['region']": {}, "x['weather'] > x['region']": {0}, "x['weather'] GLOB '*n'": {0, 5},
	})
	checkKept(t, "map<int, bigint>", []any{[]entry{{1, 10}, {-2, 20}}, []entry{{2, 30}}, nil}, cases{"x[1] = 10": {0}, "x[-2] > 15": {0}, "x[2.0] = 30": {1}, "x[1.5] IS NULL": {0, 1, 2}, "x CONTAINS KEY 2": {1}})
	checkKept(t, "map<date, boolean>", []any{[]entry{{"2025-06-01", true}}, []entry{{"2025-06-02", true}}}, cases{"x['2025-06-02']": {1}, "NOT x['2025-06-01']": {}})
	checkKept(t, "map<boolean, text>", []any{[]entry{{true, "a"}, {false, "b"}}}, cases{"x[false] = 'b'": {0}, "x[true] = 'b'": {}})
	checkKept(t, "map<uuid, int>", []any{[]entry{{"7fffffff-0000-4000-8000-000000000000", 1}}}, cases{"x['7fffffff-0000-4000-8000-000000000000'] = 1": {0}})
	checkKept(t, "map<text, uuid>", []any{[]entry{{"a", "7fffffff-0000-4000-8000-000000000000"}, {"b", nil}}, []entry{{"b", "00000000-0000-0000-0000-000000000000"}}, nil}, cases{
		"x['a'] = '7fffffff-0000-4000-8000-000000000000'": {0}, "x['b'] = '00000000-0000-0000-0000-000000000000'": {1}, "x['b'] IS NULL": {0, 2}, "x CONTAINS '00000000-0000-0000-0000-000000000000'": {1},
	})
	checkKept(t, "map<decimal, int>", []any{[]entry{{"1.0", 1}}}, cases{"x[1] = 1": {0}, "x[1.1] = 1": {}})
	checkKept(t, "set<text>", []any{[]any{"leaf_spot", "rust"}, []any{"blurry"}, []any{}, nil}, cases{
		"x CONTAINS 'rust'": {0}, "x CONTAINS 'rust' OR x CONTAINS 'blurry'": {0, 1}, "x CONTAINS 'rust' AND NOT x CONTAINS 'blurry'": {0}, "NOT x CONTAINS 'blurry'": {0, 2, 3}, "x IS NULL": {3},
	})
	checkKept(t, "list<double>", []any{[]any{1.5, nil, 2.0}, []any{nil}, nil}, cases{"x CONTAINS 2": {0}, "x NOT CONTAINS 2": {1, 2}})
	checkKept(t, "frozen<place>", []any{
		[]any{"Köln", 50667, []any{50.9, "dom"}}, []any{nil, 1, nil}, nil,
	}, cases{
		"x.city = 'Köln'": {0}, "x.CITY = 'Köln'": {0}, "x.city IS NULL": {1, 2}, `x."Zip" > 1`: {0}, "x.Zip >= 1": {0, 1}, "x.spot.0 < 51": {0}, "x.spot.1 = 'dom'": {0}, "x.spot IS NULL": {1, 2}, "x IS NULL": {2},
	})
	checkKept(t, "map<text, frozen<map<int, text>>>", []any{
		[]entry{{"a", []entry{{1, "x"}, {2, "y"}}}, {"b", []entry{{1, "z"}}}}, []entry{{"b", []entry{{2, "y"}}}}, nil,
	}, cases{"x['a'][2] = 'y'": {0}, "x['b'][1] = 'z'": {0}, "x['b'][2] = 'y'": {1}, "x['a'] CONTAINS 'x'": {0}, "x['b'] CONTAINS KEY 2": {1}, "x['a'] IS NULL": {1, 2}})
	checkKept(t, "map<text, frozen<place>>", []any{[]entry{{"home", []any{"Bonn", 53111, nil}}}, []entry{{"home", nil}}, nil}, cases{"x['home'].city = 'Bonn'": {0}, "x['home'].Zip IS NULL": {1, 2}})
	checkKept(t, "map<text, boolean>", []any{[]entry{{"ok", true}}, []entry{{"ok", false}}, []entry{}}, cases{"x['ok']": {0}, "NOT x['ok']": {1}})
}
