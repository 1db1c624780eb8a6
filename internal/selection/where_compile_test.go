package selection

import (
	"errors"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

const allTypes = "width int; device_id text; Mixed text; mixed int; day_bucket date; capture_time timestamp; at time; image_id timeuuid; u uuid; " +
	"addr inet; data blob; ok boolean; score double; price decimal; d duration; attributes map<text, text>; tags set<text>; l list<int>; " +
	"place frozen<place>; pair tuple<int, text>; v vector<float, 2>; byday map<date, int>; deep map<text, frozen<map<int, text>>>; lol list<frozen<list<int>>>"

func TestCompileErrors(t *testing.T) {
	columns := columnsOf(allTypes)
	for _, tc := range []struct{ name, text, rest, reason string }{
		{"int and text", "ok AND width = 'abc'", "'abc'", "width is int, 'abc' is text"},
		{"int and a day", "width = '2025-06-01'", "'2025-06-01'", "width is int, '2025-06-01' is text"},
		{"text and number", "device_id = 5", "5", "device_id is text, 5 is a number"},
		{"text and boolean", "device_id = true", "true", "device_id is text, true is a boolean"},
		{"text and uuid", "device_id = f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "device_id is text, f81d4fae-7dec-11d0-a765-00a0c91e6bf6 is a uuid"},
		{"boolean and number", "ok = 1", "1", "ok is boolean, 1 is a number"},
		{"blob and text", "data = 'x'", "'x'", "data is blob, 'x' is text"},
		{"text and blob", "device_id = 0x00", "0x00", "device_id is text, 0x00 is a blob"},
		{"date and number", "day_bucket = 20000", "20000", "day_bucket is date, 20000 is a number"},
		{"date and no day", "day_bucket >= '2025-02-30'", "'2025-02-30'", "day_bucket is date, '2025-02-30' is not a day, YYYY-MM-DD"},
		{"date and a time", "day_bucket = '2025-06-01T12:00:00Z'", "'2025-06-01T12:00:00Z'", "day_bucket is date, '2025-06-01T12:00:00Z' is not a day, YYYY-MM-DD"},
		{"timestamp and no time", "capture_time < 'yesterday'", "'yesterday'", "capture_time is timestamp, 'yesterday' is not a time, such as 2025-06-01 or 2025-06-01T12:00:00Z"},
		{"time and no time", "at = '25:00:00'", "'25:00:00'", "at is time, '25:00:00' is not a time of day, HH:MM:SS"},
		{"uuid and no uuid", "u = 'abc'", "'abc'", "u is uuid, 'abc' is not a uuid"},
		{"uuid without dashes", "u = 'f81d4fae7dec11d0a76500a0c91e6bf6'", "'f81d4fae7dec11d0a76500a0c91e6bf6'", "u is uuid, 'f81d4fae7dec11d0a76500a0c91e6bf6' is not a uuid"},
		{"timeuuid of another version", "image_id = '0a0b0c0d-0e0f-4000-8000-000000000000'", "'0a0b0c0d-0e0f-4000-8000-000000000000'", "image_id is timeuuid, '0a0b0c0d-0e0f-4000-8000-000000000000' is a uuid of version 4"},
		{"inet and no address", "addr = '300.0.0.1'", "'300.0.0.1'", "addr is inet, '300.0.0.1' is not an address"},
		{"inet with a zone", "addr = 'fe80::1%eth0'", "'fe80::1%eth0'", "addr is inet, 'fe80::1%eth0' is not an address"},
		{"int and NaN", "width = nan", "nan", "width is int, NaN is of float or double alone"},
		{"decimal and infinity", "price < infinity", "infinity", "price is decimal, Infinity is of float or double alone"},
		{"double and too much", "score < 1e400", "1e400", "score is double, 1e400 lies outside of it"},
		{"long text is cut", "width = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", "width is int, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… is text"},
		{"two columns", "width = device_id", "device_id", "width is int, device_id is text"},
		{"int and double columns", "width = score", "score", "width is int, score is double"},
		{"in a list", "width in (1, 'x')", "'x')", "width is int, 'x' is text"},
		{"bound of between", "width between 1 and 'x'", "'x'", "width is int, 'x' is text"},
		{"duration", "d = 5", "d = 5", "d is duration, which is not compared"},
		{"map compared", "width = 1 and attributes = 'x'", "attributes = 'x'", "attributes is map<text, text>, which is not compared"},
		{"map on the right", "device_id = attributes", "attributes", "attributes is map<text, text>, which is not compared"},
		{"vector compared", "v = 1", "v = 1", "v is vector<float, 2>, which is not compared"},
		{"set in a list", "tags in ('x')", "tags in ('x')", "tags is set<text>, which is not compared"},
		{"column alone", "width", "width", "width is int, which is no condition"},
		{"map alone", "not attributes", "attributes", "attributes is map<text, text>, which is no condition"},
		{"key of a text", "device_id['a'] = 'x'", "'a'] = 'x'", "device_id is text, which has no keys"},
		{"key of a list", "l[0] = 1", "0] = 1", "l is list<int>, which has no keys"},
		{"key of another type", "attributes[5] = 'x'", "5] = 'x'", "the keys of attributes are text, 5 is a number"},
		{"key that is no day", "byday['x'] = 1", "'x'] = 1", "the keys of byday are date, 'x' is not a day, YYYY-MM-DD"},
		{"key of a map in a map", "deep['a']['b'] = 'x'", "'b'] = 'x'", "the keys of deep['a'] are int, 'b' is text"},
		{"value of another type", "attributes['a'] = 5", "5", "attributes['a'] is text, 5 is a number"},
		{"field of an int", "width.a = 1", "a = 1", "width is int, which has no fields"},
		{"position in a user type", "place.0 = 'x'", "0 = 'x'", "the fields of place have names, those of frozen<place>"},
		{"field of a tuple", "pair.a = 1", "a = 1", "the fields of pair, which is frozen<tuple<int, text>>, are numbered from 0"},
		{"glob of a number", "width glob '1*'", "width glob '1*'", "width is int, a pattern is for text"},
		{"glob that is a number", "device_id glob 5", "5", "a pattern is text, 5 is a number"},
		{"contains of a text", "device_id contains 'x'", "device_id contains 'x'", "device_id is text, which has no elements to search"},
		{"contains of a vector", "v contains 1", "v contains 1", "v is vector<float, 2>, which has no elements to search"},
		{"key of a set", "tags contains key 'x'", "tags contains key 'x'", "tags is set<text>, which has no keys"},
		{"contains of another type", "tags contains 5", "5", "tags is set<text>, 5 is a number"},
		{"list of lists", "lol contains 5", "lol contains 5", "lol is list<frozen<list<int>>>, whose elements are not compared"},
		{"day of an int", "day(width) = '2025-06-01'", "day(width) = '2025-06-01'", "width is int, which has no day"},
		{"day and a time", "day(capture_time) = '2025-06-01T00:00:00Z'", "'2025-06-01T00:00:00Z'", "day(capture_time) is date, '2025-06-01T00:00:00Z' is not a day, YYYY-MM-DD"},
		{"write time and text", "writetime(width) > 'x'", "'x'", "writetime(width) is bigint, 'x' is text"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := ParseWhere(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Compile(c, columns)
			checkError(t, err, tc.rest, tc.reason)
		})
	}
}

func TestCompileNamesWhatIsUnknown(t *testing.T) {
	columns := columnsOf("width int; Height int; place frozen<place>; pair tuple<int, text>")
	names := []string{"width", "Height", "place", "pair"}
	for _, tc := range []struct {
		name, text, rest, reason, unknown string
		known                             []string
	}{
		{"column", "width > 1 and widht > 2", "widht > 2", `there is no column "widht"`, "widht", names},
		{"column in quotes has one case", `"Width" = 1`, `"Width" = 1`, `there is no column "Width"`, "Width", names},
		{"lower case does not find upper case", "height = 1", "height = 1", `there is no column "height"`, "height", names},
		{"column of a function", "writetime(x) = 1", "x) = 1", `there is no column "x"`, "x", names},
		{"field", "place.ctiy = 'x'", "ctiy = 'x'", `place, which is frozen<place>, has no field "ctiy"`, "ctiy", []string{"city", "Zip", "spot"}},
		{"position", "pair.2 = 'x'", "2 = 'x'", `pair, which is frozen<tuple<int, text>>, has no field "2"`, "2", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := ParseWhere(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Compile(c, columns)
			checkError(t, err, tc.rest, tc.reason)
			var e *Error
			if errors.As(err, &e); e.Unknown != tc.unknown || !slices.Equal(e.Known, tc.known) {
				t.Errorf("unknown %q among %q, want %q among %q", e.Unknown, e.Known, tc.unknown, tc.known)
			}
		})
	}
}

func TestNamesAreFoundAsWrittenThenInLowerCase(t *testing.T) {
	columns := columnsOf("width int; Width int; height int; place frozen<place>")
	for text, want := range map[string][]string{
		"width = 1": {"width"}, "Width = 1": {"Width"}, "WIDTH = 1": {"width"}, `"Width" = 1`: {"Width"}, "Height = 1": {"height"},
		"HEIGHT = 1 and Width = 1 and hEIGHT = 2": {"height", "Width"},
		"place.zip = 1":                                  nil,
		"place.Zip = 1 and place.City = 'x'":             {"place"},
		"writetime(WIDTH) = 1 or ttl(Width) = 1":         {"writetime(width)", "ttl(Width)"},
		"width in () and place is null or width is null": {"width", "place"},
	} {
		c, err := ParseWhere(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Compile(c, columns)
		if want == nil {
			if err == nil {
				t.Errorf("%s compiles", text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, f.Columns()); diff != "" {
			t.Errorf("columns of %s (-want +got):\n%s", text, diff)
		}
	}
}

func TestAllPointsIntoItsParts(t *testing.T) {
	first, err := ParseWhere("width > 1")
	if err != nil {
		t.Fatal(err)
	}
	second, err := In("device", []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Compile(All(first, second), columnsOf("width int"))
	checkError(t, err, "device IN ('a')", `there is no column "device"`)
}

func TestRecordMustHaveTheColumns(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	f := mustFilter(t, "width > 1", columnsOf("width int"))
	for _, tc := range []struct{ name, columns, want string }{
		{"missing", "height int", `read column "width": the record has 0 of that name`},
		{"twice", "width int; width int", `read column "width": the record has 2 of that name`},
		{"another type", "width bigint", `read column "width": it is of Arrow type int64, that of int is int32`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rec := recordOf(mem, columnsOf(tc.columns), nil)
			defer rec.Release()
			if _, err := f.Mask(nil, rec); err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
			if _, err := f.Apply(mem, rec); err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}
