package queries

import (
	"context"
	"fmt"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/partial"
)

// flushGroups is how many groups of ended partitions are let out at a time in token order: so many that a flush costs little per group,
// so few that the table stays in the processor's cache.
const flushGroups = 4096

// addByPartition adds the n rows of a block to groups that lie within a partition.
func (p *Part) addByPartition(ctx context.Context, n int) error {
	s := &p.sets[0]
	lo, begins := 0, p.boundaries.find(n)
	if len(begins) > 0 && p.shouldFlush() {
		// All groups there will be up to the first boundary are of partitions that have ended.
		lo, begins = begins[0], begins[1:]
		if err := s.add(0, lo); err != nil {
			return err
		}
		if err := p.endPartitions(ctx); err != nil {
			return err
		}
	}
	if err := s.add(lo, n); err != nil {
		return err
	}
	for _, row := range begins {
		start := s.groups.ID(row)
		if start <= p.openStart() {
			// Its group is not a new one.
			return fmt.Errorf("group %s: %w", p.aggregation.query.groupName(s.groups.Key(start)), ErrDivided)
		}
		p.starts = append(p.starts, start)
	}
	if p.measure(); p.memory <= p.aggregation.share() {
		return nil
	}
	return p.divide()
}

// shouldFlush reports whether the groups of ended partitions are to leave at the next boundary.
func (p *Part) shouldFlush() bool {
	tokenOrder := p.aggregation.query.order == partial.ByToken
	return len(p.divided) > 0 || p.memory > p.aggregation.share()/2 || tokenOrder && p.sets[0].groups.Len() >= flushGroups
}

// openStart is the first group of the partition that is open.
func (p *Part) openStart() int {
	if len(p.starts) == 0 {
		return 0
	}
	return p.starts[len(p.starts)-1]
}

// divide empties the sets in the middle of a partition: the ended ones leave, and the states of the open one go into a run of their own.
func (p *Part) divide() error {
	s := &p.sets[0]
	open := p.openStart()
	if open > 0 {
		p.starts = p.starts[:len(p.starts)-1]
		if err := p.emitFinal(open); err != nil {
			return err
		}
	}
	path, err := p.writeRun(open, s.groups.Len(), false)
	if err != nil {
		return err
	}
	p.divided = append(p.divided, path)
	p.starts = p.starts[:0]
	p.forget(p.aggregation.share())
	return nil
}

// endPartitions lets out all groups, whose partitions have all ended.
func (p *Part) endPartitions(ctx context.Context) error {
	n := p.sets[0].groups.Len()
	if len(p.divided) == 0 {
		if n == 0 {
			return nil
		}
		if err := p.emitFinal(n); err != nil {
			return err
		}
		p.starts = p.starts[:0]
		p.forget(p.aggregation.share())
		return nil
	}
	if n > 0 {
		if err := p.divide(); err != nil {
			return err
		}
	}
	divided := p.divided
	p.divided = nil
	return p.emitDivided(ctx, divided)
}

// emitFinal lets out the first n groups.
func (p *Part) emitFinal(n int) error {
	if p.aggregation.query.order == partial.ByKey {
		path, err := p.writeRun(0, n, true)
		if err != nil {
			return err
		}
		p.runs = append(p.runs, path)
		return nil
	}
	if err := p.openOut(); err != nil {
		return err
	}
	lo := 0
	for _, hi := range append(p.starts, n) {
		if err := p.sortedRange(lo, hi, true, p.out.Add); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// emitDivided lets out the groups of a partition whose states are in several runs.
func (p *Part) emitDivided(ctx context.Context, runs []string) error {
	q := p.aggregation.query
	states, err := accumulate.NewStates(q.groupings[0].states)
	if err != nil {
		return err
	}
	finalize := func(add partial.Emit) partial.Emit {
		return func(key, state []byte) error {
			states.Reset()
			states.Grow(1)
			if err := states.Merge(0, state); err != nil {
				return q.stateError(key, err)
			}
			p.state = states.AppendState(p.state[:0], 0, true)
			return add(key, p.state)
		}
	}
	merger := p.aggregation.merger(p.aggregation.share(), p.combiner.combine)
	if q.order == partial.ByToken {
		if err := p.openOut(); err != nil {
			return err
		}
		return merger.Merge(ctx, runs, finalize(p.out.Add))
	}
	path, err := p.run(func(w *partial.Writer) error { return merger.Merge(ctx, runs, finalize(w.Add)) })
	p.runs = append(p.runs, path)
	return err
}
