package vector

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// record returns a record of one column made of JSON rows.
func record(t *testing.T, typ arrow.DataType, rows string) arrow.Record {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	a, _, err := array.FromJSON(mem, typ, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "c", Type: typ, Nullable: true}}, nil), []arrow.Array{a}, int64(a.Len()))
	t.Cleanup(func() {
		rec.Release()
		mem.AssertSize(t, 0)
	})
	return rec
}

// values returns the rows of a vector as Go values, nil for NULL.
func values(v *Vector) []any {
	out := make([]any, v.Len)
	for i := range out {
		switch {
		case v.IsNull(i):
		case v.Kind.Physical() == Ints:
			out[i] = v.Ints[i]
		case v.Kind.Physical() == Floats:
			out[i] = v.Floats[i]
		default:
			out[i] = string(v.Bytes(i))
		}
	}
	return out
}

// run evaluates rows lo to hi of the only column of rec.
func run(t *testing.T, rec arrow.Record, lo, hi int, build func(*Program) Slot) []any {
	t.Helper()
	var p Program
	slot := build(&p)
	m := p.NewMachine()
	if err := m.Bind(rec); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(lo, hi); err != nil {
		t.Fatal(err)
	}
	return values(m.Vector(slot))
}

func leafOf(kind Kind, steps ...Step) func(*Program) Slot {
	return func(p *Program) Slot { return p.Leaf("c", steps, kind) }
}

var uuidType = &arrow.FixedSizeBinaryType{ByteWidth: 16}

const (
	uuidA = "AAECAwQFBgcICQoLDA0ODw==" // 000102...0f
	uuidB = "Dw4NDAsKCQgHBgUEAwIBAA==" // 0f0e0d...00
)

func unhex(s string) string {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// leaves are columns of four rows, the third of which is NULL, and their values.
var leaves = []struct {
	kind Kind
	typ  arrow.DataType
	json string
	want []any
}{
	{Boolean, arrow.FixedWidthTypes.Boolean, `[true, false, null, true]`, []any{int64(1), int64(0), nil, int64(1)}},
	{Int8, arrow.PrimitiveTypes.Int8, `[-128, 0, null, 127]`, []any{int64(-128), int64(0), nil, int64(127)}},
	{Int16, arrow.PrimitiveTypes.Int16, `[-1, 0, null, 300]`, []any{int64(-1), int64(0), nil, int64(300)}},
	{Int32, arrow.PrimitiveTypes.Int32, `[-1, 0, null, 70000]`, []any{int64(-1), int64(0), nil, int64(70000)}},
	{Int64, arrow.PrimitiveTypes.Int64, `[-1, 0, null, 5000000000]`, []any{int64(-1), int64(0), nil, int64(5000000000)}},
	{Float32, arrow.PrimitiveTypes.Float32, `[-0.5, 0, null, 2]`, []any{-0.5, 0.0, nil, 2.0}},
	{Float64, arrow.PrimitiveTypes.Float64, `[-0.5, 0, null, 0.1]`, []any{-0.5, 0.0, nil, 0.1}},
	{Text, arrow.BinaryTypes.String, `["a", "", null, "ü"]`, []any{"a", "", nil, "ü"}},
	{Decimal, arrow.BinaryTypes.String, `["1.0", "2", null, "-1E+3"]`, []any{"1.0", "2", nil, "-1E+3"}},
	{Blob, arrow.BinaryTypes.Binary, `["AP8=", "", null, "AQ=="]`, []any{"\x00\xff", "", nil, "\x01"}},
	{UUID, uuidType, `["` + uuidA + `", "` + uuidB + `", null, "` + uuidA + `"]`, []any{
		unhex("000102030405060708090a0b0c0d0e0f"), unhex("0f0e0d0c0b0a09080706050403020100"), nil, unhex("000102030405060708090a0b0c0d0e0f"),
	}},
	{Timestamp, arrow.FixedWidthTypes.Timestamp_ms, `["1970-01-01T00:00:01Z", "1969-12-31T23:59:59.999Z", null, "1970-01-01T00:00:00Z"]`, []any{int64(1000), int64(-1), nil, int64(0)}},
	{Date, arrow.FixedWidthTypes.Date32, `["1970-01-02", "1969-12-31", null, "1970-01-01"]`, []any{int64(1), int64(-1), nil, int64(0)}},
	{Time, arrow.FixedWidthTypes.Time64ns, `["00:00:00.000000001", "00:00:01", null, "00:00:00"]`, []any{int64(1), int64(1e9), nil, int64(0)}},
}

func TestLeaf(t *testing.T) {
	for _, tc := range leaves {
		t.Run(tc.kind.String(), func(t *testing.T) {
			rec := record(t, tc.typ, tc.json)
			if diff := cmp.Diff(tc.want, run(t, rec, 0, 4, leafOf(tc.kind))); diff != "" {
				t.Errorf("whole record (-want +got):\n%s", diff)
			}
			sliced := rec.NewSlice(1, 4)
			defer sliced.Release()
			if diff := cmp.Diff(tc.want[2:4], run(t, sliced, 1, 3, leafOf(tc.kind))); diff != "" {
				t.Errorf("rows of a slice (-want +got):\n%s", diff)
			}
		})
	}
}

// A map without the key, an empty map and a NULL map give NULL, and so does a key whose value is NULL.
func TestMapValue(t *testing.T) {
	for _, tc := range leaves {
		t.Run(tc.kind.String(), func(t *testing.T) {
			items := strings.Split(strings.Trim(tc.json, "[]"), ", ")
			rows := fmt.Sprintf(`[[{"key": "x", "value": %s}, {"key": "k", "value": %s}], [], null, [{"key": "k", "value": %s}], [{"key": "kk", "value": %s}],
				[{"key": "k", "value": %s}]]`, items[1], items[0], items[2], items[0], items[3])
			rec := record(t, arrow.MapOf(arrow.BinaryTypes.String, tc.typ), rows)
			want := []any{tc.want[0], nil, nil, nil, nil, tc.want[3]}
			key := leafOf(tc.kind, Step{Map: true, Key: "k"})
			if diff := cmp.Diff(want, run(t, rec, 0, 6, key)); diff != "" {
				t.Errorf("whole record (-want +got):\n%s", diff)
			}
			sliced := rec.NewSlice(1, 6)
			defer sliced.Release()
			if diff := cmp.Diff(want[3:6], run(t, sliced, 2, 5, key)); diff != "" {
				t.Errorf("rows of a slice (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoMapHasAnEntry(t *testing.T) {
	rec := record(t, arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String), `[[], null]`)
	if diff := cmp.Diff([]any{nil, nil}, run(t, rec, 0, 2, leafOf(Text, Step{Map: true, Key: "k"}))); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestMapWithIntegerKeys(t *testing.T) {
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
		rec := record(t, arrow.MapOf(typ, arrow.BinaryTypes.String), `[[{"key": 7, "value": "a"}, {"key": -7, "value": "b"}], [{"key": 7, "value": "c"}]]`)
		if diff := cmp.Diff([]any{"b", nil}, run(t, rec, 0, 2, leafOf(Text, Step{Map: true, IntKey: -7}))); diff != "" {
			t.Errorf("keys of type %s (-want +got):\n%s", typ, diff)
		}
	}
}

func TestNestedPath(t *testing.T) {
	place := arrow.StructOf(
		arrow.Field{Name: "site", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "pos", Type: arrow.StructOf(arrow.Field{Name: "0", Type: arrow.PrimitiveTypes.Float64, Nullable: true}), Nullable: true},
	)
	rows := `[{"site": "a", "pos": {"0": 1.5}}, null, {"site": null, "pos": null}, {"site": "b", "pos": {"0": null}}, {"site": "", "pos": {"0": -1}}]`
	rec := record(t, place, rows)
	if diff := cmp.Diff([]any{"a", nil, nil, "b", ""}, run(t, rec, 0, 5, leafOf(Text, Step{Field: 0}))); diff != "" {
		t.Errorf("field (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{1.5, nil, nil, nil, -1.0}, run(t, rec, 0, 5, leafOf(Float64, Step{Field: 1}, Step{Field: 0}))); diff != "" {
		t.Errorf("field of a field (-want +got):\n%s", diff)
	}
	byKey := record(t, arrow.MapOf(arrow.BinaryTypes.String, place), `[[{"key": "k", "value": {"site": "a", "pos": null}}], []]`)
	if diff := cmp.Diff([]any{"a", nil}, run(t, byKey, 0, 2, leafOf(Text, Step{Map: true, Key: "k"}, Step{Field: 0}))); diff != "" {
		t.Errorf("field of a map's value (-want +got):\n%s", diff)
	}
}

func TestPeriodsOfTimestamps(t *testing.T) {
	rec := record(t, arrow.FixedWidthTypes.Timestamp_ms,
		`["2024-02-29T23:59:59.999Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", null, "2000-12-31T12:30:00Z"]`)
	day := func(y int, m time.Month, d int) any { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400 }
	hour := func(y int, m time.Month, d, h int) any { return time.Date(y, m, d, h, 0, 0, 0, time.UTC).UnixMilli() }
	for unit, want := range map[Unit][]any{
		Hour:  {hour(2024, 2, 29, 23), int64(0), hour(1969, 12, 31, 23), nil, hour(2000, 12, 31, 12)},
		Day:   {day(2024, 2, 29), int64(0), int64(-1), nil, day(2000, 12, 31)},
		Month: {day(2024, 2, 1), int64(0), day(1969, 12, 1), nil, day(2000, 12, 1)},
		Year:  {day(2024, 1, 1), int64(0), day(1969, 1, 1), nil, day(2000, 1, 1)},
	} {
		got := run(t, rec, 0, 5, func(p *Program) Slot {
			s, ok := p.Period(p.Leaf("c", nil, Timestamp), unit)
			if !ok {
				t.Errorf("%s of a timestamp is refused", unit)
			}
			return s
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", unit, diff)
		}
	}
}

// The UUID is the example of RFC 9562, A.1, made at 2022-02-22 19:22:22 UTC.
func TestPeriodOfTimeUUID(t *testing.T) {
	rec := record(t, uuidType, `["wjKrAJQUEeyzyJ5r3s7YRg==", null]`)
	got := run(t, rec, 0, 2, func(p *Program) Slot {
		s, _ := p.Period(p.Leaf("c", nil, TimeUUID), Hour)
		return s
	})
	if diff := cmp.Diff([]any{time.Date(2022, 2, 22, 19, 0, 0, 0, time.UTC).UnixMilli(), nil}, got); diff != "" {
		t.Errorf("hour (-want +got):\n%s", diff)
	}
}

func TestPeriodIsRefused(t *testing.T) {
	var p Program
	if _, ok := p.Period(p.Leaf("d", nil, Date), Hour); ok {
		t.Error("hour of a date")
	}
	if _, ok := p.Period(p.Leaf("n", nil, Int64), Day); ok {
		t.Error("day of a bigint")
	}
}

func TestCalendarAgreesWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.Int64Range(-800_000_000, 800_000_000).Draw(t, "day")
		want := time.Unix(day*86400, 0).UTC()
		y, m := civil(day)
		if y != int64(want.Year()) || m != int64(want.Month()) {
			t.Fatalf("day %d is in %d-%d, want %s", day, y, m, want)
		}
		if got, want := firstDay(y, m), time.Date(want.Year(), want.Month(), 1, 0, 0, 0, 0, time.UTC).Unix()/86400; got != want {
			t.Fatalf("first day of %d-%d is %d, want %d", y, m, got, want)
		}
	})
}

func TestOutOfRange(t *testing.T) {
	const far = int64(math.MaxInt32+1) * 86_400_000
	for _, tc := range []struct {
		name  string
		typ   arrow.DataType
		json  string
		build func(*Program) Slot
	}{
		{"day beyond a date", arrow.FixedWidthTypes.Timestamp_ms, fmt.Sprintf("[%d]", far), func(p *Program) Slot {
			s, _ := p.Period(p.Leaf("c", nil, Timestamp), Day)
			return s
		}},
		{"hour before the first", arrow.FixedWidthTypes.Timestamp_ms, fmt.Sprintf("[%d]", math.MinInt64), func(p *Program) Slot {
			s, _ := p.Period(p.Leaf("c", nil, Timestamp), Hour)
			return s
		}},
		{"year before the first day", arrow.FixedWidthTypes.Date32, fmt.Sprintf("[%d]", math.MinInt32), func(p *Program) Slot {
			s, _ := p.Period(p.Leaf("c", nil, Date), Year)
			return s
		}},
		{"difference", arrow.StructOf(
			arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int64},
		), fmt.Sprintf(`[{"a": %d, "b": 1}]`, math.MinInt64), func(p *Program) Slot {
			return p.Difference(p.Leaf("c", []Step{{Field: 0}}, Int64), p.Leaf("c", []Step{{Field: 1}}, Int64))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rec := record(t, tc.typ, tc.json)
			var p Program
			tc.build(&p)
			m := p.NewMachine()
			if err := m.Bind(rec); err != nil {
				t.Fatal(err)
			}
			if err := m.Run(0, 1); !errors.Is(err, ErrOutOfRange) {
				t.Errorf("error %v, want %v", err, ErrOutOfRange)
			}
		})
	}
}

func TestSides(t *testing.T) {
	sides := arrow.StructOf(
		arrow.Field{Name: "w", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: "h", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	)
	rec := record(t, sides, `[{"w": 4000, "h": 3000}, {"w": 0, "h": 3000}, {"w": 640, "h": -1}, {"w": null, "h": 3}, {"w": 2, "h": null}, {"w": 640, "h": 480}]`)
	side := func(p *Program, i int) Slot { return p.Leaf("c", []Step{{Field: i}}, Int32) }
	got := run(t, rec, 0, 6, func(p *Program) Slot { return p.Megapixels(side(p, 0), side(p, 1)) })
	if diff := cmp.Diff([]any{12.0, nil, nil, nil, nil, 0.3072}, got); diff != "" {
		t.Errorf("megapixels (-want +got):\n%s", diff)
	}
	got = run(t, rec, 0, 6, func(p *Program) Slot { return p.Aspect(side(p, 0), side(p, 1)) })
	if diff := cmp.Diff([]any{4.0 / 3, nil, nil, nil, nil, 4.0 / 3}, got); diff != "" {
		t.Errorf("aspect (-want +got):\n%s", diff)
	}
	got = run(t, rec, 0, 6, func(p *Program) Slot { return p.Difference(side(p, 0), side(p, 1)) })
	if diff := cmp.Diff([]any{int64(1000), int64(-3000), int64(641), nil, nil, int64(160)}, got); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}
	got = run(t, rec, 0, 6, func(p *Program) Slot { return p.Bucket(side(p, 1), []float64{0, 480, 3000}) })
	if diff := cmp.Diff([]any{int64(3), int64(3), int64(0), int64(1), nil, int64(2)}, got); diff != "" {
		t.Errorf("bucket of integers (-want +got):\n%s", diff)
	}
	got = run(t, rec, 0, 6, func(p *Program) Slot {
		return p.Bucket(p.Megapixels(side(p, 0), side(p, 1)), []float64{0.3072, 1, 12.5})
	})
	if diff := cmp.Diff([]any{int64(2), nil, nil, nil, nil, int64(1)}, got); diff != "" {
		t.Errorf("bucket of floats (-want +got):\n%s", diff)
	}
}

func TestContentHasTheOrderOfValues(t *testing.T) {
	for kind, ascending := range map[Kind]string{
		Varint:  `["-100", "-99", "0", "7", "10", "100000000000000000000"]`,
		Decimal: `["-1E+3", "-0.01", "0.00", "0.009", "1.0", "1.01"]`,
		Inet:    `["9.0.0.1", "10.0.0.2", "10.0.0.10"]`,
	} {
		rec := record(t, arrow.BinaryTypes.String, ascending)
		got := run(t, rec, 0, int(rec.NumRows()), func(p *Program) Slot { return p.Content(p.Leaf("c", nil, kind)) })
		for i := 1; i < len(got); i++ {
			if got[i-1].(string) >= got[i].(string) {
				t.Errorf("%s %d of %s is not above the one before", kind, i, ascending)
			}
		}
	}
}

func TestMalformedNumberIsAnError(t *testing.T) {
	rec := record(t, arrow.BinaryTypes.String, `["1", "one"]`)
	var p Program
	p.Content(p.Leaf("c", nil, Decimal))
	m := p.NewMachine()
	if err := m.Bind(rec); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(0, 2); err == nil || !strings.Contains(err.Error(), `"one"`) {
		t.Errorf("error %v does not name the value", err)
	}
}

func TestMismatchedRecords(t *testing.T) {
	rec := record(t, arrow.FixedWidthTypes.Timestamp_us, `[null]`)
	var p Program
	p.Leaf("c", nil, Timestamp)
	m := p.NewMachine()
	if err := m.Bind(rec); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(0, 1); err == nil || !strings.Contains(err.Error(), "timestamp") {
		t.Errorf("timestamps in microseconds: error %v", err)
	}
	var missing Program
	missing.Leaf("d", nil, Int32)
	if err := missing.NewMachine().Bind(rec); err == nil || !strings.Contains(err.Error(), `"d"`) {
		t.Errorf("missing column: error %v", err)
	}
}

func TestEqualExpressionsShareASlot(t *testing.T) {
	var p Program
	day := func() Slot {
		s, _ := p.Period(p.Leaf("t", nil, Timestamp), Day)
		return s
	}
	if a, b := day(), day(); a != b {
		t.Errorf("slots %d and %d for the same day", a, b)
	}
	if a, b := p.Leaf("m", []Step{{Map: true, Key: "1"}}, Text), p.Leaf("m", []Step{{Map: true, IntKey: 1}}, Text); a == b {
		t.Error("a text key and an integer key share a slot")
	}
	if got := p.Columns(); !cmp.Equal(got, []string{"t", "m"}) {
		t.Errorf("columns %q", got)
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	rec := record(t, arrow.MapOf(arrow.BinaryTypes.String, arrow.FixedWidthTypes.Timestamp_ms), `[[{"key": "k", "value": 5}], null, []]`)
	var p Program
	p.Period(p.Leaf("c", []Step{{Map: true, Key: "k"}}, Timestamp), Month)
	m := p.NewMachine()
	if err := m.Bind(rec); err != nil {
		t.Fatal(err)
	}
	got := testing.AllocsPerRun(100, func() {
		if err := m.Run(0, 3); err != nil {
			t.Fatal(err)
		}
	})
	// The lookup of a key is a closure, one per block.
	if got > 1 {
		t.Errorf("%v allocations per block", got)
	}
}
