package scan

import (
	"context"
	"errors"
	"slices"
	"time"
)

// A split that straggles near the end is read a second time, from another
// replica, by a worker that has nothing else to do.
//
//	first read   ──────────────────────────────────> outrun: aborted
//	second read          ────────> claims ──> commits its parts ──> receipt
//
// Both write parts of their own, and both parts would get the same name. So a
// read that has come to the end of its rows claims the split before it commits
// the first part. A claim is given once and never taken back: the one that has
// it commits, and if it can't, the run stops, since then the reading side is at
// fault. The other is cancelled, and aborts its parts, which by then have only
// temporary names. A read that fails without a claim is no failure of the split
// as long as the other goes on.

// errOutrun is the cause that ends a read when the other one has claimed the split.
var errOutrun = errors.New("another read of the split was faster")

// reading is a read of a split that is under way.
type reading struct {
	task    *task
	info    SplitInfo
	started time.Time
	cancel  context.CancelCauseFunc
	// paired tells that there has been another read beside it: a second one that
	// fails is not followed by a third.
	paired bool
	// last tells, once it has left, that no other read of the task goes on.
	last bool
}

// pace says when a split straggles. The queue's lock guards it.
type pace struct {
	off      bool
	least    time.Duration // no read is repeated before
	multiple int           // of the median
	took     []time.Duration
}

// note takes in how long a committed read took.
func (p *pace) note(d time.Duration) {
	at, _ := slices.BinarySearch(p.took, d)
	p.took = slices.Insert(p.took, at, d)
}

// limit is how long a read may take before it straggles; ok is false as long as
// nothing says what is usual.
func (p *pace) limit() (d time.Duration, ok bool) {
	if p.off || len(p.took) == 0 {
		return 0, false
	}
	return max(p.least, time.Duration(p.multiple)*p.took[len(p.took)/2]), true
}

// begin starts a read of t; the caller holds the lock.
func (q *nodeQueues) begin(ctx context.Context, t *task, node string, now time.Time) (*reading, context.Context) {
	readCtx, cancel := context.WithCancelCause(ctx)
	t.attempt++
	rd := &reading{
		task: t, started: now, cancel: cancel,
		info: SplitInfo{Split: preferring(t.split, node), Node: node, Attempt: t.attempt},
	}
	for _, first := range t.readings {
		first.paired, rd.paired = true, true
	}
	t.readings = append(t.readings, rd)
	q.running = append(q.running, rd)
	q.inFlight[node]++
	return rd, readCtx
}

// straggler finds, when nothing is queued, the split that has been read the
// longest and is due for a second read, with the replica to read it from.
// Otherwise next is when one will be due; zero if none is known. The caller
// holds the lock.
func (q *nodeQueues) straggler(now time.Time) (t *task, node string, next time.Time) {
	limit, ok := q.pace.limit()
	if !ok || q.anyQueued() {
		return nil, "", time.Time{}
	}
	for _, rd := range q.running {
		if rd.task.claimed || rd.paired {
			continue
		}
		node, ok := q.otherReplica(rd)
		if !ok {
			continue
		}
		due := rd.started.Add(limit)
		if now.Before(due) {
			return nil, "", due // those behind it began later
		}
		return rd.task, node, time.Time{}
	}
	return nil, "", time.Time{}
}

func (q *nodeQueues) anyQueued() bool {
	for _, tasks := range q.queued {
		if len(tasks) > 0 {
			return true
		}
	}
	return false
}

// otherReplica finds the replica with the fewest reads that has room and does
// not serve rd.
func (q *nodeQueues) otherReplica(rd *reading) (best string, found bool) {
	for _, node := range rd.task.split.Replicas {
		if node == rd.info.Node || q.inFlight[node] >= q.limit {
			continue
		}
		if !found || q.inFlight[node] < q.inFlight[best] {
			best, found = node, true
		}
	}
	return best, found
}

// claim gives rd the right to commit its split, unless the other read has it,
// and ends that one. reads is how many there were of the split.
func (q *nodeQueues) claim(rd *reading) (reads int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if rd.task.claimed {
		return 0, false
	}
	rd.task.claimed = true
	for _, other := range rd.task.readings {
		if other != rd {
			other.cancel(errOutrun)
		}
	}
	return rd.task.attempt, true
}

// committed notes how long a read took that is in the ledger now.
func (q *nodeQueues) committed(rd *reading) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pace.note(time.Since(rd.started))
}

// leave takes rd out of those under way. It tells whether the split is rd's
// matter alone: no other read of it goes on, and none has claimed it.
func (q *nodeQueues) leave(rd *reading) (alone bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	rd.cancel(nil)
	is := func(other *reading) bool { return other == rd }
	rd.task.readings = slices.DeleteFunc(rd.task.readings, is)
	q.running = slices.DeleteFunc(q.running, is)
	rd.last = len(rd.task.readings) == 0
	return rd.last && !rd.task.claimed
}
