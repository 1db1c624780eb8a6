package scan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"manifest/scan"
	"manifest/tokenrange"
)

// Partitions that can't be read are found, each by itself, and cost nothing but
// themselves: every other row is delivered once, and what is missing are they.
func TestPoisonedPartitionsAreNarrowedDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := spread(rapid.IntRange(1, 200).Draw(t, "rows"))
		classes := []scan.Class{scan.Tombstones, scan.ReadFailure, scan.Timeout}
		poison := map[int64]scan.Class{}
		for range rapid.IntRange(1, 12).Draw(t, "poisoned") {
			row := rapid.SampledFrom(rows).Draw(t, "row")
			if rapid.Bool().Draw(t, "neighbour") {
				row++ // a token just behind a good row
			}
			poison[row] = rapid.SampledFrom(classes).Draw(t, "class")
		}
		good := slices.DeleteFunc(slices.Clone(rows), func(r int64) bool { return poison[r] != scan.Other })
		all := slices.Clone(rows)
		for p := range poison {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
		slices.Sort(all)

		table := &modelTable{rows: all, page: rapid.IntRange(1, 20).Draw(t, "page"), poison: poison}
		nodes := []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "nodes")]
		var k keeper
		result, err := scan.Run(context.Background(), evenPlan(t, rapid.IntRange(1, 20).Draw(t, "splits"), nodes...), table, []scan.Consumer{&k},
			fast(scan.Options{Workers: rapid.IntRange(1, 8).Draw(t, "workers"), MaxAttempts: 2}))
		incomplete, ok := errors.AsType[*scan.IncompleteError](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		if err := equal(k.rows(result.SplitIDs()), good); err != nil {
			t.Fatal(err)
		}
		var missing []tokenrange.Range
		for _, row := range slices.Sorted(func(yield func(int64) bool) {
			for p := range poison {
				if !yield(p) {
					return
				}
			}
		}) {
			missing = append(missing, tokenrange.Range{Start: tokenrange.Int64Token(row - 1), End: tokenrange.Int64Token(row)})
		}
		if want := tokenrange.NewIntervalSet(missing...); !tokenrange.NewIntervalSet(incomplete.Missing...).Equal(want) {
			t.Fatalf("missing %v, want %v", incomplete.Missing, want)
		}
		if len(result.Poisoned) != len(poison) || len(incomplete.Poisoned) != len(poison) {
			t.Fatalf("%d poisoned partitions named, want %d", len(result.Poisoned), len(poison))
		}
		for i, p := range result.Poisoned {
			v, _ := p.Token.Int64()
			if p.Class != poison[v] || p.Key != fmt.Sprintf("token=%d", v) || (i > 0 && !result.Poisoned[i-1].Token.Less(p.Token)) {
				t.Fatalf("poisoned are %v, want those of %v", result.Poisoned, poison)
			}
		}
	})
}

// A node that fails every read, beside others that don't, ends the run after
// some dozens of reads: its ranges are not halved down to each token.
func TestANodeThatFailsEverythingIsNotHalvedForEver(t *testing.T) {
	for _, class := range []scan.Class{scan.Tombstones, scan.ReadFailure, scan.Timeout} {
		var failed, served atomic.Int64
		plan := evenPlan(t, 300, "sound", "broken")
		for i := range plan.Splits {
			plan.Splits[i].Replicas = plan.Splits[i].Replicas[:1]
		}
		table := &modelTable{rows: spread(3000), page: 10, fault: func(s tokenrange.Split, _ int) error {
			if s.Replicas[0] == "broken" {
				failed.Add(1)
				return readError(s, class)
			}
			served.Add(1)
			return nil
		}}
		_, err := scan.Run(t.Context(), plan, table, []scan.Consumer{&keeper{}}, fast(scan.Options{Workers: 4, MaxAttempts: 3}))
		if !errors.Is(err, scan.ErrTooManyFailures) || scan.ClassOf(err) != class {
			t.Errorf("%s: got %v", class, err)
		}
		if failed.Load() > 100 { // 64 in a row, 16 splits given up, and those under way
			t.Errorf("%s: %d reads failed before the run ended", class, failed.Load())
		}
		if served.Load() == 0 {
			t.Errorf("%s: the sound node served nothing", class)
		}
	}
}
