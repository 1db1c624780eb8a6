package scan

import (
	"context"
	"slices"
	"sync"
	"time"

	"manifest/tokenrange"
)

// noNode is the queue of splits that no node is known to hold; whoever
// coordinates is up to the source.
const noNode = ""

// task is a split on its way, with what its earlier attempts have shown.
type task struct {
	split tokenrange.Split
	// attempt counts the reads that have begun, failed those that count
	// against [Options].MaxAttempts.
	attempt, failed int
	// halvings counts how often the range was halved to come to this split.
	halvings int
	// blamed is the node that failed on the range that was halved to come here.
	blamed string
	// avoid is the node that failed last; another replica is preferred.
	avoid string
	// waiting is since when the split is waited for; zero if it is not.
	waiting time.Time
	// ready is when it may be read again; zero is at once.
	ready time.Time
	// ring is the number of the ring that it is planned for.
	ring int

	// readings are under way: one, or two of a split that straggles. The queue's
	// lock guards them, and claimed, which one of them may do once.
	readings []*reading
	claimed  bool
}

// nodeQueues hands out splits so that every node has work and none has too
// much. Each split waits in the queue of its first replica; a worker serves
// the node with the fewest reads in flight, and where that node's own queue is
// empty it takes a split of the longest queue that the node also holds.
//
// Invariant: open counts the tasks that are queued or being read, so that take
// can tell "nothing now" from "nothing ever again": a worker may still put back
// two halves.
type nodeQueues struct {
	limit int
	pace  pace // of second reads

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	queued   map[string][]*task
	delayed  []*task  // not ready yet, the first to be ready first
	order    []string // node ids in order of first appearance, so that choices do not depend on map order
	inFlight map[string]int
	place    Place      // on the present ring; nil on the first one
	ring     int        // counts the rings
	running  []*reading // the first ones begun first
	open     int
}

func newNodeQueues(splits []tokenrange.Split, limit int, pace pace) *nodeQueues {
	q := &nodeQueues{
		limit:    limit,
		pace:     pace,
		changed:  make(chan struct{}),
		queued:   map[string][]*task{},
		inFlight: map[string]int{},
	}
	for _, s := range splits {
		q.add(&task{split: s})
	}
	return q
}

// add takes in a task that is to be read, as the present ring has it; the caller
// holds the lock, or nobody else knows q. It gives the number of splits.
func (q *nodeQueues) add(t *task) (splits int) {
	tasks := q.placed(t)
	for _, t := range tasks {
		q.open++
		if t.ready.IsZero() {
			q.enqueue(t)
			continue
		}
		at, _ := slices.BinarySearchFunc(q.delayed, t, func(a, b *task) int { return a.ready.Compare(b.ready) })
		q.delayed = slices.Insert(q.delayed, at, t)
	}
	return len(tasks)
}

// wake queues the delayed tasks that have become ready, and tells when the next
// one will be; zero if there is none. The caller holds the lock.
func (q *nodeQueues) wake(now time.Time) time.Time {
	for len(q.delayed) > 0 {
		if t := q.delayed[0]; now.Before(t.ready) {
			return t.ready
		}
		t := q.delayed[0]
		q.delayed = q.delayed[1:]
		t.ready = time.Time{}
		q.enqueue(t)
	}
	return time.Time{}
}

// enqueue puts t behind the others of its node.
func (q *nodeQueues) enqueue(t *task) {
	node := t.home()
	q.know(node)
	for _, r := range t.split.Replicas {
		q.know(r)
	}
	q.queued[node] = append(q.queued[node], t)
}

func (q *nodeQueues) know(node string) {
	if _, ok := q.queued[node]; !ok {
		q.queued[node] = nil
		q.order = append(q.order, node)
	}
}

// home is the replica that should serve the task: the first one that did not
// just fail.
func (t *task) home() string {
	for _, r := range t.split.Replicas {
		if r != t.avoid {
			return r
		}
	}
	if len(t.split.Replicas) > 0 {
		return t.split.Replicas[0]
	}
	return noNode
}

// take waits for a read that may start now. It ends with readCtx, whose cause is
// errOutrun if another read of the same split has been faster. ok is false when
// no task is left or ctx has ended.
func (q *nodeQueues) take(ctx context.Context) (rd *reading, readCtx context.Context, ok bool) {
	for {
		q.mu.Lock()
		if q.open == 0 || ctx.Err() != nil {
			q.mu.Unlock()
			return nil, nil, false
		}
		now := time.Now()
		next := q.wake(now)
		t, node := q.pick()
		second := false
		if t == nil {
			var due time.Time
			if t, node, due = q.straggler(now); t == nil {
				next = earlier(next, due)
			}
			second = t != nil
		}
		if t != nil {
			rd, readCtx = q.begin(ctx, t, node, now)
			rd.info.Second = second
			q.mu.Unlock()
			return rd, readCtx, true
		}
		changed := q.changed
		q.mu.Unlock()
		waitFor(ctx, changed, next)
	}
}

// earlier gives the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// waitFor returns at a change, at a time unless it is zero, or when ctx ends.
func waitFor(ctx context.Context, changed <-chan struct{}, next time.Time) {
	var due <-chan time.Time
	if !next.IsZero() {
		timer := time.NewTimer(time.Until(next))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-changed:
	case <-due:
	case <-ctx.Done():
	}
}

// pick chooses a task, or nil if nothing may start now.
func (q *nodeQueues) pick() (*task, string) {
	best := ""
	found := false
	for _, node := range q.order {
		if q.inFlight[node] >= q.limit || len(q.queued[node]) == 0 {
			continue
		}
		if !found || q.inFlight[node] < q.inFlight[best] {
			best, found = node, true
		}
	}
	// A node with less to do than the best candidate may help out.
	for _, node := range q.order {
		if node == noNode || len(q.queued[node]) > 0 || q.inFlight[node] >= q.limit {
			continue
		}
		if found && q.inFlight[node] >= q.inFlight[best] {
			continue
		}
		if t := q.steal(node); t != nil {
			return t, node
		}
	}
	if !found {
		return nil, ""
	}
	t := q.queued[best][0]
	q.queued[best] = q.queued[best][1:]
	return t, best
}

// steal takes, for node, a task out of the longest other queue whose first
// tasks it also holds. Only a few are looked at: in a ring with replicas most
// neighbours share some.
func (q *nodeQueues) steal(node string) *task {
	const look = 16
	longest := ""
	for _, other := range q.order {
		if other != node && len(q.queued[other]) > len(q.queued[longest]) {
			longest = other
		}
	}
	tasks := q.queued[longest]
	for i := range min(look, len(tasks)) {
		if t := tasks[i]; t.heldBy(node) {
			copy(tasks[1:i+1], tasks[:i])
			q.queued[longest] = tasks[1:]
			return t
		}
	}
	return nil
}

func (t *task) heldBy(node string) bool {
	for _, r := range t.split.Replicas {
		if r == node && r != t.avoid {
			return true
		}
	}
	return false
}

// done ends a read and queues what it left to do.
func (q *nodeQueues) done(rd *reading, next ...*task) {
	q.mu.Lock()
	q.inFlight[rd.info.Node]--
	for _, t := range next {
		q.add(t)
	}
	if rd.last {
		q.open--
	}
	close(q.changed)
	q.changed = make(chan struct{})
	q.mu.Unlock()
}
