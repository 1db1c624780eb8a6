package cql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/gocql/gocql"

	"manifest/internal/cassandra"
	"manifest/internal/throttle"
	"manifest/scan"
	"manifest/tokenrange"
)

// read is the state of one read of a split.
type read struct {
	source     *Source
	split      tokenrange.Split
	projection *projection
	rows       *rows
	// nodes are the replicas in the order in which they are asked; the first
	// coordinates, and goes to the end when it fails.
	nodes []string
	// size is the rows to ask for in the next page.
	size int
	// most is the largest size after a time-out; 0 where there was none.
	most  int
	stats scan.ReadStats
	// stages are what is left to read; the first one is being read.
	stages []stage
	// resumes counts how often the read went on by key, the last time because
	// of cause; moved tells that rows have come since.
	resumes int
	cause   error
	moved   bool
	// release gives the limiter back what it granted for the page at hand,
	// which came after latency.
	release func(throttle.Outcome)
	latency time.Duration
}

func (r *read) fail(class scan.Class, err error) error {
	node := cmp.Or(r.node(), r.stats.Node)
	return &scan.ReadError{Range: r.split.Range, Node: node, Class: class, Key: r.rows.partitions.last(), Err: err}
}

// all reads the split to its end, page by page.
func (r *read) all(ctx context.Context, emit func(arrow.Record) error) error {
	r.stages = []stage{r.projection.rangeStage(r.split.Range)}
	var state []byte
	for len(r.stages) > 0 {
		iter, err := r.page(ctx, state)
		if err != nil {
			if within := r.stages[0].within; within && scan.ClassOf(err) == scan.SchemaChanged {
				return r.cause // such keys can't be compared
			}
			if !r.resume(ctx, err) {
				return err
			}
			state = nil
			continue
		}
		state = slices.Clone(iter.PageState())
		before := r.rows.bytes
		n, err := r.rows.read(iter)
		if err == nil {
			r.received(n, r.rows.bytes-before) // before the next read has its turn, which asks how large rows are
		}
		r.release(throttle.Outcome{Rows: int64(n), Bytes: r.rows.bytes - before, Latency: r.latency})
		if err != nil {
			return r.fail(scan.Protocol, err)
		}
		if n > 0 {
			if err := deliver(r.rows, emit); err != nil {
				return err
			}
		}
		if len(state) == 0 {
			r.stages = r.stages[1:]
		}
	}
	return nil
}

// page asks for the page at the paging state, of one replica after the other
// if need be, and gives it with its rows still to be decoded.
func (r *read) page(ctx context.Context, state []byte) (*gocql.Iter, error) {
	for attempt := 1; ; attempt++ {
		iter, err := r.ask(ctx, state)
		if err == nil {
			return iter, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		class := scan.ClassOf(err)
		if !class.Policy().Page || attempt >= r.attempts() || errors.Is(err, errPagingState) {
			return nil, err
		}
		if err := r.prepareRetry(ctx, attempt, class, err); err != nil {
			return nil, err
		}
	}
}

// attempts is how often a page is asked for: of every replica at least.
func (r *read) attempts() int { return max(r.source.opts.PageAttempts, len(r.nodes)) }

// prepareRetry does before another attempt at the page what the policy of the
// class says. A node that can't be reached costs no pause: the next one may
// well be up.
func (r *read) prepareRetry(ctx context.Context, attempt int, class scan.Class, err error) error {
	policy := class.Policy()
	if policy.Smaller {
		// The last attempt is at a single row, so that what a failure is about
		// lies behind the rows that could be read.
		r.most = max(1, r.size/8)
		if attempt+1 >= r.attempts() {
			r.most = 1
		}
		r.size = r.most
	}
	asked := r.node()
	if policy.Replica && len(r.nodes) > 1 {
		r.nodes = append(r.nodes[1:], r.nodes[0])
	}
	wait := policy.Pause.Before(attempt, r.source.opts.Backoff, maxBackoff)
	if class == scan.NoConnection && attempt < len(r.nodes) {
		wait = 0
	}
	r.stats.Retries++
	r.source.opts.Logger.Info("page asked for again", "range", r.split.Range.String(), "node", asked, "next", r.node(),
		"attempt", attempt, "class", class.String(), "page_size", r.size, "wait", wait, "err", err)
	return sleep(ctx, wait)
}

// maxBackoff bounds the pause before a page is asked for again.
const maxBackoff = 5 * time.Second

// sleep waits for d; its error is the cause of ctx's end.
func sleep(ctx context.Context, d time.Duration) error {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// node is the one that is asked next; "" is any.
func (r *read) node() string {
	if len(r.nodes) > 0 {
		return r.nodes[0]
	}
	return ""
}

// ask asks for a page once, of the first of the nodes.
func (r *read) ask(ctx context.Context, state []byte) (*gocql.Iter, error) {
	node := r.node()
	release, err := r.source.opts.Limiter.Acquire(ctx, node)
	if err != nil {
		return nil, r.fail(scan.Other, err)
	}
	if !r.moved && r.most == 0 {
		r.size = r.source.firstPageSize() // others may have learnt meanwhile how large rows are
	}
	started := time.Now()
	iter, err := r.request(ctx, node, state)
	if err != nil {
		class := scan.ClassOf(err)
		release(throttle.Outcome{Overloaded: class == scan.Timeout || class == scan.Overloaded})
		return nil, err
	}
	r.release, r.latency = release, time.Since(started)
	return iter, nil
}

func (r *read) request(ctx context.Context, node string, state []byte) (*gocql.Iter, error) {
	if node != "" {
		ctx = cassandra.WithNodes(ctx, node)
	}
	statement := r.projection.selection + r.projection.from + r.stages[0].where
	iter, err := r.source.nodes.Select(ctx, statement, cassandra.Page{Size: r.size, State: state}, r.stages[0].args...)
	if errors.Is(err, cassandra.ErrStatement) {
		return nil, r.fail(scan.Protocol, err)
	}
	if err != nil {
		return nil, r.fail(classify(err), err)
	}
	if host := iter.Host(); host != nil {
		r.stats.Node = host.HostID()
	}
	if iter.NumRows() == 0 {
		// A failed request is an iterator without rows; only closing it tells.
		next := iter.PageState()
		if err := iter.Close(); err != nil {
			if len(state) > 0 && refused(err) {
				return nil, r.fail(scan.Other, fmt.Errorf("%w: %w", errPagingState, err))
			}
			return nil, r.fail(classify(err), err)
		}
		if len(next) > 0 {
			return iter, nil
		}
	}
	if err := r.projection.check(iter.Columns()); err != nil {
		return nil, r.fail(scan.SchemaChanged, errors.Join(err, iter.Close()))
	}
	return iter, nil
}

// bound gives a token as the driver binds it: the token() of Murmur3 is a
// bigint, that of the random partitioner a varint.
func bound(t tokenrange.Token) any {
	if v, ok := t.Int64(); ok {
		return v
	}
	return t.Big()
}

// widePages is how many full pages make a partition wide.
const widePages = 4

// received notes a page and sizes the next one.
func (r *read) received(rows int, bytes int64) {
	r.stats.Pages++
	r.stats.Bytes += bytes
	if rows == 0 {
		return
	}
	r.moved = true
	if p := r.rows.partitions; p != nil && p.rows >= widePages*int64(r.source.opts.PageSize) {
		r.source.wide.Store(true)
	}
	rowBytes := max(1, bytes/int64(rows))
	r.source.rowBytes.Store(rowBytes)
	r.size = r.source.pageSize(rowBytes)
	if r.most > 0 {
		r.most = min(r.size, r.most*2) // recover slowly
		r.size = r.most
	}
}
