package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"manifest/tokenrange"
)

// Result says what a run has read. Its receipts are in token order.
type Result struct {
	Rows, Bytes, Pages int64
	// Attempts counts the reads of splits, failed ones included.
	Attempts int64
	// SecondReads counts the reads of splits that straggled, from another
	// replica beside the first read; they are among the attempts.
	// SecondReadsWon counts those that were the faster ones.
	SecondReads, SecondReadsWon int64
	// Replans counts how often the rest was planned again, on another ring.
	Replans int64

	Started  time.Time
	Ended    time.Time
	Receipts []Receipt
	// Largest are the largest partitions of the receipts.
	Largest Largest
	// Poisoned are the partitions that were found to be unreadable, in token
	// order.
	Poisoned []Poisoned
}

// SplitIDs are the ids of the committed splits in token order: the names of
// the parts that make up the result.
func (r Result) SplitIDs() []string {
	ids := make([]string, len(r.Receipts))
	for i, rec := range r.Receipts {
		ids[i] = rec.Split
	}
	return ids
}

// Run reads every split of the plan once and hands its rows to a part of each
// consumer. It returns when all workers have ended.
//
// The result counts what was committed, whatever the error. The error is nil
// only if the receipts tile the plan's part of the ring exactly once. It is an
// [*IncompleteError] if ranges are missing: because ctx ended (errors.Is finds
// the context's cause), because splits were given up, or because a failure
// stopped the run.
func Run(ctx context.Context, plan tokenrange.Plan, source Source, consumers []Consumer, opts Options) (Result, error) {
	if err := opts.Validate(); err != nil {
		return Result{}, fmt.Errorf("scan options: %w", err)
	}
	if err := plan.Check(); err != nil {
		return Result{}, fmt.Errorf("plan: %w", err)
	}
	opts = opts.withDefaults()
	r := &run{
		source:    source,
		consumers: consumers,
		opts:      opts,
		queues:    newNodeQueues(plan.Splits, opts.MaxInFlightPerNode, opts.pace()),
		result:    Result{Started: time.Now().UTC()},
		failing:   map[string]int{},
	}

	stopped := r.readAll(ctx, min(opts.Workers, max(1, len(plan.Splits)*2)))
	if cause := context.Cause(ctx); cause != nil {
		stopped = cause
	}

	r.result.Ended = time.Now().UTC()
	slices.SortFunc(r.result.Receipts, func(a, b Receipt) int { return a.Range.Start.Compare(b.Range.Start) })
	slices.SortFunc(r.result.Poisoned, func(a, b Poisoned) int { return a.Token.Compare(b.Token) })
	return r.result, r.proveCoverage(plan, stopped)
}

// readAll returns when every worker has ended, and gives what stopped them
// before all was read.
func (r *run) readAll(ctx context.Context, workers int) error {
	group, groupCtx := errgroup.WithContext(ctx)
	var working sync.WaitGroup
	for range workers {
		working.Add(1)
		group.Go(func() error {
			defer working.Done()
			return r.work(groupCtx)
		})
	}
	if r.opts.Watcher == nil {
		return group.Wait()
	}
	watchCtx, endWatch := context.WithCancel(groupCtx)
	group.Go(func() error { return r.watch(watchCtx) })
	working.Wait()
	endWatch()
	if err := group.Wait(); err != nil || ctx.Err() != nil {
		return err
	}
	return r.lookAtLast(ctx)
}

// run is the state that the workers of one [Run] share.
type run struct {
	source    Source
	consumers []Consumer
	opts      Options
	queues    *nodeQueues

	looking sync.Mutex // one look of the watcher at a time

	mu       sync.Mutex
	result   Result
	failures []error // of splits that were given up
	// stalled counts the failed attempts since the last commit, and failing
	// those of each node since its own last one. Halving alone would never end
	// where nothing can be read at all.
	stalled int
	failing map[string]int
}

// work serves splits until none is left, or returns the error that ends the run.
func (r *run) work(ctx context.Context) error {
	for {
		rd, readCtx, ok := r.queues.take(ctx)
		if !ok {
			return nil
		}
		next, err := r.serve(ctx, readCtx, rd)
		r.queues.done(rd, next...)
		if err != nil {
			return err
		}
	}
}

// serve makes one attempt at a split and says what is left to do of it. The
// attempt ends with readCtx, and the run with ctx.
func (r *run) serve(ctx, readCtx context.Context, rd *reading) (next []*task, err error) {
	r.opts.Events.SplitStarted(rd.info)
	receipt, err := r.attempt(readCtx, rd)
	if err == nil {
		err = r.commit(ctx, rd, receipt)
		r.queues.leave(rd)
		return nil, err
	}
	outrun := errors.Is(context.Cause(readCtx), errOutrun) || errors.Is(err, errOutrun)
	alone := r.queues.leave(rd)
	r.countRead(rd, false)
	if ctx.Err() != nil {
		return nil, nil // the run is ending; Run itself says why
	}
	if outrun {
		r.opts.Events.ReadOutrun(OutrunInfo{SplitInfo: rd.info, RowsDropped: receipt.Rows})
		return nil, nil
	}
	return r.recover(ctx, rd.task, alone, FailureInfo{SplitInfo: rd.info, Err: err, RowsDropped: receipt.Rows})
}

// countRead counts a read that has ended.
func (r *run) countRead(rd *reading, won bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Attempts++
	if rd.info.Second {
		r.result.SecondReads++
		if won {
			r.result.SecondReadsWon++
		}
	}
}

// preferring gives the split with node first among its replicas.
func preferring(s tokenrange.Split, node string) tokenrange.Split {
	i := slices.Index(s.Replicas, node)
	if i > 0 {
		s.Replicas = slices.Concat(s.Replicas[i:i+1], s.Replicas[:i], s.Replicas[i+1:])
	}
	return s
}

// attempt reads a split once into fresh parts and commits them. On an error,
// the receipt's rows are those that were dropped.
func (r *run) attempt(ctx context.Context, rd *reading) (receipt Receipt, err error) {
	info := rd.info
	parts, err := r.begin(ctx, info.Split)
	if err != nil {
		return receipt, err
	}
	defer func() {
		if err != nil {
			for _, p := range parts {
				p.Abort()
			}
		}
	}()

	receipt = Receipt{Split: info.Split.ID, Range: info.Split.Range, Started: time.Now().UTC()}
	stats, err := r.source.Read(ctx, info.Split, r.opts.Columns, func(rec arrow.Record) error {
		for _, p := range parts {
			if err := p.Write(ctx, rec); err != nil {
				return &consumerError{err}
			}
		}
		receipt.Rows += rec.NumRows()
		r.opts.Events.RecordRead(RecordInfo{Split: info.Split.ID, Rows: rec.NumRows()})
		return nil
	})
	if err != nil {
		return receipt, err
	}
	receipt.describe(stats)
	receipt.Ended = time.Now().UTC()
	reads, ok := r.queues.claim(rd)
	if !ok {
		return receipt, errOutrun
	}
	receipt.Attempts = reads
	for len(parts) > 0 {
		if err := parts[0].Commit(ctx); err != nil {
			return receipt, &consumerError{fmt.Errorf("commit split %s: %w", info.Split.ID, err)}
		}
		committed := parts[0]
		parts = parts[1:]
		if err := receipt.addFiles(committed, r.opts.Dir); err != nil {
			return receipt, &consumerError{err}
		}
	}
	receipt.Digest = receipt.digest()
	return receipt, nil
}

func (r *run) begin(ctx context.Context, split tokenrange.Split) ([]Part, error) {
	parts := make([]Part, 0, len(r.consumers))
	for _, c := range r.consumers {
		p, err := c.Begin(ctx, split)
		if err != nil {
			for _, p := range parts {
				p.Abort()
			}
			return nil, &consumerError{fmt.Errorf("begin split %s: %w", split.ID, err)}
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// commit records a split whose parts are all committed.
func (r *run) commit(ctx context.Context, rd *reading, receipt Receipt) error {
	receipt.Largest = r.amongLargest(receipt.Largest)
	if err := r.opts.Ledger.Commit(ctx, receipt); err != nil {
		return fmt.Errorf("record split %s: %w", receipt.Split, err)
	}
	r.mu.Lock()
	r.result.Rows += receipt.Rows
	r.result.Bytes += receipt.Bytes
	r.result.Pages += receipt.Pages
	r.result.Receipts = append(r.result.Receipts, receipt)
	r.result.Largest.add(receipt.Largest)
	r.stalled, r.failing[rd.info.Node] = 0, 0
	if rd.task.blamed != "" {
		r.failing[rd.task.blamed] = 0 // it was the range, not the node
	}
	r.mu.Unlock()
	r.countRead(rd, true)
	r.queues.committed(rd)
	r.opts.Events.SplitCommitted(receipt)
	return nil
}

// amongLargest leaves, of a split's largest partitions, those that are among
// the largest of what has been recorded so far.
func (r *run) amongLargest(partitions []Partition) []Partition {
	r.mu.Lock()
	defer r.mu.Unlock()
	so := Largest{slices.Clone(r.result.Largest.ByRows), slices.Clone(r.result.Largest.ByBytes)}
	return so.add(partitions)
}

// proveCoverage compares the receipts with what was asked, exactly.
func (r *run) proveCoverage(plan tokenrange.Plan, stopped error) error {
	pieces := make([]tokenrange.Range, len(r.result.Receipts))
	for i, rec := range r.result.Receipts {
		pieces[i] = rec.Range
	}
	asked := tokenrange.NewIntervalSet(plan.Asked...)
	tiling := tokenrange.CheckTiling(asked, pieces)
	if tiling == nil && stopped == nil {
		return nil
	}
	missing := asked.Minus(tokenrange.NewIntervalSet(pieces...)).Ranges()
	if len(missing) == 0 {
		// Covered, yet stopped or overlapping: not a matter of more reading.
		return errors.Join(tiling, stopped)
	}
	return &IncompleteError{Missing: missing, Poisoned: r.result.Poisoned, Causes: errors.Join(append(r.failures, stopped)...)}
}
