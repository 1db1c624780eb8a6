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
