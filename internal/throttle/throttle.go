package throttle

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Throttle limits the requests of one run. Its methods may be called from many
// goroutines at a time.
type Throttle struct {
	opts        Options
	rows, bytes *pace

	mu      sync.Mutex
	nodes   map[string]*node
	resumed chan struct{} // closed by Resume; nil while not paused
}

// Outcome says what became of a request. The zero Outcome says nothing of the
// node: the request was not made, or failed in a way that is not the node's.
type Outcome struct {
	// Rows and Bytes are what the page brought.
	Rows, Bytes int64
	// Latency is from the request to the whole page, without any waiting in
	// Acquire or any work on the rows. 0 means that none was measured.
	Latency time.Duration
	// Overloaded means that the node refused the work as too much, or did not
	// answer in time.
	Overloaded bool
}

// New makes the throttle of a run.
func New(opts Options) (*Throttle, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("throttle options: %w", err)
	}
	opts = opts.withDefaults()
	return &Throttle{
		opts:  opts,
		rows:  newPace(opts.RowsPerSecond),
		bytes: newPace(opts.BytesPerSecond),
		nodes: map[string]*node{},
	}, nil
}

// Acquire waits until a request to the node may start. The caller makes it at
// once and then calls release with its outcome; calling it again does nothing.
// The name of the node is any that is the same every time, "" for no matter
// which.
//
// An error means that ctx has ended, whose cause it wraps.
func (t *Throttle) Acquire(ctx context.Context, nodeID string) (release func(Outcome), err error) {
	n := t.node(nodeID)
	if err := n.enter(ctx); err != nil {
		return nil, fmt.Errorf("wait for node %q: %w", nodeID, err)
	}
	start, rows, bytes := t.claim(time.Now())
	err = waitUntil(ctx, start)
	if err == nil {
		err = t.waitResumed(ctx)
	}
	if err != nil {
		t.rows.refund(rows)
		t.bytes.refund(bytes)
		n.leave(Outcome{}, time.Now())
		return nil, fmt.Errorf("wait for the rate limit: %w", err)
	}
	var once sync.Once
	return func(o Outcome) {
		once.Do(func() {
			t.settle(o, rows, bytes)
			if cut := n.leave(o, time.Now()); cut {
				t.report(n, o)
			}
		})
	}, nil
}

// claim gives when a request may start as far as both rates go, and what it was
// taken to bring.
func (t *Throttle) claim(now time.Time) (start time.Time, rows, bytes float64) {
	rowsStart, rows := t.rows.claim(now)
	bytesStart, bytes := t.bytes.claim(now)
	return later(rowsStart, bytesStart), rows, bytes
}

// settle accounts for what a request has brought instead of what was claimed.
func (t *Throttle) settle(o Outcome, rows, bytes float64) {
	if o.Overloaded || o == (Outcome{}) {
		t.rows.refund(rows)
		t.bytes.refund(bytes)
		return
	}
	t.rows.settle(rows, float64(o.Rows))
	t.bytes.settle(bytes, float64(o.Bytes))
}

func (t *Throttle) report(n *node, o Outcome) {
	s := n.status()
	t.opts.Logger.Info("less is asked of a node", "node", s.Node, "in_flight_limit", s.Limit,
		"latency", s.Latency, "quiet_latency", s.QuietLatency, "overloaded", o.Overloaded)
}

// Pause lets no further request start. Those in flight go on.
func (t *Throttle) Pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.resumed == nil {
		t.resumed = make(chan struct{})
	}
}

// Resume ends a pause.
func (t *Throttle) Resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.resumed != nil {
		close(t.resumed)
		t.resumed = nil
	}
}

// Paused tells whether there is a pause.
func (t *Throttle) Paused() bool { return t.pause() != nil }

func (t *Throttle) pause() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.resumed
}

// waitResumed waits while there is a pause. A new one may follow the last at once.
func (t *Throttle) waitResumed(ctx context.Context) error {
	for resumed := t.pause(); resumed != nil; resumed = t.pause() {
		select {
		case <-resumed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Nodes says how it stands with every node that was asked for, by name.
func (t *Throttle) Nodes() []NodeStatus {
	t.mu.Lock()
	nodes := slices.Collect(maps.Values(t.nodes))
	t.mu.Unlock()
	all := make([]NodeStatus, len(nodes))
	for i, n := range nodes {
		all[i] = n.status()
	}
	slices.SortFunc(all, func(a, b NodeStatus) int { return cmp.Compare(a.Node, b.Node) })
	return all
}

func (t *Throttle) node(id string) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[id]
	if n == nil {
		n = &node{id: id, limit: newLimit(t.opts)}
		t.nodes[id] = n
	}
	return n
}

// waitUntil waits for a time of day, or for the end of ctx.
func waitUntil(ctx context.Context, start time.Time) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	wait := time.Until(start)
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
