package tokensort

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Many rows are sorted in another way than few, and rows of all sizes share chunks.
func TestManyRowsAreSortedAsFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pair { return pair{key: keys().Draw(t, "key")} }), fewRows-10, 4*fewRows).Draw(t, "rows")
		for i := range pairs {
			pairs[i].value = fmt.Append(nil, i)
		}
		for range rapid.IntRange(0, 4).Draw(t, "large rows") {
			i := rapid.IntRange(0, len(pairs)-1).Draw(t, "place")
			size := rapid.IntRange(chunkSize-50, chunkSize+50).Draw(t, "size")
			pairs[i].value = bytes.Repeat([]byte{byte(i)}, size)
		}
		s, err := NewSorter(Options{Memory: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			if err := s.Add(p.key, p.value); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Sort(context.Background()); err != nil {
			t.Fatal(err)
		}
		in, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := collect(t, in), sortedPairs(pairs); !samePairs(got, want) {
			t.Fatalf("%d rows are not in the order of %d", len(got), len(want))
		}
		if len(s.runs) > 0 {
			t.Fatalf("%d runs were spilled", len(s.runs))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
