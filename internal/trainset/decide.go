package trainset

import (
	"context"
	"errors"
	"fmt"

	"manifest/internal/rowform"
	"manifest/internal/sampling"
	"manifest/internal/tokensort"
)

// Pins are what an older manifest of the same kind decided.
type Pins struct {
	// Groups are the splits of its groups.
	Groups *sampling.Pins
	// Images are the keys of its images, sorted; see Plan.ImageKey.
	Images *tokensort.Sorter
}

// decisions are those of the sampling.
type decisions struct{ decisions *sampling.Decisions }

// Decide deduplicates, samples and splits the accepted images. pins may be nil.
func (b *Builder) Decide(ctx context.Context, pins *Pins) error {
	s := b.plan.spec
	opts := sampling.Options{
		Salt: s.Salt, Dedupe: !s.NoDedupe, Fraction: s.Fraction, Limit: s.Limit, Balance: len(s.Balance) > 0, Splits: s.Splits,
		Connect: s.NoDedupe && len(s.Splits) > 1, Dir: b.opts.Dir, Memory: b.opts.Memory,
	}
	for _, c := range s.Caps {
		opts.Caps = append(opts.Caps, c.N)
	}
	images := tokensort.Empty()
	if pins != nil {
		opts.Pins = pins.Groups
		var err error
		if images, err = pins.Images.Open(); err != nil {
			return err
		}
	}
	decider, err := sampling.New(opts)
	if err != nil {
		return errors.Join(err, images.Close())
	}
	left, err := tokensort.Open(b.accepted)
	if err != nil {
		return errors.Join(err, images.Close(), decider.Close())
	}
	d := &deciding{plan: b.plan, decider: decider, join: tokensort.NewJoin(left, nil, images)}
	if err := tokensort.Each(ctx, d.join, d.row); err != nil {
		return errors.Join(err, decider.Close())
	}
	decided, err := decider.Decide(ctx)
	if err != nil {
		return err
	}
	b.decisions.decisions = decided
	b.count(decided.Counts)
	return nil
}

func (b *Builder) count(c sampling.Counts) {
	b.counts.Unique = c.Rows - c.Duplicates
	s := b.plan.spec
	caps := 0
	for _, stage := range c.Stages {
		name := stage.Stage
		if name != "fraction" && name != "limit" {
			for s.Caps[caps].N == 0 {
				caps++
			}
			name = "max-per " + s.Caps[caps].Column
			caps++
		}
		b.counts.Sampled = append(b.counts.Sampled, Stage{name, stage.Rows})
	}
	for i, n := range c.Kept {
		b.counts.Kept += n
		b.counts.Splits = append(b.counts.Splits, Stage{b.plan.SplitNames()[i], n})
	}
}

// DefaultSplit is the name of the split where none are asked for.
const DefaultSplit = "train"

// SplitNames are the names of the splits, in order.
func (p *Plan) SplitNames() []string {
	if len(p.spec.Splits) == 0 {
		return []string{DefaultSplit}
	}
	var names []string
	for _, s := range p.spec.Splits {
		names = append(names, s.Name)
	}
	return names
}

// deciding hands rows to the sampling.
type deciding struct {
	plan    *Plan
	decider *sampling.Decider
	join    *tokensort.Join

	cells         [][]byte
	name, group   []byte
	balance, hash []byte
	row1          sampling.Row
}

func (d *deciding) row(key, value []byte) (err error) {
	if d.cells, err = rowform.Cells(d.cells[:0], value); err != nil {
		return err
	}
	p, r := d.plan, &d.row1
	if d.name, err = p.nameOf(d.name[:0], d.cells[idCell]); err != nil {
		return err
	}
	r.ID, r.Name, r.ContentHash, r.HasTime = key, d.name, nil, false
	_, r.Pinned = d.join.Right(0)
	if p.hash != nil {
		if d.hash, _, err = p.hash.text(d.hash[:0], d.cells); err != nil {
			return err
		}
		r.ContentHash = d.hash
	}
	if p.time != nil && d.cells[p.time.cell] != nil {
		if r.Time, err = millisOf(d.cells[p.time.cell]); err != nil {
			return err
		}
		r.HasTime = true
	}
	if d.group, err = d.groupKey(d.group[:0]); err != nil {
		return err
	}
	r.Group = d.group
	if d.balance, _, err = d.valuesKey(d.balance[:0], p.balance); err != nil {
		return err
	}
	r.Balance = d.balance
	r.Strata = r.Strata[:0]
	for i := range p.caps {
		stratum, _, err := d.valuesKey(nil, p.caps[i:i+1])
		if err != nil {
			return err
		}
		r.Strata = append(r.Strata, stratum)
	}
	if err := d.decider.Add(*r); err != nil {
		return fmt.Errorf("image %s: %w", d.name, err)
	}
	return nil
}

// groupKey appends the key of the row's group.
func (d *deciding) groupKey(dst []byte) ([]byte, error) {
	key, ok, err := d.valuesKey(dst, d.plan.groupBy)
	if err != nil || ok {
		return key, err
	}
	return sampling.SingleKey(dst, d.name), nil
}

// valuesKey appends the key of some values; ok is false where all are NULL.
func (d *deciding) valuesKey(dst []byte, from []accessor) (_ []byte, ok bool, err error) {
	values := make([][]byte, len(from))
	for i, a := range from {
		text, known, err := a.text(nil, d.cells)
		if err != nil {
			return dst, false, err
		}
		if known {
			if text == nil {
				text = []byte{}
			}
			values[i] = text
		}
	}
	dst, ok = sampling.GroupKey(dst, values...)
	return dst, ok, nil
}
