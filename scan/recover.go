package scan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"manifest/tokenrange"
)

// hopelessAfter is how many reads in a row a node may fail before its splits
// are given up instead of halved, where no half of a range that it failed on
// could be read anywhere meanwhile. A poisoned partition fails every other read at most
// while it is narrowed down, and a few dozen of them in one split somewhat more;
// a node that fails everything would have its splits halved for ever.
const hopelessAfter = 64

// recover decides what becomes of a split after a failed attempt. alone tells
// that no other read of it goes on.
func (r *run) recover(ctx context.Context, t *task, alone bool, f FailureInfo) (next []*task, err error) {
	if ce, ok := errors.AsType[*consumerError](f.Err); ok {
		// The reading side is at fault: a full disk, a value that does not
		// fit. No node would do better.
		f.Action, f.Err = Stop, ce.err
		r.report(f)
		return nil, f.Err
	}
	f.Class = ClassOf(f.Err)
	if f.Class == SchemaChanged {
		f.Class, f.Err = r.difference(ctx, f.Err)
	}
	policy := f.Class.Policy()
	if !alone && policy.Split != Stop {
		f.Action = Leave
		r.report(f)
		return nil, nil
	}
	if policy.Split == Wait {
		if t.waiting.IsZero() {
			t.waiting = time.Now()
		}
	} else {
		t.waiting = time.Time{}
		t.failed++
	}
	left, right, divisible := t.split.Halve()
	f.Action = policy.decide(situation{
		canHalve: divisible, hopeless: r.hopeless(f.Node),
		failed: t.failed, most: r.opts.MaxAttempts,
		waited: time.Since(t.waiting), patience: r.opts.Patience,
	})
	f.Wait = policy.Pause.Before(t.attempt+t.halvings, r.opts.Backoff, r.opts.MaxBackoff)
	switch f.Action {
	case Halve:
		next = []*task{t.half(left, f.Node), t.half(right, f.Node)}
	case Retry, Wait:
		t.avoid = f.Node
		next = []*task{t}
	default:
		f.Wait = 0
	}
	r.report(f)
	if r.countFailure(f, policy, divisible) {
		return nil, fmt.Errorf("%w; the last: %w", ErrTooManyFailures, f.Err)
	}
	switch f.Action {
	case Stop:
		return nil, f.Err
	case Wait:
		t.ready = time.Now().Add(f.Wait) // the worker goes on with others meanwhile
	default:
		sleep(ctx, f.Wait) // the worker asks for less meanwhile
	}
	return next, nil
}

// half is a task for one half of t's split, on which node has failed.
func (t *task) half(split tokenrange.Split, node string) *task {
	return &task{split: split, halvings: t.halvings + 1, blamed: node, ring: t.ring}
}

// sleep waits for d, or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
}

// hopeless tells that a node has failed so often in a row that its splits are
// not to blame.
func (r *run) hopeless(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failing[node] >= hopelessAfter
}

// countFailure tells whether the run should end: too many splits were given
// up, or every worker has failed as often as it may with nothing committed
// meanwhile. What is waited for has its own bound.
func (r *run) countFailure(f FailureInfo, policy Policy, divisible bool) (enough bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.Action == GiveUp {
		r.failures = append(r.failures, f.Err)
		if policy.Split == Halve && !divisible {
			r.result.Poisoned = append(r.result.Poisoned, poisoned(f))
		}
	}
	if policy.Split != Wait {
		r.stalled++
		r.failing[f.Node]++
	}
	return len(r.failures) >= r.opts.MaxFailedSplits || r.stalled >= max(hopelessAfter, r.opts.Workers*r.opts.MaxAttempts*2)
}

// poisoned names the partition of a split of one token that can't be read.
func poisoned(f FailureInfo) Poisoned {
	p := Poisoned{Token: f.Split.Range.End, Class: f.Class, Err: f.Err}
	if re, ok := errors.AsType[*ReadError](f.Err); ok {
		p.Key = re.Key
	}
	return p
}

func (r *run) report(f FailureInfo) {
	r.opts.Logger.Warn("split failed", "range", f.Split.Range.String(), "node", f.Node, "attempt", f.Attempt,
		"class", f.Class.String(), "action", f.Action.String(), "wait", f.Wait, "rows_dropped", f.RowsDropped, "err", f.Err)
	r.opts.Events.SplitFailed(f)
}

// consumerError marks an error of a consumer, which no replica can mend.
type consumerError struct{ err error }

func (e *consumerError) Error() string { return e.err.Error() }
func (e *consumerError) Unwrap() error { return e.err }
