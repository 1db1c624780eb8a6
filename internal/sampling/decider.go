package sampling

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"manifest/internal/tokensort"
)

// Decider takes rows and decides about all of them. It belongs to one goroutine.
type Decider struct {
	opts      Options
	splitter  splitter
	content   *content         // nil where content makes no difference
	sampled   func(item) error // takes what content left
	finish    []func(context.Context) error
	decisions *tokensort.Sorter
	sorters   []*tokensort.Sorter
	counts    Counts
	buf       []byte
}

// New makes a decider. Either Decide or Close is to be called.
func New(opts Options) (*Decider, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	d := &Decider{opts: opts.withDefaults(), splitter: newSplitter(opts.Salt, opts.Splits)}
	d.counts.Kept = make([]int64, max(1, len(opts.Splits)))
	if err := d.build(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// build puts the stages together, from the last to the first: each hands on what it keeps to the one behind it, at once or when it is
// finished.
func (d *Decider) build() error {
	var err error
	if d.decisions, err = d.newSorter(); err != nil {
		return err
	}
	next := func(it item) error { return d.assign(it, it.group) }
	connect := d.opts.Connect && !d.opts.Dedupe
	var edges *tokensort.Sorter
	if connect {
		if edges, err = d.newSorter(); err != nil {
			return err
		}
	}
	if connect || d.opts.Pins != nil {
		u := &units{decider: d, edges: edges, pins: d.opts.Pins}
		if u.items, err = d.newSorter(); err != nil {
			return err
		}
		next = u.add
		d.finish = append(d.finish, u.finish)
	}
	var stages []StageCount
	counted := func(stage string, next func(item) error) func(item) error {
		stages = append(stages, StageCount{Stage: stage})
		at := len(stages) // from the end, because stages are put together from the last
		return func(it item) error {
			d.counts.Stages[len(d.counts.Stages)-at].Rows++
			return next(it)
		}
	}
	if d.opts.Limit > 0 {
		next = counted("limit", next)
		if d.opts.Balance {
			next, err = d.thin(func(it item) []byte { return it.balance }, equalCaps(d.opts.Limit), next)
		} else {
			next, err = d.limit(d.opts.Limit, next)
		}
		if err != nil {
			return err
		}
	}
	for i, limit := range slices.Backward(d.opts.Caps) {
		if limit == 0 {
			continue
		}
		stratum := func(it item) []byte { return it.strata[i] }
		if next, err = d.thin(stratum, fixedCap(limit), counted(fmt.Sprintf("max-per %d", i+1), next)); err != nil {
			return err
		}
	}
	if d.opts.Fraction.IsSet() {
		next = keepFraction(newFraction(d.opts.Fraction), counted("fraction", next))
	}
	slices.Reverse(stages)
	d.counts.Stages = stages
	d.sampled = next
	if d.opts.Dedupe || connect {
		d.content = &content{decider: d, edges: edges}
		if d.content.rows, err = d.newSorter(); err != nil {
			return err
		}
		d.finish = append(d.finish, d.content.finish)
	}
	slices.Reverse(d.finish)
	return nil
}

// newSorter makes a sorter that Close closes.
func (d *Decider) newSorter() (*tokensort.Sorter, error) {
	s, err := tokensort.NewSorter(d.opts.sorting())
	if err == nil {
		d.sorters = append(d.sorters, s)
	}
	return s, err
}

// Add takes a row.
func (d *Decider) Add(r Row) error {
	if len(r.ID) == 0 {
		return fmt.Errorf("%w: nothing orders it", ErrRow)
	}
	if err := d.opts.check(r); err != nil {
		return err
	}
	d.counts.Rows++
	it := newItem(d.opts.Salt, r)
	if len(r.ContentHash) == 0 {
		d.counts.NoHash++
	} else if d.content != nil {
		return d.content.add(it, r)
	}
	return d.sampled(it)
}

// Decide gives the decisions about all rows that were added. The decider is of no use afterwards.
func (d *Decider) Decide(ctx context.Context) (*Decisions, error) {
	for _, finish := range d.finish {
		if err := finish(ctx); err != nil {
			return nil, fmt.Errorf("sample: %w", errors.Join(err, d.Close()))
		}
	}
	if err := d.decisions.Sort(ctx); err != nil {
		return nil, fmt.Errorf("sample: %w", errors.Join(err, d.Close()))
	}
	d.sorters = slices.DeleteFunc(d.sorters, func(s *tokensort.Sorter) bool { return s == d.decisions })
	if err := d.Close(); err != nil {
		return nil, errors.Join(err, d.decisions.Close())
	}
	return &Decisions{Counts: d.counts, sorter: d.decisions}, nil
}

// Close removes what is on the disk.
func (d *Decider) Close() error {
	var errs []error
	for _, s := range d.sorters {
		errs = append(errs, s.Close())
	}
	d.sorters = nil
	return errors.Join(errs...)
}

// assign puts a row into the split of its unit.
func (d *Decider) assign(it item, unit int64) error {
	return d.assignTo(it, d.splitter.of(unit))
}

func (d *Decider) assignTo(it item, split int) error {
	d.counts.Kept[split]++
	return d.decide(it, Decision{Split: split, Weight: float32(it.weight), Duplicates: it.duplicates})
}

// decide records what becomes of a row.
func (d *Decider) decide(it item, decision Decision) error {
	decision.Group, decision.SampleHash = it.group, it.hash
	d.buf = decision.Append(d.buf[:0])
	return d.decisions.Add(it.id, d.buf)
}

// eachItem calls f for the items of a sorted stage; they are valid during the call.
func eachItem(ctx context.Context, s *tokensort.Sorter, f func(key []byte, it item) error) error {
	if err := s.Sort(ctx); err != nil {
		return err
	}
	in, err := s.Open()
	if err != nil {
		return err
	}
	var it item
	return tokensort.Each(ctx, in, func(key, value []byte) error {
		if err := it.parse(value); err != nil {
			return err
		}
		return f(key, it)
	})
}
