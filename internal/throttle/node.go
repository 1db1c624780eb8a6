package throttle

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// node is the queue before one node. Its first waiter starts when what is in
// flight is below the limit.
//
// Invariant: while anybody waits, inFlight is at least the limit.
type node struct {
	id string

	mu       sync.Mutex
	limit    limit
	inFlight int
	waiting  list.List // of chan struct{}, closed when its waiter may start
}

// NodeStatus says how it stands with a node.
type NodeStatus struct {
	Node string
	// InFlight requests are under way, or about to start as the rates allow.
	InFlight int
	// Waiting callers have not got that far.
	Waiting int
	// Limit is how many may be in flight now.
	Limit int
	// QuietLatency is what a page of the usual number of rows takes when little
	// is asked of the node, Latency what it took lately. 0 where unknown.
	QuietLatency, Latency time.Duration
}

// enter waits for its turn; leave ends it.
func (n *node) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	n.mu.Lock()
	turn := make(chan struct{})
	place := n.waiting.PushBack(turn)
	n.admit()
	n.mu.Unlock()

	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-turn: // it came in the same instant: hand it on
		n.inFlight--
		n.admit()
	default:
		n.waiting.Remove(place)
	}
	return context.Cause(ctx)
}

// leave ends a request that had its turn. cut tells that fewer than before may
// be in flight from now on.
func (n *node) leave(o Outcome, now time.Time) (cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.limit.requests()
	full := n.inFlight >= before
	n.inFlight--
	n.limit.observe(o, full, now)
	n.admit()
	return n.limit.requests() < before
}

// admit starts those who may start; the caller holds mu.
func (n *node) admit() {
	for n.inFlight < n.limit.requests() && n.waiting.Len() > 0 {
		turn := n.waiting.Remove(n.waiting.Front()).(chan struct{})
		n.inFlight++
		close(turn)
	}
	if n.inFlight >= n.limit.requests() {
		n.limit.usedUp = true
	}
}

func (n *node) status() NodeStatus {
	n.mu.Lock()
	defer n.mu.Unlock()
	return NodeStatus{
		Node: n.id, InFlight: n.inFlight, Waiting: n.waiting.Len(), Limit: n.limit.requests(),
		QuietLatency: n.limit.page(n.limit.quiet), Latency: n.limit.page(n.limit.lately),
	}
}
