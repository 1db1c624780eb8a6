package accumulate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"

	"manifest/queries/internal/ordered"
	"manifest/queries/internal/vector"
)

func vectorOf(kind vector.Kind, values []vector.Value) *vector.Vector {
	v := &vector.Vector{Kind: kind, Len: len(values), Null: make([]bool, len(values))}
	for i, x := range values {
		v.Null[i] = x.Null
		v.Ints, v.Floats = append(v.Ints, x.Int), append(v.Floats, x.Float)
		v.Starts = append(v.Starts, int32(len(v.Data)))
		v.Data = append(v.Data, x.Bytes...)
		v.Ends = append(v.Ends, int32(len(v.Data)))
	}
	return v
}

func newAccumulator(t testing.TB, a Aggregate) Accumulator {
	t.Helper()
	acc, err := a.New()
	if err != nil {
		t.Fatal(err)
	}
	return acc
}

// accumulate returns an accumulator whose group 0 has seen the values.
func accumulate(t testing.TB, a Aggregate, values []vector.Value) Accumulator {
	t.Helper()
	acc := newAccumulator(t, a)
	acc.Grow(1)
	if err := acc.Update(vectorOf(a.Kind, values), make([]uint32, len(values)), 0, len(values)); err != nil {
		t.Fatal(err)
	}
	return acc
}

func ints(vs ...int64) []vector.Value {
	out := make([]vector.Value, len(vs))
	for i, v := range vs {
		out[i].Int = v
	}
	return out
}

func floats(vs ...float64) []vector.Value {
	out := make([]vector.Value, len(vs))
	for i, v := range vs {
		out[i].Float = v
	}
	return out
}

func texts(vs ...string) []vector.Value {
	out := make([]vector.Value, len(vs))
	for i, v := range vs {
		out[i].Bytes = []byte(v)
	}
	return out
}

func decimals(vs ...string) []vector.Value {
	out := texts(vs...)
	for i, v := range out {
		d, err := ordered.ParseDecimal(v.Bytes, nil)
		if err != nil {
			panic(err)
		}
		out[i].Bytes = d.AppendContent(nil)
	}
	return out
}

// show writes a result in words.
func show(kind vector.Kind, v vector.Value) string {
	switch {
	case v.Null:
		return "NULL"
	case kind.Physical() == vector.Ints:
		return strconv.FormatInt(v.Int, 10)
	case kind.Physical() == vector.Floats:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case kind == vector.Varint || kind == vector.Decimal:
		d, err := ordered.DecimalOf(v.Bytes, nil)
		if err != nil {
			return err.Error()
		}
		return string(d.AppendText(nil))
	}
	return string(v.Bytes)
}

func TestResult(t *testing.T) {
	null := vector.Value{Null: true}
	negZero := math.Copysign(0, -1)
	inf, nan := math.Inf(1), math.NaN()
	for _, tc := range []struct {
		name   string
		fn     string
		kind   vector.Kind
		values []vector.Value
		want   string
	}{
		{"count leaves out NULL", "count", vector.Int32, append(ints(5, 0), null), "2"},
		{"count of nothing", "count", vector.Int32, nil, "0"},
		{"count of NaN", "count", vector.Float64, floats(nan), "1"},
		{"sum leaves out NULL", "sum", vector.Int32, append(ints(5, -7), null), "-2"},
		{"sum of nothing", "sum", vector.Int32, nil, "NULL"},
		{"sum of NULL", "sum", vector.Int32, []vector.Value{null}, "NULL"},
		{"sum that passes beyond a bigint", "sum", vector.Int64, ints(math.MaxInt64, math.MaxInt64, -math.MaxInt64, 0), "9223372036854775807"},
		{"least bigint", "sum", vector.Int64, ints(math.MinInt64), "-9223372036854775808"},
		{"average of a third", "avg", vector.Int64, ints(1, 0, 0), "0.3333333333333333"},
		{"average of large numbers", "avg", vector.Int64, ints(math.MaxInt64, math.MaxInt64), "9.223372036854776e+18"},
		{"average of nothing", "avg", vector.Int8, []vector.Value{null}, "NULL"},
		{"float sum of nothing", "sum", vector.Float64, []vector.Value{null}, "NULL"},
		{"float sum of zeros", "sum", vector.Float64, floats(negZero, negZero), "0"},
		{"float sum with NaN", "sum", vector.Float64, floats(1, nan, inf), "NaN"},
		{"float sum of both infinities", "sum", vector.Float64, floats(inf, -inf), "NaN"},
		{"float sum with an infinity", "sum", vector.Float64, floats(inf, -1), "+Inf"},
		{"float average with an infinity", "avg", vector.Float64, floats(-inf, 7), "-Inf"},
		{"float sum beyond the largest double", "sum", vector.Float64, floats(math.MaxFloat64, math.MaxFloat64), "+Inf"},
		{"float sum that comes back", "sum", vector.Float64, floats(math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64), "1.7976931348623157e+308"},
		{"float average of the largest double", "avg", vector.Float64, floats(math.MaxFloat64, math.MaxFloat64), "1.7976931348623157e+308"},
		{"sum of the smallest doubles", "sum", vector.Float64, floats(5e-324, 5e-324), "1e-323"},
		{"average of the smallest double and 0, a tie", "avg", vector.Float64, floats(5e-324, 0), "0"},
		{"varint sum", "sum", vector.Varint, texts("9223372036854775807", "1", "-3"), "9223372036854775805"},
		{"varint sum of zeros", "sum", vector.Varint, texts("0", "0"), "0"},
		{"decimal sum", "sum", vector.Decimal, texts("1.10", "2.2", "-0.003", "1E+2"), "103.297"},
		{"decimal sum that is 0", "sum", vector.Decimal, texts("1.10", "-1.1"), "0"},
		{"decimal average", "avg", vector.Decimal, texts("0.1", "0.2", "0.3", "0"), "0.15"},
		{"decimal average out of range", "avg", vector.Decimal, texts("1E+500", "1"), "+Inf"},
		{"decimal average near 0", "avg", vector.Decimal, texts("-1E-500"), "-0"},
		{"decimal sum of nothing", "sum", vector.Decimal, []vector.Value{null}, "NULL"},
		{"min", "min", vector.Int64, append(ints(5, math.MinInt64, 7), null), "-9223372036854775808"},
		{"max", "max", vector.Int64, append(ints(5, math.MaxInt64, 7), null), "9223372036854775807"},
		{"min of nothing", "min", vector.Date, []vector.Value{null}, "NULL"},
		{"max of a negative", "max", vector.Timestamp, ints(-5, -7), "-5"},
		{"min leaves NaN above", "min", vector.Float64, floats(nan, 3, inf), "3"},
		{"min of NaN alone", "min", vector.Float64, floats(nan), "NaN"},
		{"max takes NaN", "max", vector.Float64, floats(inf, nan, 3), "NaN"},
		{"min of zeros", "min", vector.Float64, floats(0, negZero), "-0"},
		{"max of zeros", "max", vector.Float64, floats(negZero, 0), "0"},
		{"min of text is bytewise", "min", vector.Text, texts("b", "B", "a", "ä"), "B"},
		{"max of text is bytewise", "max", vector.Text, texts("b", "B", "", "ä"), "ä"},
		{"min of empty text", "min", vector.Text, append(texts("a", ""), null), ""},
		{"max of no text", "max", vector.Text, []vector.Value{null}, "NULL"},
		{"max of varints is numeric", "max", vector.Varint, decimals("9", "10", "-11"), "10"},
		{"min of decimals is numeric", "min", vector.Decimal, decimals("9", "-1E+3", "-999.9"), "-1000"},
		{"distinct", "distinct", vector.Text, append(texts("a", "b", "a", ""), null, null), "3"},
		{"distinct of nothing", "distinct", vector.Text, []vector.Value{null}, "0"},
		{"distinct zeros and NaNs", "distinct", vector.Float64, floats(0, negZero, nan, math.Float64frombits(0xfff8000000000001)), "2"},
		{"distinct decimals are numbers", "distinct", vector.Decimal, decimals("1.0", "1.00", "1E+0", "2"), "2"},
		{"distinct booleans", "distinct", vector.Boolean, ints(0, 1, 1, 0), "2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := Aggregate{Func: tc.fn, Kind: tc.kind}
			acc := accumulate(t, a, tc.values)
			got, err := acc.Result(0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(acc.Results()[0], got); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestCountOfRows(t *testing.T) {
	acc := newAccumulator(t, Aggregate{Func: "count", Rows: true})
	acc.Grow(3)
	if err := acc.Update(nil, []uint32{9, 2, 0, 2, 9}, 1, 4); err != nil {
		t.Fatal(err)
	}
	for g, want := range []int64{1, 0, 2} {
		if got, _ := acc.Result(g, 0); got.Int != want {
			t.Errorf("group %d has %d rows, want %d", g, got.Int, want)
		}
	}
}

func TestOverflowIsAnError(t *testing.T) {
	for name, acc := range map[string]Accumulator{
		"above a bigint": accumulate(t, Aggregate{Func: "sum", Kind: vector.Int64}, ints(math.MaxInt64, 1)),
		"below a bigint": accumulate(t, Aggregate{Func: "sum", Kind: vector.Int64}, ints(math.MinInt64, -1)),
	} {
		if got, err := acc.Result(0, 0); !errors.Is(err, ErrOverflow) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
	// Whatever comes first, and even where the sum would be short.
	for _, values := range [][]string{{"1E+100000", "-1E+100000", "1"}, {"1", "1E+100000", "-1E+100000"}} {
		acc := newAccumulator(t, Aggregate{Func: "sum", Kind: vector.Decimal})
		acc.Grow(1)
		if err := acc.Update(vectorOf(vector.Decimal, texts(values...)), make([]uint32, 3), 0, 3); !errors.Is(err, ErrOverflow) {
			t.Errorf("sum of %v: error %v", values, err)
		}
	}
}

func TestRefusedTypes(t *testing.T) {
	for fn, kinds := range map[string][]vector.Kind{
		"sum":       {vector.Text, vector.Timestamp, vector.Date, vector.Boolean, vector.UUID},
		"avg":       {vector.Timestamp, vector.Time, vector.Inet},
		"quantiles": {vector.Text, vector.Timestamp, vector.Boolean},
	} {
		for _, kind := range kinds {
			_, err := Aggregate{Func: fn, Kind: kind}.New()
			if want := fmt.Sprintf("%s of %s: %v", fn, kind, ErrType); !errors.Is(err, ErrType) || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	}
}

// The sums are those of the tests of Python's math.fsum.
func TestExactFloatSum(t *testing.T) {
	harmonic, alternating := make([]float64, 1000), make([]float64, 1000)
	for i := range harmonic {
		harmonic[i] = 1 / float64(i+1)
		alternating[i] = math.Pow(-1, float64(i+1)) / float64(i+1)
	}
	two53 := math.Pow(2, 53)
	for _, tc := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{1e100, 1, -1e100}, 1},
		{[]float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}, 1},
		{[]float64{two53, -0.5, -math.Pow(2, -54)}, two53 - 1},
		{[]float64{two53, 1, math.Pow(2, -100)}, two53 + 2},
		{[]float64{two53 + 10, 1, math.Pow(2, -100)}, two53 + 12},
		{[]float64{two53 - 4, 0.5, math.Pow(2, -54)}, two53 - 3},
		{harmonic, 0x1.df11f45f4e61ap+2},
		{alternating, -0x1.62a2af1bd3624p-1},
		{[]float64{1e16, 1, 1e-16}, 10000000000000002},
		{[]float64{1e16 - 2, 1 - math.Pow(2, -53), -(1e16 - 2), -(1 - math.Pow(2, -53))}, 0},
	} {
		got, err := accumulate(t, Aggregate{Func: "sum", Kind: vector.Float64}, floats(tc.values...)).Result(0, 0)
		if err != nil || got.Float != tc.want {
			t.Errorf("sum of %d numbers from %v on: %v, want %v, error %v", len(tc.values), tc.values[0], got.Float, tc.want, err)
		}
	}
}

func TestManyDifferentValues(t *testing.T) {
	for _, n := range []int{2047, 2048, 2049, 5000, 200_000} {
		want := int64(n)
		if n > 2048 {
			sketch := hyperloglog.NewNoSparse()
			for i := range n {
				sketch.InsertHash(xxh3.Hash(binary.LittleEndian.AppendUint64(nil, uint64(i))))
			}
			want = int64(sketch.Estimate())
			if off := math.Abs(float64(want)/float64(n) - 1); off > 0.03 {
				t.Errorf("%d different values are estimated as %d", n, want)
			}
		}
		a := Aggregate{Func: "distinct", Kind: vector.Int64}
		values := make([]vector.Value, n)
		for i := range values {
			values[i].Int = int64(i)
		}
		whole := accumulate(t, a, values)
		merged := newAccumulator(t, a)
		merged.Grow(1)
		for _, part := range [][]vector.Value{values[n/2:], values[:n/4], values[:n/2+10]} {
			state := accumulate(t, a, part).AppendState(nil, 0, false)
			if _, err := merged.Merge(0, state); err != nil {
				t.Fatal(err)
			}
		}
		for _, acc := range []Accumulator{whole, merged} {
			if got, _ := acc.Result(0, 0); got.Int != want {
				t.Errorf("%d different values count as %d, want %d", n, got.Int, want)
			}
		}
		if !bytes.Equal(whole.AppendState(nil, 0, false), merged.AppendState(nil, 0, false)) {
			t.Errorf("states of %d different values differ", n)
		}
	}
}

// The relative error of a quantile is at most 1 %, of the value at the rank that the definition names.
func TestQuantilesAreWithinOnePercent(t *testing.T) {
	var values []vector.Value
	for i := range int64(10_000) {
		values = append(values, vector.Value{Int: (i*i)%99_991 - 20_000})
	}
	a := Aggregate{Func: "quantiles", Kind: vector.Int64}
	acc := accumulate(t, a, values)
	slices.SortFunc(values, func(x, y vector.Value) int { return int(x.Int - y.Int) })
	for i, q := range a.Quantiles() {
		got, err := acc.Result(0, i)
		want := float64(values[int(q*float64(len(values)-1))].Int)
		if err != nil || math.Abs(got.Float-want) > 0.01*math.Abs(want) {
			t.Errorf("quantile %v is %v, want %v, error %v", q, got.Float, want, err)
		}
	}
}

func TestCompleteGroupMeetsMoreValues(t *testing.T) {
	for _, a := range []Aggregate{{Func: "distinct", Kind: vector.Int64}, {Func: "quantiles", Kind: vector.Int64}} {
		final := accumulate(t, a, ints(1, 2)).AppendState(nil, 0, true)
		open := accumulate(t, a, ints(3)).AppendState(nil, 0, false)
		for name, states := range map[string][][]byte{"final twice": {final, final}, "final first": {final, open}, "final second": {open, final}} {
			acc := newAccumulator(t, a)
			acc.Grow(1)
			if _, err := acc.Merge(0, states[0]); err != nil {
				t.Fatal(err)
			}
			if _, err := acc.Merge(0, states[1]); !errors.Is(err, ErrFinal) {
				t.Errorf("%s, %s: error %v", a.Func, name, err)
			}
		}
	}
}

var everything = []Aggregate{
	{Func: "count", Rows: true},
	{Func: "sum", Kind: vector.Int64}, {Func: "avg", Kind: vector.Int64},
	{Func: "sum", Kind: vector.Float64}, {Func: "avg", Kind: vector.Float64},
	{Func: "sum", Kind: vector.Decimal}, {Func: "avg", Kind: vector.Decimal},
	{Func: "min", Kind: vector.Int64}, {Func: "max", Kind: vector.Float64}, {Func: "max", Kind: vector.Text},
	{Func: "distinct", Kind: vector.Int64}, {Func: "quantiles", Kind: vector.Int64},
}

// FuzzMerge reads arbitrary bytes as a state: an error, or a state that merges, writes and has results.
func FuzzMerge(f *testing.F) {
	for i, a := range everything {
		for _, final := range []bool{false, true} {
			var values []vector.Value
			for v := range int64(3) {
				values = append(values, vector.Value{Int: v - 1, Float: float64(v) - 1.5, Bytes: []byte(strconv.Itoa(int(v) - 1))})
			}
			f.Add(uint8(i), accumulate(f, a, values).AppendState(nil, 0, final))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, state []byte) {
		a := everything[int(which)%len(everything)]
		acc := newAccumulator(t, a)
		acc.Grow(2)
		if _, err := acc.Merge(0, state); err != nil {
			return
		}
		if _, err := acc.Merge(1, acc.AppendState(nil, 0, false)); err != nil {
			t.Fatalf("%s: state %x is read but not read back: %v", a.Func, state, err)
		}
		for i := range acc.Results() {
			x, errX := acc.Result(0, i)
			shown := show(acc.Results()[i], x)
			y, errY := acc.Result(1, i)
			if shown != show(acc.Results()[i], y) || (errX == nil) != (errY == nil) {
				t.Fatalf("%s: results %s and %s of the same state", a.Func, shown, show(acc.Results()[i], y))
			}
		}
	})
}

func TestUpdateDoesNotAllocate(t *testing.T) {
	values := make([]vector.Value, 1000)
	groups := make([]uint32, len(values))
	for i := range values {
		values[i] = vector.Value{Int: int64(i % 50), Float: float64(i%50) / 7, Bytes: []byte(strconv.Itoa(i % 50))}
		groups[i] = uint32(i % 10)
	}
	for _, a := range everything {
		acc := newAccumulator(t, a)
		acc.Grow(10)
		in := vectorOf(a.Kind, values)
		if got := testing.AllocsPerRun(10, func() {
			if err := acc.Update(in, groups, 0, len(values)); err != nil {
				t.Fatal(err)
			}
		}); got > 0 {
			t.Errorf("%s of %s: %v allocations for %d rows", a.Func, a.Kind, got, len(values))
		}
	}
}

// Size goes up with what is held and is 0 when it is dropped.
func TestSize(t *testing.T) {
	values := make([]vector.Value, 3000)
	for i := range values {
		values[i] = vector.Value{Int: int64(i) * 1e12, Float: math.Ldexp(1, i%2000-1000), Bytes: []byte(strconv.Itoa(i) + "00000000000000000000")}
	}
	for _, a := range everything {
		acc := newAccumulator(t, a)
		acc.Grow(1)
		empty := acc.Size()
		if empty <= 0 {
			t.Errorf("%s of %s: size %d of a group", a.Func, a.Kind, empty)
		}
		for range 3 {
			acc.Grow(1)
			if err := acc.Update(vectorOf(a.Kind, values), make([]uint32, len(values)), 0, len(values)); err != nil {
				t.Fatal(err)
			}
			if acc.Size() < empty {
				t.Errorf("%s of %s: size %d of a group with values, %d without", a.Func, a.Kind, acc.Size(), empty)
			}
			acc.Reset()
			if acc.Size() != 0 {
				t.Errorf("%s of %s: size %d after a reset", a.Func, a.Kind, acc.Size())
			}
		}
	}
}
