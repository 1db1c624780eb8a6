package snapshot

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

func TestSumUp(t *testing.T) {
	ring := tokenrange.Murmur3.Ring()
	quarters := ring.Split(4)
	halves := ring.Split(2)
	// One SSTable over the first half, one over the second and third quarter.
	got := sumUp([]content{
		{halves[0], 200, 4000},
		{tokenrange.Range{Start: quarters[1].Start, End: quarters[2].End}, 100, 1000},
	}, ring)
	want := []tokenrange.Estimate{
		{Range: quarters[0], Partitions: 100, MeanBytes: 20},
		{Range: quarters[1], Partitions: 150, MeanBytes: 17}, // 2500 bytes in 150
		{Range: quarters[2], Partitions: 50, MeanBytes: 10},
		{Range: quarters[3], Partitions: 1, MeanBytes: 0},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSumUpKeepsTheSum adds up any contents: the ranges tile the ring, and no
// bytes get lost but for rounding.
func TestSumUpKeepsTheSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ring := tokenrange.Murmur3.Ring()
		var contents []content
		var bytes float64
		for range rapid.IntRange(0, 20).Draw(t, "SSTables") {
			a := rapid.Int64().Draw(t, "first")
			b := rapid.Int64().Draw(t, "last")
			if rapid.Bool().Draw(t, "one partition") {
				b = a + 1
			}
			if a > b {
				a, b = b, a
			}
			tokens := tokenrange.Range{Start: tokenrange.Int64Token(a), End: tokenrange.Int64Token(b)}
			if !tokens.IsValid() {
				continue
			}
			c := content{tokens, float64(rapid.IntRange(0, 1000).Draw(t, "partitions")), float64(rapid.IntRange(0, 1<<30).Draw(t, "bytes"))}
			contents = append(contents, c)
			bytes += c.bytes
		}
		var ranges []tokenrange.Range
		var sum, slack float64
		for _, e := range sumUp(contents, ring) {
			ranges = append(ranges, e.Range)
			sum += float64(e.Partitions * e.MeanBytes)
			slack += float64(e.Partitions) // half a byte each, up and down
		}
		if err := tokenrange.CheckTiling(tokenrange.NewIntervalSet(ring), ranges); err != nil {
			t.Fatal(err)
		}
		if sum < bytes-slack-1 || sum > bytes+slack+1 {
			t.Fatalf("%f bytes of %f", sum, bytes)
		}
	})
}

// TestSplitsGetSmallerTowardsTheEnd tapers any splits: they tile the same tokens in
// the same order, and what a worker begins last is small beside what all have done.
func TestSplitsGetSmallerTowardsTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var splits []tokenrange.Split
		var bytes, left int64
		for _, r := range tokenrange.Murmur3.Ring().Split(rapid.IntRange(1, 60).Draw(t, "splits")) {
			s := tokenrange.NewSplit(r)
			s.Bytes = rapid.Int64Range(0, 200<<20).Draw(t, "bytes")
			bytes += s.Bytes
			splits = append(splits, s)
		}
		tapered := taper(splits)
		left = bytes
		var order []tokenrange.Range // of the tapered ones, those of a split together
		for _, s := range tapered {
			if s.ID != s.Range.ID() {
				t.Fatalf("split of %s is called %s", s.Range, s.ID)
			}
			if s.Bytes > left/4 && s.Bytes >= 32<<20 {
				t.Fatalf("%d bytes of %d left", s.Bytes, left)
			}
			left -= s.Bytes
			if n := len(order); n > 0 && order[n-1].End == s.Range.Start && !slices.ContainsFunc(splits, func(o tokenrange.Split) bool { return o.Range.Start == s.Range.Start }) {
				order[n-1].End = s.Range.End
				continue
			}
			order = append(order, s.Range)
		}
		if left != 0 {
			t.Fatalf("%d bytes of %d are in no split", left, bytes)
		}
		for i, s := range splits {
			if i >= len(order) || order[i] != s.Range {
				t.Fatalf("%v, want the order of %v", order, splits)
			}
		}
	})
}

func TestTaper(t *testing.T) {
	var splits []tokenrange.Split
	for _, r := range tokenrange.Murmur3.Ring().Split(8) {
		s := tokenrange.NewSplit(r)
		s.Bytes = 64 << 20
		splits = append(splits, s)
	}
	var got []int64
	for _, s := range taper(splits) {
		got = append(got, s.Bytes>>20)
	}
	// 64 is a quarter of 256, 32 of 128, 16 of 64; nothing is smaller than that.
	want := []int64{64, 64, 64, 64, 64, 32, 32, 32, 16, 16, 16, 16, 16, 16}
	if !slices.Equal(got, want) {
		t.Errorf("splits of %v MiB, want %v", got, want)
	}
}
