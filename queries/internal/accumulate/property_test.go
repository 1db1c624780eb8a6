package accumulate

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"github.com/DataDog/sketches-go/ddsketch"
	"pgregory.net/rapid"

	"manifest/queries/internal/vector"
)

// generators give values of a kind, often the same and often at an end of the range.
var generators = map[vector.Kind]*rapid.Generator[vector.Value]{
	vector.Int64: rapid.Custom(func(t *rapid.T) vector.Value {
		return vector.Value{Int: rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 3), rapid.Int64Range(1, 10_000)).Draw(t, "int")}
	}),
	vector.Float64: rapid.Custom(func(t *rapid.T) vector.Value {
		return vector.Value{Float: rapid.OneOf(rapid.Float64(), rapid.Float64Range(-10, 10), rapid.Custom(func(t *rapid.T) float64 {
			return math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		})).Draw(t, "float")}
	}),
	vector.Decimal: rapid.Custom(func(t *rapid.T) vector.Value {
		return vector.Value{Bytes: []byte(rapid.StringMatching(`-?[0-9]{1,25}(\.[0-9]{1,4})?(E-?[0-9])?`).Draw(t, "decimal"))}
	}),
	vector.Text: rapid.Custom(func(t *rapid.T) vector.Value {
		return vector.Value{Bytes: []byte(rapid.StringN(0, 3, -1).Draw(t, "text"))}
	}),
}

func drawValues(t *rapid.T, kind vector.Kind) []vector.Value {
	values := rapid.SliceOfN(generators[kind], 0, 40).Draw(t, "values")
	for i := range values {
		values[i].Null = rapid.IntRange(0, 5).Draw(t, "null") == 0
	}
	return values
}

// expect computes a result in another way, from the values that are not NULL.
func expect(t *rapid.T, a Aggregate, values []vector.Value, i int) string {
	if a.Func == "count" {
		return strconv.Itoa(len(values))
	}
	if a.Func == "distinct" {
		different := map[string]bool{}
		for _, v := range values {
			if v.Float == 0 {
				v.Float = 0
			}
			different[show(a.Kind, v)] = true
		}
		return strconv.Itoa(len(different))
	}
	if a.Func == "quantiles" {
		return expectQuantile(t, a, values, i)
	}
	if len(values) == 0 {
		return "NULL"
	}
	if a.Func == "min" || a.Func == "max" {
		compare := func(x, y vector.Value) int {
			switch a.Kind {
			case vector.Int64:
				return big.NewInt(x.Int).Cmp(big.NewInt(y.Int))
			case vector.Float64:
				switch {
				case x.Float != x.Float || y.Float != y.Float:
					return b2i(x.Float != x.Float) - b2i(y.Float != y.Float)
				case x.Float == 0 && y.Float == 0:
					return b2i(math.Signbit(y.Float)) - b2i(math.Signbit(x.Float))
				}
				return big.NewFloat(x.Float).Cmp(big.NewFloat(y.Float))
			}
			return bytes.Compare(x.Bytes, y.Bytes)
		}
		if a.Func == "min" {
			return show(a.Kind, slices.MinFunc(values, compare))
		}
		return show(a.Kind, slices.MaxFunc(values, compare))
	}
	return expectSum(a, values)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func expectQuantile(t *rapid.T, a Aggregate, values []vector.Value, i int) string {
	sketch, err := ddsketch.LogUnboundedDenseDDSketch(0.01)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		f := v.Float
		switch a.Kind {
		case vector.Int64:
			f = float64(v.Int)
		case vector.Decimal:
			f, _ = strconv.ParseFloat(string(v.Bytes), 64)
		}
		if f != f {
			continue
		}
		if err := sketch.Add(max(-sketch.MaxIndexableValue(), min(f, sketch.MaxIndexableValue()))); err != nil {
			t.Fatal(err)
		}
	}
	if sketch.IsEmpty() {
		return "NULL"
	}
	q, err := sketch.GetValueAtQuantile(a.Quantiles()[i])
	if err != nil {
		t.Fatal(err)
	}
	return show(vector.Float64, vector.Value{Float: q})
}

func expectSum(a Aggregate, values []vector.Value) string {
	sum := new(big.Rat)
	var posInf, negInf, nan bool
	for _, v := range values {
		term := new(big.Rat)
		switch {
		case a.Kind == vector.Int64:
			term.SetInt64(v.Int)
		case a.Kind == vector.Decimal:
			term.SetString(string(v.Bytes))
		case v.Float != v.Float:
			nan = true
		case math.IsInf(v.Float, 0):
			posInf, negInf = posInf || v.Float > 0, negInf || v.Float < 0
		default:
			term.SetFloat64(v.Float)
		}
		sum.Add(sum, term)
	}
	if a.Func == "avg" {
		sum.Quo(sum, new(big.Rat).SetInt64(int64(len(values))))
	}
	switch {
	case nan || posInf && negInf:
		return "NaN"
	case posInf:
		return "+Inf"
	case negInf:
		return "-Inf"
	case a.Func == "avg" || a.Kind == vector.Float64:
		f, _ := sum.Float64()
		return show(vector.Float64, vector.Value{Float: f})
	case a.Kind == vector.Int64:
		if n := sum.Num(); !n.IsInt64() {
			return "overflow"
		}
		return sum.Num().String()
	}
	return show(vector.Decimal, decimals(sum.FloatString(20))[0])
}

// Whatever values come first, together, and in which order states are merged: the same state, and the result of the model.
func TestAnyOrder(t *testing.T) {
	for _, a := range []Aggregate{
		{Func: "count", Kind: vector.Text},
		{Func: "sum", Kind: vector.Int64}, {Func: "avg", Kind: vector.Int64},
		{Func: "sum", Kind: vector.Float64}, {Func: "avg", Kind: vector.Float64},
		{Func: "sum", Kind: vector.Decimal}, {Func: "avg", Kind: vector.Decimal},
		{Func: "min", Kind: vector.Int64}, {Func: "max", Kind: vector.Int64},
		{Func: "min", Kind: vector.Float64}, {Func: "max", Kind: vector.Float64},
		{Func: "min", Kind: vector.Text}, {Func: "max", Kind: vector.Text},
		{Func: "distinct", Kind: vector.Int64}, {Func: "distinct", Kind: vector.Float64}, {Func: "distinct", Kind: vector.Text},
		{Func: "quantiles", Kind: vector.Int64}, {Func: "quantiles", Kind: vector.Float64, Params: []float64{0, 0.5, 1}},
		{Func: "quantiles", Kind: vector.Decimal},
	} {
		t.Run(a.Func+" of "+a.Kind.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				values := drawValues(rt, a.Kind)
				known := slices.DeleteFunc(slices.Clone(values), func(v vector.Value) bool { return v.Null })
				whole := accumulate(t, a, values)
				merged := mergeParts(t, rt, a, values)
				if x, y := whole.AppendState(nil, 0, false), merged.AppendState(nil, 0, false); !bytes.Equal(x, y) {
					rt.Fatalf("states\n%x and\n%x of the same values", x, y)
				}
				final := newAccumulator(t, a)
				final.Grow(1)
				if rest, err := final.Merge(0, whole.AppendState(nil, 0, true)); err != nil || len(rest) > 0 {
					rt.Fatalf("final state: %d bytes left, error %v", len(rest), err)
				}
				for i, kind := range whole.Results() {
					want := expect(rt, a, known, i)
					for name, acc := range map[string]Accumulator{"whole": whole, "merged": merged, "final": final} {
						v, err := acc.Result(0, i)
						got := show(kind, v)
						if errors.Is(err, ErrOverflow) {
							got = "overflow"
						} else if err != nil {
							rt.Fatal(err)
						}
						if got != want {
							rt.Fatalf("result %d of the %s is %s, want %s", i, name, got, want)
						}
					}
				}
			})
		})
	}
}

// mergeParts deals the values to the groups of several accumulators, in any order, and merges their states, in any order.
func mergeParts(t *testing.T, rt *rapid.T, a Aggregate, values []vector.Value) Accumulator {
	const groups = 3
	var states [][]byte
	acc := newAccumulator(t, a)
	rest := rapid.Permutation(values).Draw(rt, "order")
	for range rapid.IntRange(1, 3).Draw(rt, "parts") {
		n := rapid.IntRange(0, len(rest)).Draw(rt, "size")
		acc.Grow(groups)
		of := rapid.SliceOfN(rapid.Uint32Range(0, groups-1), n, n).Draw(rt, "groups")
		if err := acc.Update(vectorOf(a.Kind, rest[:n]), of, 0, n); err != nil {
			rt.Fatal(err)
		}
		rest = rest[n:]
		for g := range groups {
			states = append(states, acc.AppendState(nil, g, false))
		}
		acc.Reset()
	}
	states = append(states, accumulate(t, a, rest).AppendState(nil, 0, false))
	acc.Grow(1)
	for _, state := range rapid.Permutation(states).Draw(rt, "merges") {
		left, err := acc.Merge(0, append(state, "rest"...))
		if err != nil || string(left) != "rest" {
			rt.Fatalf("merge left %q, error %v", left, err)
		}
	}
	return acc
}

// A value that is counted n times leaves the state of one that is there n times.
func TestCounted(t *testing.T) {
	for _, a := range []Aggregate{
		{Func: "count", Rows: true}, {Func: "count", Kind: vector.Int64},
		{Func: "quantiles", Kind: vector.Int64}, {Func: "quantiles", Kind: vector.Float64}, {Func: "quantiles", Kind: vector.Decimal},
	} {
		t.Run(a.Func+" of "+a.Kind.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				kind := a.Kind
				if a.Rows {
					kind = vector.Int64
				}
				values := drawValues(rt, kind)
				counts := make([]int64, len(values))
				var each []vector.Value
				for i, v := range values {
					counts[i] = rapid.Int64Range(1, 5).Draw(rt, "count")
					for range counts[i] {
						each = append(each, v)
					}
				}
				got := newAccumulator(t, a)
				got.Grow(1)
				if err := got.(Counting).UpdateCounted(vectorOf(kind, values), counts, make([]uint32, len(values)), 0, len(values)); err != nil {
					rt.Fatal(err)
				}
				want := newAccumulator(t, a)
				want.Grow(1)
				if err := want.Update(vectorOf(kind, each), make([]uint32, len(each)), 0, len(each)); err != nil {
					rt.Fatal(err)
				}
				if got, want := got.AppendState(nil, 0, false), want.AppendState(nil, 0, false); !bytes.Equal(got, want) {
					rt.Fatalf("state %x, want %x", got, want)
				}
			})
		})
	}
}
