package tokenrange_test

import (
	"math"
	"slices"
	"testing"

	"manifest/tokenrange"
)

// estimated returns what a plan of n equal splits on a ring of one node makes of the estimates:
// the partitions and bytes of each split in token order.
func estimated(t *testing.T, n int, estimates ...tokenrange.Estimate) (partitions, bytes []int64) {
	t.Helper()
	ring := mustRing(t, node("a", "dc/r", math.MaxInt64))
	plan, err := tokenrange.NewPlan(ring, tokenrange.Strategy{}, estimates, tokenrange.PlanOptions{Splits: n})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.ByToken() {
		partitions, bytes = append(partitions, s.Partitions), append(bytes, s.Bytes)
	}
	return partitions, bytes
}

func TestEstimatesOfSplits(t *testing.T) {
	const lowest, highest = math.MinInt64, math.MaxInt64
	// The quarters of the ring end at these tokens.
	quarters := tokenrange.Murmur3.Ring().Split(4)
	estimate := func(r tokenrange.Range, partitions, mean int64) tokenrange.Estimate {
		return tokenrange.Estimate{Range: r, Partitions: partitions, MeanBytes: mean}
	}
	from := func(first, last int) tokenrange.Range {
		return tokenrange.Range{Start: quarters[first].Start, End: quarters[last].End}
	}
	tests := []struct {
		name       string
		estimates  []tokenrange.Estimate
		partitions []int64
		bytes      []int64
	}{
		{"none", nil, []int64{0, 0, 0, 0}, []int64{0, 0, 0, 0}},
		{"each its own", []tokenrange.Estimate{estimate(quarters[0], 10, 2), estimate(quarters[1], 20, 3), estimate(quarters[2], 30, 4), estimate(quarters[3], 40, 5)},
			[]int64{10, 20, 30, 40}, []int64{20, 60, 120, 200}},
		{"divided by overlap", []tokenrange.Estimate{estimate(from(0, 1), 100, 7), estimate(from(2, 3), 20, 1)},
			[]int64{50, 50, 10, 10}, []int64{350, 350, 10, 10}},
		{"one node of four: the rest is as dense", []tokenrange.Estimate{estimate(quarters[2], 12, 5)},
			[]int64{12, 12, 12, 12}, []int64{60, 60, 60, 60}},
		{"the mean of what is known", []tokenrange.Estimate{estimate(quarters[0], 10, 1), estimate(quarters[3], 30, 1)},
			[]int64{10, 20, 20, 30}, []int64{10, 20, 20, 30}},
		{"0 is known where not all are", []tokenrange.Estimate{estimate(from(0, 1), 0, 0), estimate(from(2, 3), 80, 1)},
			[]int64{0, 0, 40, 40}, []int64{0, 0, 40, 40}},
		{"only 0 is nothing known", []tokenrange.Estimate{estimate(from(0, 3), 0, 0)}, []int64{0, 0, 0, 0}, []int64{0, 0, 0, 0}},
		{"three replicas' word for the same is not a sum", []tokenrange.Estimate{estimate(from(0, 3), 400, 1), estimate(from(0, 3), 400, 1), estimate(from(0, 3), 396, 1)},
			[]int64{100, 100, 100, 100}, []int64{100, 100, 100, 100}},
		{"the denser of two", []tokenrange.Estimate{estimate(from(0, 3), 40, 1), estimate(from(1, 2), 200, 1)},
			[]int64{10, 100, 100, 10}, []int64{10, 100, 100, 10}},
		{"nonsense left out", []tokenrange.Estimate{
			estimate(quarters[0], -5, 10), estimate(quarters[0], 5, -10), estimate(quarters[1], math.MaxInt64, 10),
			estimate(quarters[1], 10, math.MaxInt64), estimate(tokenrange.Range{Start: quarters[1].End, End: quarters[0].Start}, 10, 10),
			estimate(quarters[2], 8, 1)}, []int64{8, 8, 8, 8}, []int64{8, 8, 8, 8}},
		{"a sum past 64 bits", []tokenrange.Estimate{estimate(from(0, 3), 1<<50, 1<<50)},
			[]int64{1 << 48, 1 << 48, 1 << 48, 1 << 48}, []int64{highest, highest, highest, highest}},
		{"too little of the ring to say anything", []tokenrange.Estimate{estimate(span(0, 1000), 500, 100)}, []int64{0, 0, 0, 0}, []int64{0, 0, 0, 0}},
		{"the part outside of the ring is not counted", []tokenrange.Estimate{
			{Range: tokenrange.Range{Start: token(lowest), End: mustParse(t, "27670116110564327421")}, Partitions: 80, MeanBytes: 1}}, // half of 2^65 tokens
			[]int64{10, 10, 10, 10}, []int64{10, 10, 10, 10}},
	}
	for _, test := range tests {
		partitions, bytes := estimated(t, 4, test.estimates...)
		if !slices.Equal(partitions, test.partitions) || !slices.Equal(bytes, test.bytes) {
			t.Errorf("%s: partitions %v, bytes %v, want %v, %v", test.name, partitions, bytes, test.partitions, test.bytes)
		}
	}
}

func TestUnwrapEstimates(t *testing.T) {
	ring := tokenrange.Murmur3.Ring()
	got := tokenrange.UnwrapEstimates(token(1<<62), token(math.MinInt64+1<<62), ring, 100, 7)
	want := []tokenrange.Estimate{
		{Range: span(math.MinInt64, math.MinInt64+1<<62), Partitions: 50, MeanBytes: 7},
		{Range: span(1<<62, math.MaxInt64), Partitions: 50, MeanBytes: 7},
	}
	if !slices.Equal(got, want) {
		t.Errorf("around the end: %v, want %v", got, want)
	}
	got = tokenrange.UnwrapEstimates(token(5), token(9), ring, 100, 7)
	if want := []tokenrange.Estimate{{Range: span(5, 9), Partitions: 100, MeanBytes: 7}}; !slices.Equal(got, want) {
		t.Errorf("plain: %v, want %v", got, want)
	}
	if got := tokenrange.UnwrapEstimates(token(math.MaxInt64), token(math.MinInt64), ring, 100, 7); len(got) != 0 {
		t.Errorf("of no token: %v", got)
	}
	for _, nonsense := range []int64{math.MinInt64, math.MaxInt64} {
		for _, e := range tokenrange.UnwrapEstimates(token(9), token(5), ring, nonsense, nonsense) {
			if (e.Partitions < 0) != (nonsense < 0) {
				t.Errorf("%d partitions became %d", nonsense, e.Partitions)
			}
		}
	}
}
