package trainset

import (
	"context"
	"errors"
	"fmt"

	"manifest/internal/sampling"
)

// atOnce decides about images in the order of their sample hashes as they come: nothing is kept of those that are not wanted, and the
// others are in their final order.
type atOnce struct {
	builder *Builder
	ordered *sampling.Ordered
}

func (b *Builder) newAtOnce(opts sampling.Options) (sampler, error) {
	ordered, err := sampling.NewOrdered(opts)
	return &atOnce{b, ordered}, err
}

func (a *atOnce) sample(ctx context.Context, accepted acceptedRows, add addFinal) error {
	if a.builder.plan.HasColumn("weight") && a.builder.plan.spec.Limit > 0 {
		return a.sampleAll(ctx, accepted, add)
	}
	a.builder.weight = a.ordered.Weight()
	var final []byte
	err := accepted(a.take(func(r acceptedRow, d sampling.Decision, decision []byte) error {
		final = appendFinal(final[:0], decision, r.row)
		return add(d.Split, final)
	}))
	a.builder.count(a.ordered.Counts())
	return err
}

// sampleAll keeps the wanted images until their weight is known.
func (a *atOnce) sampleAll(ctx context.Context, accepted acceptedRows, add addFinal) (err error) {
	kept, err := newFinalRows(a.builder.plan, a.builder.sorting())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.sorter.Close()) }()
	err = accepted(a.take(func(r acceptedRow, d sampling.Decision, decision []byte) error {
		return kept.add(r.key, r.row, d, decision)
	}))
	if err != nil {
		return err
	}
	a.builder.count(a.ordered.Counts())
	a.builder.weight = a.ordered.Weight()
	return kept.each(ctx, add)
}

// take hands on the images that are kept.
func (a *atOnce) take(keep func(r acceptedRow, d sampling.Decision, decision []byte) error) func(acceptedRow) error {
	row := samplingRow{plan: a.builder.plan}
	var decision []byte
	return func(r acceptedRow) error {
		of, err := row.of(r)
		if err != nil {
			return err
		}
		d, kept, err := a.ordered.Add(of)
		if err != nil {
			return fmt.Errorf("image %s: %w", of.Name, err)
		}
		if !kept {
			return nil
		}
		decision = d.Append(decision[:0])
		return keep(r, d, decision)
	}
}
