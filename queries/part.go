package queries

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/queries/internal/partial"
	"manifest/queries/internal/vector"
)

// Part gathers the rows of one split in one attempt. It belongs to one goroutine.
//
// Groups are kept in memory up to the part's share, and leave in one of two ways. In general a group may get rows until the split ends,
// so groups that leave do so as a sorted run of states that Commit merges. If groups lie within a partition, those of the partitions that
// have ended leave with final states, at a boundary between partitions; only the groups of a partition that does not fit in memory leave
// before it ends, as runs that are merged when it does.
type Part struct {
	store // one set per grouping

	aggregation *Aggregation
	split       string
	machine     *vector.Machine

	tally *tally   // of a query that has rows counted, as long as that pays
	runs  []string // sorted, of states or of final states, for Commit to merge
	out   *outFile // ByToken: the file of the part, once it has an entry
	ended bool

	// Of a query whose groups lie within a partition; else boundaries is nil.
	boundaries *boundaries
	starts     []int    // first groups of the partitions that have begun since sets[0] was empty, but for the first of them
	divided    []string // runs of states of the partition that is open

	combiner combiner
}

// Write adds the rows of a record, which has the columns of [Query.Columns] and may have others. It does not retain rec.
func (p *Part) Write(ctx context.Context, rec arrow.Record) error {
	if err := p.write(ctx, rec); err != nil {
		return fmt.Errorf("aggregate %s: %w", p.aggregation.query.name, err)
	}
	return nil
}

func (p *Part) write(ctx context.Context, rec arrow.Record) error {
	if err := p.machine.Bind(rec); err != nil {
		return err
	}
	rows := int(rec.NumRows())
	for lo := 0; lo < rows; lo += vector.BlockRows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hi := min(rows, lo+vector.BlockRows)
		if p.tally != nil {
			if err := p.count(lo, hi); err != nil {
				return err
			}
			continue
		}
		if err := p.machine.Run(lo, hi); err != nil {
			return err
		}
		add := p.addAnywhere
		if p.boundaries != nil {
			add = p.addByPartition
		}
		if err := add(ctx, hi-lo); err != nil {
			return err
		}
	}
	return nil
}

// addAnywhere adds the n rows of a block to groups that may get rows until the split ends.
func (p *Part) addAnywhere(_ context.Context, n int) error {
	for i := range p.sets {
		if err := p.sets[i].add(0, n); err != nil {
			return err
		}
	}
	return p.bound()
}

// bound spills groups that take more memory than they may.
func (p *Part) bound() error {
	if p.measure(); p.memory <= p.aggregation.share() {
		return nil
	}
	return p.spill(&p.runs, p.aggregation.share())
}

// Commit writes the part to the directory of the Aggregation, in place of an earlier part of the split. When it returns nil, the part is
// on the disk under its name.
func (p *Part) Commit(ctx context.Context) error {
	err := p.commit(ctx)
	p.Abort()
	if err != nil {
		return fmt.Errorf("aggregate %s: commit part %s: %w", p.aggregation.query.name, p.split, err)
	}
	return nil
}

func (p *Part) commit(ctx context.Context) error {
	if p.ended {
		return errors.New("the part has ended")
	}
	if p.tally != nil {
		if err := p.drain(); err != nil {
			return err
		}
	}
	final := p.boundaries != nil
	if len(p.runs)+len(p.divided) > 0 || p.aggregation.query.order == partial.ByToken {
		// What is still in memory joins what is not.
		var err error
		if final {
			err = p.endPartitions(ctx)
		} else {
			err = p.spill(&p.runs, p.aggregation.share())
		}
		if err != nil {
			return err
		}
	}
	if err := p.openOut(); err != nil {
		return err
	}
	if len(p.runs) > 0 {
		if err := p.aggregation.merger(p.aggregation.share(), p.combiner.combine).Merge(ctx, p.runs, p.out.Add); err != nil {
			return err
		}
	} else if err := p.sorted(final, p.out.Add); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return p.out.publish(p.aggregation.partPath(p.split))
}

// Files calls add with the path, the size and the XXH3 hash of 128 bits (in hexadecimal) of the file of a committed part.
func (p *Part) Files(add func(path string, bytes int64, digest string)) {
	sum := p.out.hash.Sum128()
	add(p.aggregation.partPath(p.split), p.out.size, fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo))
}

// Abort throws away what was gathered and removes temporary files. It does nothing after Commit.
func (p *Part) Abort() {
	if p.ended {
		return
	}
	p.ended = true
	p.aggregation.open.Add(-1)
	if p.out != nil {
		p.out.discard()
	}
	if err := p.removeRuns(); err != nil {
		p.options.Logger.Warn("temporary files are left", "query", p.aggregation.query.name, "split", p.split, "err", err)
	}
	p.sets, p.machine, p.tally = nil, nil, nil
}

// openOut creates the file that becomes the part.
func (p *Part) openOut() error {
	if p.out != nil {
		return nil
	}
	q := p.aggregation.query
	var err error
	p.out, err = createOut(p.aggregation.options.Dir, p.split, partial.Header{Order: q.order, Query: q.text, Split: p.split})
	return err
}
