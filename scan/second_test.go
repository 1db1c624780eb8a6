package scan_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"pgregory.net/rapid"

	"manifest/scan"
	"manifest/tokenrange"
)

// slowTable is a model table whose reads take time, and end with their context.
type slowTable struct {
	modelTable
	// takes is how long a read takes before its rows come, and again before it
	// ends; attempt counts the reads of the split.
	takes func(split tokenrange.Split, attempt int) (before, after time.Duration)

	attempts sync.Map // by split id
	lock     sync.Mutex
}

func (s *slowTable) Read(ctx context.Context, split tokenrange.Split, columns []string, emit func(arrow.Record) error) (scan.ReadStats, error) {
	s.lock.Lock()
	n, _ := s.attempts.LoadOrStore(split.ID, 0)
	attempt := n.(int) + 1
	s.attempts.Store(split.ID, attempt)
	s.lock.Unlock()
	before, after := s.takes(split, attempt)
	if err := rest(ctx, before); err != nil {
		return scan.ReadStats{}, err
	}
	stats, err := s.modelTable.Read(ctx, split, columns, emit)
	if err == nil {
		err = rest(ctx, after)
	}
	return stats, err
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestAStragglerIsReadASecondTime(t *testing.T) {
	for _, c := range []struct {
		name       string
		off        bool
		least      time.Duration
		took       time.Duration
		reads, won int64
	}{
		// Splits take 10 s. The last one hangs for an hour on the node "slow".
		{name: "three times the median", took: 10*time.Second + 30*time.Second + 10*time.Second, reads: 1, won: 1},
		{name: "not before the least time", least: time.Minute, took: 10*time.Second + time.Minute + 10*time.Second, reads: 1, won: 1},
		{name: "turned off", off: true, took: 10*time.Second + time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			rows := spread(100)
			plan := evenPlan(t, 8, "a", "b")
			last := plan.Splits[7].ID
			table := &slowTable{modelTable: modelTable{rows: rows, page: 4}, takes: func(s tokenrange.Split, attempt int) (before, after time.Duration) {
				if s.ID == last && attempt == 1 {
					return 0, time.Hour // all rows are there, the end is not
				}
				return 10 * time.Second, 0
			}}
			var k keeper
			var outrun []scan.OutrunInfo
			began := time.Now()
			result, err := scan.Run(t.Context(), plan, table, []scan.Consumer{&k}, scan.Options{
				Columns: []string{"token"}, Workers: 4, NoSecondReads: c.off, SecondReadAfter: c.least,
				Events: scan.Events{ReadOutrun: func(i scan.OutrunInfo) { outrun = append(outrun, i) }},
			})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if err := equal(k.rows(result.SplitIDs()), rows); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if took := time.Since(began); took != c.took {
				t.Errorf("%s: took %v, want %v", c.name, took, c.took)
			}
			if result.SecondReads != c.reads || result.SecondReadsWon != c.won || k.open != 0 || len(k.twice) != 0 {
				t.Errorf("%s: %d second reads, %d won; %d parts open, %v committed twice", c.name, result.SecondReads, result.SecondReadsWon, k.open, k.twice)
			}
			if c.off {
				return
			}
			first := plan.Splits[7].Replicas[0]
			receipt := result.Receipts[7]
			if len(outrun) != 1 || outrun[0].Node != first || outrun[0].RowsDropped != receipt.Rows || outrun[0].Second {
				t.Errorf("%s: outrun are %+v", c.name, outrun)
			}
			if receipt.Node == first || receipt.Attempts != 2 {
				t.Errorf("%s: receipt is %+v", c.name, receipt)
			}
		})
	}
}

// While anything is queued, and where there is no other replica, nothing is
// read twice.
func TestNoSecondReadWithoutNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := evenPlan(t, 40, "a", "b")
		table := &slowTable{modelTable: modelTable{rows: spread(100), page: 4}, takes: func(s tokenrange.Split, _ int) (before, after time.Duration) {
			if s.ID == plan.Splits[0].ID {
				return time.Hour, 0 // with one worker left for 39 splits of 100 s
			}
			return 100 * time.Second, 0
		}}
		result, err := scan.Run(t.Context(), plan, table, []scan.Consumer{&keeper{}}, scan.Options{Columns: []string{"token"}, Workers: 2})
		if err != nil || result.SecondReads != 0 {
			t.Errorf("%d second reads, %v", result.SecondReads, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		plan := evenPlan(t, 4, "a")
		table := &slowTable{modelTable: modelTable{rows: spread(100), page: 4}, takes: func(s tokenrange.Split, _ int) (before, after time.Duration) {
			if s.ID == plan.Splits[0].ID {
				return time.Hour, 0
			}
			return time.Second, 0
		}}
		result, err := scan.Run(t.Context(), plan, table, []scan.Consumer{&keeper{}}, scan.Options{Columns: []string{"token"}, Workers: 4})
		if err != nil || result.SecondReads != 0 {
			t.Errorf("%d second reads, %v", result.SecondReads, err)
		}
	})
}

// Whatever reads take and wherever they fail, with second reads all over the
// place: each row once, each split committed once, no part left open.
func TestSecondReadsDoubleNothing(t *testing.T) {
	var began, won int64
	defer func() {
		if began == 0 || won == 0 || won == began {
			t.Errorf("%d second reads and %d won: the test does not see both ends", began, won)
		}
	}()
	rapid.Check(t, func(rt *rapid.T) {
		rows := spread(rapid.IntRange(0, 100).Draw(rt, "rows"))
		nodes := []string{"a", "b", "c"}[:rapid.IntRange(2, 3).Draw(rt, "nodes")]
		splits := rapid.IntRange(1, 12).Draw(rt, "splits")
		workers := rapid.IntRange(1, 8).Draw(rt, "workers")
		perNode := rapid.IntRange(0, 3).Draw(rt, "per node")
		// Few different times, so that reads often end at the same instant.
		times := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, time.Second, time.Second, 5 * time.Second, time.Minute}), 40, 40).Draw(rt, "times")
		classes := rapid.SliceOfN(rapid.SampledFrom([]scan.Class{scan.Other, scan.Timeout, scan.NoConnection, scan.Tombstones}), 0, 6).Draw(rt, "faults")
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			reads := 0
			table := &slowTable{modelTable: modelTable{rows: rows, page: 3}}
			table.takes = func(tokenrange.Split, int) (before, after time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				reads++
				return times[reads*2%40], times[(reads*2+1)%40]
			}
			table.fault = func(s tokenrange.Split, _ int) error {
				mu.Lock()
				defer mu.Unlock()
				if reads%4 == 1 && len(classes) > 0 {
					c := classes[0]
					classes = classes[1:]
					return readError(s, c)
				}
				return nil
			}
			first, second := &keeper{}, &keeper{}
			result, err := scan.Run(t.Context(), evenPlan(t, splits, nodes...), table, []scan.Consumer{first, second}, scan.Options{
				Columns: []string{"token"}, Workers: workers, MaxInFlightPerNode: perNode, MaxAttempts: 9, SecondReadAfter: time.Nanosecond,
				Backoff: time.Second, MaxBackoff: time.Second,
			})
			if err != nil {
				rt.Fatal(err)
			}
			for _, k := range []*keeper{first, second} {
				if err := equal(k.rows(result.SplitIDs()), rows); err != nil {
					rt.Fatal(err)
				}
				if k.open != 0 || len(k.twice) != 0 {
					rt.Fatalf("%d parts open, %v committed twice", k.open, k.twice)
				}
			}
			began, won = began+result.SecondReads, won+result.SecondReadsWon
			if result.SecondReadsWon > result.SecondReads || result.SecondReads > result.Attempts {
				rt.Fatalf("%d of %d second reads won, of %d", result.SecondReadsWon, result.SecondReads, result.Attempts)
			}
		})
	})
}
