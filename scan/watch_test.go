package scan_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"manifest/scan"
	"manifest/tokenrange"
)

// watcher looks by calling a function with the number of the look.
type watcher struct {
	mu    sync.Mutex
	looks int
	look  func(n int) (scan.Place, error)
}

func (w *watcher) Look(context.Context) (scan.Place, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	return w.look(w.looks)
}

// slowReads gives reads that take a second each.
func slowReads(rows []int64) *slowTable {
	return &slowTable{modelTable: modelTable{rows: rows, page: 3}, takes: func(tokenrange.Split, int) (before, after time.Duration) { return time.Second, 0 }}
}

// The ring changes again and again while the run goes on, splits fail and are
// halved: each row is read once.
func TestTheRestIsPlannedAgainOnEveryRing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := spread(rapid.IntRange(0, 40).Draw(rt, "rows"))
		pieces := rapid.SliceOfN(rapid.IntRange(1, 3), 20, 20).Draw(rt, "pieces")
		faults := rapid.SliceOfN(rapid.SampledFrom([]scan.Class{scan.Other, scan.Timeout, scan.NoConnection}), 0, 5).Draw(rt, "faults")
		splits := rapid.IntRange(1, 10).Draw(rt, "splits")
		workers := rapid.IntRange(1, 5).Draw(rt, "workers")
		synctest.Test(t, func(t *testing.T) {
			table := slowReads(rows)
			var mu sync.Mutex
			reads := 0
			table.fault = func(s tokenrange.Split, _ int) error {
				mu.Lock()
				defer mu.Unlock()
				if reads++; reads%3 == 0 && len(faults) > 0 {
					c := faults[0]
					faults = faults[1:]
					return readError(s, c)
				}
				return nil
			}
			w := &watcher{look: func(n int) (scan.Place, error) {
				switch {
				case n%3 == 0 || n > 6:
					return nil, nil
				case n%3 == 1:
					return nil, errors.New("no node answers just now")
				}
				return func(s tokenrange.Split) []tokenrange.Split {
					var out []tokenrange.Split
					for _, r := range s.Range.Split(pieces[(n+len(s.ID))%20]) {
						out = append(out, tokenrange.NewSplit(r, "a", "b"))
					}
					return out
				}, nil
			}}
			var k keeper
			result, err := scan.Run(t.Context(), evenPlan(t, splits, "a", "b"), table, []scan.Consumer{&k}, scan.Options{
				Columns: []string{"token"}, Workers: workers, MaxAttempts: 9, Watcher: w, WatchInterval: 1500 * time.Millisecond, NoSecondReads: true,
			})
			if err != nil {
				rt.Fatal(err)
			}
			if err := equal(k.rows(result.SplitIDs()), rows); err != nil {
				rt.Fatal(err)
			}
			if k.open != 0 || len(k.twice) != 0 {
				rt.Fatalf("%d parts open, %v committed twice", k.open, k.twice)
			}
		})
	})
}

func TestANewNodeServesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := spread(200)
		plan := evenPlan(t, 40, "old")
		w := &watcher{look: func(n int) (scan.Place, error) {
			if n != 2 {
				return nil, nil
			}
			return func(s tokenrange.Split) []tokenrange.Split {
				left, right, _ := s.Halve() // the boundary of the new node
				left.Replicas, right.Replicas = []string{"old"}, []string{"new"}
				return []tokenrange.Split{left, right}
			}, nil
		}}
		var replanned []scan.ReplanInfo
		var k keeper
		result, err := scan.Run(t.Context(), plan, slowReads(rows), []scan.Consumer{&k}, scan.Options{
			Columns: []string{"token"}, Workers: 2, Watcher: w, WatchInterval: 5 * time.Second,
			Events: scan.Events{Replanned: func(i scan.ReplanInfo) { replanned = append(replanned, i) }},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := equal(k.rows(result.SplitIDs()), rows); err != nil {
			t.Error(err)
		}
		// After 10 s with two workers 20 splits have been taken, at most 2 of
		// them being read, and 40-20 or more are halved.
		nodes := map[string]int{}
		for _, r := range result.Receipts {
			nodes[r.Node]++
		}
		if result.Replans != 1 || len(replanned) != 1 || replanned[0].Splits < 36 || replanned[0].Splits > 44 || nodes["new"] != replanned[0].Splits/2 {
			t.Errorf("planned again: %+v, served by %v", replanned, nodes)
		}
	})
}

func TestAChangedTableStopsTheRun(t *testing.T) {
	changed := &scan.ReadError{Class: scan.SchemaChanged, Err: errors.New(`column "v" was dropped`)}
	for _, c := range []struct {
		name string
		at   int // the look that sees it
		most int // receipts
	}{
		{"while it goes on", 1, 12}, // 5 s at two splits a second
		{"in the end", 5, 40},       // four looks in 20 s, and the last one
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &watcher{look: func(n int) (scan.Place, error) {
				if n >= c.at {
					return nil, changed
				}
				return nil, nil
			}}
			var k keeper
			result, err := scan.Run(t.Context(), evenPlan(t, 40, "a"), slowReads(spread(100)), []scan.Consumer{&k}, scan.Options{
				Columns: []string{"token"}, Workers: 2, Watcher: w, WatchInterval: 5 * time.Second,
			})
			if scan.ClassOf(err) != scan.SchemaChanged || !strings.Contains(err.Error(), `column "v" was dropped`) {
				t.Errorf("%s: got %v", c.name, err)
			}
			if len(result.Receipts) > c.most || k.open != 0 {
				t.Errorf("%s: %d receipts, %d parts open", c.name, len(result.Receipts), k.open)
			}
		})
	}
}

// A read that the server calls invalid is explained by what the watcher finds.
func TestAnInvalidReadIsExplained(t *testing.T) {
	w := &watcher{look: func(int) (scan.Place, error) {
		return nil, &scan.ReadError{Class: scan.SchemaChanged, Err: errors.New("the table was dropped")}
	}}
	table := &modelTable{rows: spread(10), page: 1, fault: func(s tokenrange.Split, _ int) error { return readError(s, scan.SchemaChanged) }}
	_, err := scan.Run(t.Context(), evenPlan(t, 4, "a"), table, []scan.Consumer{&keeper{}}, fast(scan.Options{Watcher: w}))
	if err == nil || !strings.Contains(err.Error(), "the table was dropped") || !strings.Contains(err.Error(), "ordered by the test") {
		t.Errorf("got %v", err)
	}
}

// A read that one node calls invalid, while the table is as it was, is tried
// again like any other.
func TestANodeBehindTheOthersIsNoChange(t *testing.T) {
	w := &watcher{look: func(int) (scan.Place, error) { return nil, nil }}
	rows := spread(60)
	var behind atomic.Int64
	table := &modelTable{rows: rows, page: 4, fault: func(s tokenrange.Split, _ int) error {
		if s.Replicas[0] == "b" && behind.Add(1) < 5 {
			return readError(s, scan.SchemaChanged)
		}
		return nil
	}}
	var k keeper
	result, err := scan.Run(t.Context(), evenPlan(t, 8, "a", "b"), table, []scan.Consumer{&k}, fast(scan.Options{Watcher: w}))
	if err != nil {
		t.Fatal(err)
	}
	if err := equal(k.rows(result.SplitIDs()), rows); err != nil || behind.Load() == 0 {
		t.Errorf("%v, after %d reads of the node", err, behind.Load())
	}
	w.look = func(int) (scan.Place, error) { return nil, errors.New("no node answers") }
	behind.Store(0)
	if _, err := scan.Run(t.Context(), evenPlan(t, 8, "b"), table, nil, fast(scan.Options{Watcher: w})); scan.ClassOf(err) != scan.SchemaChanged {
		t.Errorf("where nobody can say otherwise: %v", err)
	}
}

// What can't be looked at in the end proves nothing: the run says so, and goes
// on as soon as it can look.
func TestTheLastLookIsNotLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("no node answers")
		w := &watcher{look: func(n int) (scan.Place, error) {
			if n < 6 {
				return nil, away
			}
			return nil, nil
		}}
		plan := evenPlan(t, 4, "a")
		if _, err := scan.Run(t.Context(), plan, &modelTable{page: 1}, nil, scan.Options{Columns: []string{"token"}, Watcher: w}); err != nil || w.looks != 6 {
			t.Errorf("after %d looks: %v", w.looks, err)
		}
		w.look = func(int) (scan.Place, error) { return nil, away }
		began := time.Now()
		if _, err := scan.Run(t.Context(), plan, &modelTable{page: 1}, nil, scan.Options{Columns: []string{"token"}, Watcher: w, Patience: time.Minute}); !errors.Is(err, away) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took < time.Minute || took > 2*time.Minute {
			t.Errorf("gave up after %v", took)
		}
	})
}
