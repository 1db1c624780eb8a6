package trainset

import (
	"context"
	"fmt"

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

// newDecider makes the sampling of the accepted images.
func (b *Builder) newDecider(pins *Pins) (*sampling.Decider, error) {
	s := b.plan.spec
	opts := sampling.Options{
		Salt: s.Salt, Dedupe: !s.NoDedupe, Fraction: s.Fraction, Limit: s.Limit, Balance: len(s.Balance) > 0, Splits: s.Splits,
		Connect: s.NoDedupe && len(s.Splits) > 1, Dir: b.opts.Dir, Memory: b.opts.Memory,
	}
	for _, c := range s.Caps {
		opts.Caps = append(opts.Caps, c.N)
	}
	if pins != nil {
		opts.Pins = pins.Groups
	}
	return sampling.New(opts)
}

// Decide deduplicates, samples and splits the accepted images.
func (b *Builder) Decide(ctx context.Context) error {
	decider := b.decider
	b.decider = nil // it is of no use afterwards
	var err error
	if b.decisions, err = decider.Decide(ctx); err != nil {
		return err
	}
	b.count(b.decisions.Counts)
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

// deciding hands accepted rows to the sampling.
type deciding struct {
	plan    *Plan
	decider *sampling.Decider
	rows    uint64

	id            []byte
	name, group   []byte
	balance, hash []byte
	texts, values [][]byte // of the key at hand
	row           sampling.Row
}

// appendOrdinal appends the number of an accepted row, by which the sampling knows it: the first is 0. In 6 bytes, which is enough for
// all that a disk holds.
func appendOrdinal(dst []byte, n uint64) []byte {
	return append(dst, byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// add takes the cells of the next row.
func (d *deciding) add(cells [][]byte, pinned bool) (err error) {
	d.id = appendOrdinal(d.id[:0], d.rows)
	d.rows++
	p, r := d.plan, &d.row
	if d.name, err = p.nameOf(d.name[:0], cells[idCell]); err != nil {
		return err
	}
	r.ID, r.Name, r.ContentHash, r.HasTime, r.Pinned = d.id, d.name, nil, false, pinned
	if p.hash != nil {
		if d.hash, _, err = p.hash.text(d.hash[:0], cells); err != nil {
			return err
		}
		r.ContentHash = d.hash
	}
	if p.time != nil && cells[p.time.cell] != nil {
		if r.Time, err = millisOf(cells[p.time.cell]); err != nil {
			return err
		}
		r.HasTime = true
	}
	if d.group, err = d.groupKey(d.group[:0], cells); err != nil {
		return err
	}
	r.Group = d.group
	if d.balance, _, err = d.valuesKey(d.balance[:0], p.balance, cells); err != nil {
		return err
	}
	r.Balance = d.balance
	for i := range p.caps {
		if i == len(r.Strata) {
			r.Strata = append(r.Strata, nil)
		}
		if r.Strata[i], _, err = d.valuesKey(r.Strata[i][:0], p.caps[i:i+1], cells); err != nil {
			return err
		}
	}
	if err := d.decider.Add(*r); err != nil {
		return fmt.Errorf("image %s: %w", d.name, err)
	}
	return nil
}

// groupKey appends the key of the row's group.
func (d *deciding) groupKey(dst []byte, cells [][]byte) ([]byte, error) {
	key, ok, err := d.valuesKey(dst, d.plan.groupBy, cells)
	if err != nil || ok {
		return key, err
	}
	return sampling.SingleKey(dst, d.name), nil
}

// valuesKey appends the key of some values; ok is false where all are NULL.
func (d *deciding) valuesKey(dst []byte, from []accessor, cells [][]byte) (_ []byte, ok bool, err error) {
	d.values = d.values[:0]
	for i, a := range from {
		if i == len(d.texts) {
			d.texts = append(d.texts, []byte{}) // an empty text is not nil, which stands for NULL
		}
		var known bool
		if d.texts[i], known, err = a.text(d.texts[i][:0], cells); err != nil {
			return dst, false, err
		}
		var value []byte
		if known {
			value = d.texts[i]
		}
		d.values = append(d.values, value)
	}
	dst, ok = sampling.GroupKey(dst, d.values...)
	return dst, ok, nil
}
