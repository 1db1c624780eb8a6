package scan_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"manifest/scan"
	"manifest/tokenrange"
)

// All at once: reads that fail, straggle and are read twice, nodes that are away
// for minutes, rings that change, partitions that nobody can read. Each row that
// can be read is committed once, and the rest is named.
func TestEveryRowOnceWhateverHappensAtOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := spread(rapid.IntRange(1, 60).Draw(rt, "rows"))
		poison := map[int64]scan.Class{}
		for range rapid.IntRange(0, 3).Draw(rt, "poisoned") {
			poison[rapid.SampledFrom(rows).Draw(rt, "row")] = rapid.SampledFrom([]scan.Class{scan.Tombstones, scan.Timeout}).Draw(rt, "class")
		}
		good := slices.DeleteFunc(slices.Clone(rows), func(r int64) bool { return poison[r] != scan.Other })
		classes := slices.DeleteFunc(scan.Classes(), func(c scan.Class) bool { return c.Policy().Split == scan.Stop })
		faults := rapid.SliceOfN(rapid.SampledFrom(classes), 0, 10).Draw(rt, "faults")
		times := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, time.Second, time.Second, 3 * time.Second, 90 * time.Second}), 30, 30).Draw(rt, "times")
		away := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(rt, "node away")
		splits := rapid.IntRange(1, 10).Draw(rt, "splits")
		workers := rapid.IntRange(1, 6).Draw(rt, "workers")
		perNode := rapid.IntRange(0, 2).Draw(rt, "per node")
		var failure error // told outside of the bubble, where rapid may panic
		fail := func(format string, args ...any) { failure = fmt.Errorf(format, args...) }
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var mu sync.Mutex
			reads := 0
			table := &slowTable{modelTable: modelTable{rows: rows, page: 3, poison: poison}}
			table.takes = func(tokenrange.Split, int) (before, after time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				reads++
				return times[reads*2%30], times[(reads*2+1)%30]
			}
			table.fault = func(s tokenrange.Split, _ int) error {
				mu.Lock()
				defer mu.Unlock()
				if s.Replicas[0] == away && time.Since(began) < 2*time.Minute {
					return readError(s, scan.NoConnection)
				}
				if reads%5 == 2 && len(faults) > 0 {
					c := faults[0]
					faults = faults[1:]
					return readError(s, c)
				}
				return nil
			}
			w := &watcher{look: func(n int) (scan.Place, error) {
				if n%2 == 0 || n > 8 {
					return nil, nil
				}
				return func(s tokenrange.Split) []tokenrange.Split {
					var out []tokenrange.Split
					for i, r := range s.Range.Split(1 + (n+len(s.Replicas))%2) {
						out = append(out, tokenrange.NewSplit(r, slices.Concat([]string{"a", "b", "c"}[(n+i)%3:], []string{"a", "b", "c"}[:(n+i)%3])...))
					}
					return out
				}, nil
			}}
			var k keeper
			result, runErr := scan.Run(t.Context(), evenPlan(t, splits, "a", "b", "c"), table, []scan.Consumer{&k}, scan.Options{
				Columns: []string{"token"}, Workers: workers, MaxInFlightPerNode: perNode, MaxAttempts: 12, Patience: time.Hour, SecondReadAfter: time.Nanosecond,
				Watcher: w, WatchInterval: 7 * time.Second, Backoff: time.Millisecond, MaxBackoff: time.Second,
			})
			if err := equal(k.rows(result.SplitIDs()), good); err != nil {
				fail("%w (the run: %w)", err, runErr)
				return
			}
			if k.open != 0 || len(k.twice) != 0 {
				fail("%d parts open, %v committed twice", k.open, k.twice)
			}
			if len(poison) == 0 {
				if runErr != nil {
					fail("%w", runErr)
				}
				return
			}
			incomplete, ok := errors.AsType[*scan.IncompleteError](runErr)
			if !ok || len(incomplete.Poisoned) != len(poison) || len(result.Poisoned) != len(poison) {
				fail("poisoned %v: got %v", poison, runErr)
				return
			}
			for _, p := range incomplete.Poisoned {
				if v, _ := p.Token.Int64(); poison[v] == scan.Other {
					fail("poisoned is %v, not one of %v", p, poison)
				}
			}
		})
		if failure != nil {
			rt.Fatal(failure)
		}
	})
}
