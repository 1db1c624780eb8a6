package scan_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"manifest/scan"
	"manifest/tokenrange"
)

func TestEveryRowOnceWhateverFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := spread(rapid.IntRange(0, 300).Draw(t, "rows"))
		classes := slices.DeleteFunc(scan.Classes(), func(c scan.Class) bool { return c.Policy().Split == scan.Stop })
		faults := rapid.SliceOfN(rapid.SampledFrom(classes), 0, 8).Draw(t, "faults")
		var next atomic.Int64
		table := &modelTable{rows: rows, page: rapid.IntRange(1, 50).Draw(t, "page"), fault: func(s tokenrange.Split, _ int) error {
			// The faults come one after the other, whoever reads.
			if i := next.Add(1) - 1; i%3 == 0 && int(i/3) < len(faults) {
				return readError(s, faults[i/3])
			}
			return nil
		}}
		nodes := []string{"a", "b", "c", "d"}[:rapid.IntRange(0, 4).Draw(t, "nodes")]
		plan := evenPlan(t, rapid.IntRange(1, 40).Draw(t, "splits"), nodes...)
		first, second := &keeper{}, &keeper{}
		result, err := scan.Run(context.Background(), plan, table, []scan.Consumer{first, second}, fast(scan.Options{
			Workers:            rapid.IntRange(1, 9).Draw(t, "workers"),
			MaxInFlightPerNode: rapid.IntRange(0, 3).Draw(t, "per node"),
			MaxAttempts:        20,
		}))
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range []*keeper{first, second} {
			if err := equal(k.rows(result.SplitIDs()), rows); err != nil {
				t.Fatalf("consumer %d: %v", i, err)
			}
			if k.open != 0 {
				t.Fatalf("consumer %d: %d parts are neither committed nor aborted", i, k.open)
			}
		}
		if result.Rows != int64(len(rows)) {
			t.Fatalf("the result counts %d rows, not %d", result.Rows, len(rows))
		}
	})
}

func TestATimeoutHalvesTheSplit(t *testing.T) {
	rows := spread(1000)
	table := &modelTable{rows: rows, page: 10, fault: func(s tokenrange.Split, soFar int) error {
		if soFar >= 100 { // nothing with more than 100 rows can be read
			return readError(s, scan.Timeout)
		}
		return nil
	}}
	var k keeper
	result, err := scan.Run(t.Context(), evenPlan(t, 2, "a", "b"), table, []scan.Consumer{&k}, fast(scan.Options{Workers: 2}))
	if err != nil {
		t.Fatal(err)
	}
	if err := equal(k.rows(result.SplitIDs()), rows); err != nil {
		t.Error(err)
	}
	// 500 rows a split: 250, 125, 62. So each of the two becomes eight.
	if got := len(result.Receipts); got != 16 {
		t.Errorf("%d splits were committed, not 16", got)
	}
}

func TestAFailingNodeIsReplaced(t *testing.T) {
	table := &modelTable{rows: spread(100), page: 10, fault: func(s tokenrange.Split, _ int) error {
		if s.Replicas[0] == "dead" {
			return readError(s, scan.NoConnection)
		}
		return nil
	}}
	result, err := scan.Run(t.Context(), evenPlan(t, 12, "dead", "b", "c"), table, []scan.Consumer{&keeper{}}, fast(scan.Options{Workers: 3, MaxAttempts: 4}))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range result.Receipts {
		if r.Node == "dead" {
			t.Errorf("split %s is said to come from the dead node", r.Split)
		}
	}
}

func TestAnUnreadableRangeMakesTheRunIncomplete(t *testing.T) {
	plan := evenPlan(t, 8, "a", "b")
	bad := plan.Splits[3]
	table := &modelTable{rows: spread(100), page: 10, fault: func(s tokenrange.Split, _ int) error {
		if s.ID == bad.ID {
			return readError(s, scan.Unavailable)
		}
		return nil
	}}
	var k keeper
	result, err := scan.Run(t.Context(), plan, table, []scan.Consumer{&k}, fast(scan.Options{}))
	incomplete, ok := errors.AsType[*scan.IncompleteError](err)
	if !ok {
		t.Fatalf("got %v, want an IncompleteError", err)
	}
	if len(incomplete.Missing) != 1 || incomplete.Missing[0] != bad.Range {
		t.Errorf("missing %v, want %v", incomplete.Missing, bad.Range)
	}
	if scan.ClassOf(incomplete.Causes) != scan.Unavailable {
		t.Errorf("the cause is lost: %v", incomplete.Causes)
	}
	if len(result.Receipts) != 7 || k.open != 0 {
		t.Errorf("%d splits are committed and %d parts open, want 7 and 0", len(result.Receipts), k.open)
	}
}

func TestWhereNothingCanBeReadTheRunEnds(t *testing.T) {
	table := &modelTable{rows: spread(10), page: 1, fault: func(s tokenrange.Split, _ int) error { return readError(s, scan.Timeout) }}
	_, err := scan.Run(t.Context(), evenPlan(t, 4, "a"), table, []scan.Consumer{&keeper{}}, fast(scan.Options{Workers: 2, MaxAttempts: 3}))
	if !errors.Is(err, scan.ErrTooManyFailures) {
		t.Errorf("got %v, want %v", err, scan.ErrTooManyFailures)
	}
}

func TestFatalFailuresStopTheRun(t *testing.T) {
	for _, class := range []scan.Class{scan.Authentication, scan.Unauthorized, scan.SchemaChanged, scan.Protocol} {
		var reads atomic.Int64
		table := &modelTable{rows: spread(100), page: 1, fault: func(s tokenrange.Split, _ int) error {
			reads.Add(1)
			return readError(s, class)
		}}
		_, err := scan.Run(t.Context(), evenPlan(t, 50, "a"), table, []scan.Consumer{&keeper{}}, fast(scan.Options{Workers: 1}))
		if scan.ClassOf(err) != class || reads.Load() != 1 {
			t.Errorf("%v: got %v after %d reads", class, err, reads.Load())
		}
	}
}

func TestAConsumersErrorStopsTheRun(t *testing.T) {
	full := errors.New("disk full")
	for name, k := range map[string]*keeper{"write": {writeErr: full}, "commit": {commitErr: full}} {
		_, err := scan.Run(t.Context(), evenPlan(t, 5, "a"), &modelTable{rows: spread(100), page: 10}, []scan.Consumer{&keeper{}, k}, fast(scan.Options{Workers: 1}))
		if !errors.Is(err, full) {
			t.Errorf("%s: got %v", name, err)
		}
		if k.open != 0 {
			t.Errorf("%s: %d parts are neither committed nor aborted", name, k.open)
		}
	}
}

func TestTheLedgerHearsOfASplitAfterItsParts(t *testing.T) {
	var k keeper
	check := ledgerFunc(func(r scan.Receipt) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		if _, ok := k.committed[r.Split]; !ok {
			return errors.New("recorded before it was committed")
		}
		return nil
	})
	if _, err := scan.Run(t.Context(), evenPlan(t, 20, "a", "b"), &modelTable{rows: spread(200), page: 3}, []scan.Consumer{&k}, fast(scan.Options{Ledger: check})); err != nil {
		t.Error(err)
	}
	refuse := ledgerFunc(func(scan.Receipt) error { return errors.New("no space left") })
	_, err := scan.Run(t.Context(), evenPlan(t, 20, "a"), &modelTable{page: 1}, nil, fast(scan.Options{Ledger: refuse}))
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("a ledger that can't record: got %v", err)
	}
}

type ledgerFunc func(scan.Receipt) error

func (f ledgerFunc) Commit(_ context.Context, r scan.Receipt) error { return f(r) }

func TestCancelKeepsWhatWasCommitted(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var committed atomic.Int64
	var k keeper
	result, err := scan.Run(ctx, evenPlan(t, 40, "a"), &modelTable{rows: spread(400), page: 5}, []scan.Consumer{&k}, fast(scan.Options{
		Workers: 2,
		Events: scan.Events{SplitCommitted: func(scan.Receipt) {
			if committed.Add(1) == 10 {
				cancel(stop)
			}
		}},
	}))
	if !errors.Is(err, stop) {
		t.Fatalf("got %v, want %v", err, stop)
	}
	if n := len(result.Receipts); n < 10 || n > 12 {
		t.Errorf("%d splits were committed, want those before the cancel", n)
	}
	if k.open != 0 || len(k.committed) != len(result.Receipts) {
		t.Errorf("%d parts open, %d committed, %d receipts", k.open, len(k.committed), len(result.Receipts))
	}
}

func TestNoNodeIsAskedForMoreThanItsLimit(t *testing.T) {
	const limit = 2
	table := &modelTable{rows: spread(3000), page: 1, fault: func(tokenrange.Split, int) error {
		runtime.Gosched() // a chance for others to come in
		return nil
	}}
	_, err := scan.Run(t.Context(), evenPlan(t, 300, "a", "b", "c"), table, []scan.Consumer{&keeper{}}, fast(scan.Options{Workers: 12, MaxInFlightPerNode: limit}))
	if err != nil {
		t.Fatal(err)
	}
	for node, most := range table.mostRead {
		if most > limit {
			t.Errorf("node %s served %d splits at a time, not %d", node, most, limit)
		}
	}
	if len(table.mostRead) != 3 {
		t.Errorf("served by %v, want three nodes", table.mostRead)
	}
}

func TestOptionsNameEveryFault(t *testing.T) {
	_, err := scan.Run(t.Context(), evenPlan(t, 1), &modelTable{}, nil, scan.Options{Workers: -1, MaxAttempts: -2, Backoff: -3})
	for _, want := range []string{"no columns", "workers: -1", "attempts: -2", "back-off"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
