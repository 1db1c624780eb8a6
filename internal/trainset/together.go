package trainset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"manifest/internal/sampling"
	"manifest/internal/tokensort"
)

// together decides about images when all of them are known. The sampling knows them by their numbers in the order of their keys; their
// rows wait in a run.
type together struct {
	builder   *Builder
	accepted  string // run: image -> joined row
	decider   *sampling.Decider
	decisions *sampling.Decisions
}

func (b *Builder) newTogether(opts sampling.Options) (sampler, error) {
	decider, err := sampling.New(opts)
	return &together{builder: b, accepted: filepath.Join(b.opts.Dir, "accepted.run"), decider: decider}, err
}

func (t *together) sample(ctx context.Context, accepted acceptedRows, add addFinal) (err error) {
	kept, err := newFinalRows(t.builder.plan, t.builder.sorting())
	if err != nil {
		return errors.Join(err, t.decider.Close())
	}
	defer func() { err = errors.Join(err, kept.sorter.Close()) }()
	if err := t.decide(ctx, accepted, kept); err != nil {
		return err
	}
	return kept.each(ctx, add)
}

// decide keeps those that are wanted.
func (t *together) decide(ctx context.Context, accepted acceptedRows, kept *finalRows) (err error) {
	defer func() { err = errors.Join(err, t.decider.Close(), removeIfThere(t.accepted)) }()
	if err := t.takeAll(accepted); err != nil {
		return err
	}
	if t.decisions, err = t.decider.Decide(ctx); err != nil {
		return err
	}
	t.builder.count(t.decisions.Counts)
	err = t.each(ctx, func(key, row, decision []byte) error {
		d, err := sampling.ParseDecision(decision)
		if err != nil {
			return err
		}
		switch d.Outcome {
		case sampling.Duplicate:
			return t.builder.reject(key, row, ReasonDuplicate, d.Of)
		case sampling.PinnedApart:
			return t.builder.reject(key, row, ReasonPinnedApart, nil)
		}
		return kept.add(key, row, d, decision)
	})
	return errors.Join(err, t.decisions.Close())
}

func (t *together) takeAll(accepted acceptedRows) error {
	if err := removeIfThere(t.accepted); err != nil { // of a process that ended
		return err
	}
	row := samplingRow{plan: t.builder.plan}
	var number []byte
	n := uint64(0)
	return tokensort.WriteRun(t.accepted, func(w *tokensort.Writer) error {
		return accepted(func(r acceptedRow) error {
			if err := w.Add(r.key, r.row); err != nil {
				return err
			}
			of, err := row.of(r)
			if err != nil {
				return err
			}
			number = appendNumber(number[:0], n)
			n++
			of.ID = number
			if err := t.decider.Add(of); err != nil {
				return fmt.Errorf("image %s: %w", of.Name, err)
			}
			return nil
		})
	})
}

// appendNumber appends the number of an accepted image: the first is 0. In 6 bytes, which is enough for all that a disk holds.
func appendNumber(dst []byte, n uint64) []byte {
	return append(dst, byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// each calls f for the accepted images about which there is a decision.
func (t *together) each(ctx context.Context, f func(key, row, decision []byte) error) (err error) {
	decisions, err := t.decisions.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, decisions.Close()) }()
	rows, err := tokensort.Open(t.accepted)
	if err != nil {
		return err
	}
	var number []byte
	n := uint64(0)
	next := decisions.Next()
	err = tokensort.Each(ctx, rows, func(key, row []byte) error {
		if next != nil { // no more decisions, or an error
			return nil
		}
		number = appendNumber(number[:0], n)
		n++
		if !bytes.Equal(number, decisions.Key()) {
			return nil
		}
		err := f(key, row, decisions.Value())
		next = decisions.Next()
		return err
	})
	if err == nil && !errors.Is(next, io.EOF) {
		err = cmp.Or(next, fmt.Errorf("%w: a decision about nothing", ErrInput))
	}
	return err
}
