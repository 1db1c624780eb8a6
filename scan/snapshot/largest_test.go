package snapshot

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/scan"
	"manifest/tokenrange"
)

// largestRead reads a plan's splits and gives what their receipts would say.
func largestRead(t *testing.T, s *Source, plan tokenrange.Plan, columns ...string) (stats []scan.ReadStats, l scan.Largest) {
	t.Helper()
	for _, split := range plan.ByToken() {
		read, err := s.Read(t.Context(), split, columns, func(arrow.Record) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		stats = append(stats, read)
		for _, p := range read.Largest {
			l.Add(p)
		}
	}
	return stats, l
}

// In scenarios/partitions.cql there are 220 partitions of one row and two long
// ones of 60, from one of which the rows 31 to 39 were deleted.
func TestLargestPartitionsOfASnapshot(t *testing.T) {
	for _, version := range []string{"nb", "oa", "da"} {
		for _, splits := range []int{1, 5} {
			s, err := New(openTable(t, version+"/partitions", nil), Options{RecordRows: 7})
			if err != nil {
				t.Fatal(err)
			}
			plan, err := s.Plan(tokenrange.PlanOptions{Splits: splits})
			if err != nil {
				t.Fatal(err)
			}
			stats, l := largestRead(t, s, plan, "ck")
			want := []scan.Partition{
				{Key: "pk='also long'", Token: tokenrange.Murmur3.Token([]byte("also long")), Rows: 60, Bytes: 60 * 4},
				{Key: "pk='long'", Token: tokenrange.Murmur3.Token([]byte("long")), Rows: 51, Bytes: 51 * 4},
			}
			if !slices.Equal(l.ByRows, want) {
				t.Errorf("%s, %d splits: largest by rows are %+v, want %+v", version, splits, l.ByRows, want)
			}
			if len(l.ByBytes) != scan.LargestKept || !slices.Equal(l.ByBytes[:2], want) || l.ByBytes[2].Bytes != 4 {
				t.Errorf("%s, %d splits: largest by bytes are %+v", version, splits, l.ByBytes)
			}

			// The keys in the order of their tokens, of which Murmur3 is tested on its own.
			keys := []string{"long", "also long"}
			for i := 1; i <= 220; i++ {
				keys = append(keys, fmt.Sprintf("partition %d", i))
			}
			slices.SortFunc(keys, func(a, b string) int {
				return tokenrange.Murmur3.Token([]byte(a)).Compare(tokenrange.Murmur3.Token([]byte(b)))
			})
			at := 0
			for i, split := range plan.ByToken() {
				from := at
				for at < len(keys) && split.Range.Contains(tokenrange.Murmur3.Token([]byte(keys[at]))) {
					at++
				}
				first, last := "", ""
				if at > from {
					first, last = "pk='"+keys[from]+"'", "pk='"+keys[at-1]+"'"
				}
				if stats[i].First != first || stats[i].Last != last {
					t.Errorf("%s: split %s was read from %s to %s, want %s to %s", version, split.Range, stats[i].First, stats[i].Last, first, last)
				}
			}
			if at != len(keys) {
				t.Errorf("%d of %d keys are in the plan", at, len(keys))
			}
		}
	}
}
