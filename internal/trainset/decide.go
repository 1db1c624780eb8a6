package trainset

import (
	"context"

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

// sampler chooses among the accepted images: it deduplicates, samples and splits them, hands on those that are kept, and rejects those
// that were decided against. What it has on the disk is removed at the end.
type sampler interface {
	sample(ctx context.Context, accepted acceptedRows, add addFinal) error
}

// acceptedRows hands the accepted images to take, in the order of their keys. It is called once.
type acceptedRows func(take func(acceptedRow) error) error

// addFinal takes an image of the dataset, as appendFinal writes it. Those of a split come together, and in the order of the files.
type addFinal func(split int, final []byte) error

// newSampler makes the sampling of the accepted images.
func (b *Builder) newSampler(pins *Pins) (sampler, error) {
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
	if b.plan.bySample && opts.AtOnce() {
		return b.newAtOnce(opts)
	}
	return b.newTogether(opts)
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
