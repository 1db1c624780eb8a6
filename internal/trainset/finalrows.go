package trainset

import (
	"context"
	"encoding/binary"
	"fmt"

	"manifest/internal/rowform"
	"manifest/internal/sampling"
	"manifest/internal/tokensort"
)

// finalRows puts the kept images in order.
//
//	key: number of the split, capture time (ByTime; those without last), sample hash, image
//	value: decision, joined row
type finalRows struct {
	plan   *Plan
	sorter *tokensort.Sorter

	key, value []byte
	cells      [][]byte
}

func newFinalRows(p *Plan, opts tokensort.Options) (*finalRows, error) {
	sorter, err := tokensort.NewSorter(opts)
	return &finalRows{plan: p, sorter: sorter}, err
}

// add takes an image, and the decision about it, which is also there as bytes.
func (f *finalRows) add(key, row []byte, d sampling.Decision, decision []byte) (err error) {
	f.key = append(f.key[:0], byte(d.Split))
	if f.plan.spec.Order == ByTime {
		if f.cells, err = rowform.Cells(f.cells[:0], row); err != nil {
			return err
		}
		if f.key, err = appendTime(f.key, f.cells[f.plan.time.cell]); err != nil {
			return err
		}
	}
	if !f.plan.bySample { // whose keys begin with it
		f.key = binary.BigEndian.AppendUint64(f.key, uint64(d.SampleHash))
	}
	f.key = append(f.key, key...)
	f.value = appendFinal(f.value[:0], decision, row)
	return f.sorter.Add(f.key, f.value)
}

// each calls add for the images in order, which ends the adding of others.
func (f *finalRows) each(ctx context.Context, add addFinal) error {
	if err := f.sorter.Sort(ctx); err != nil {
		return fmt.Errorf("put images in order: %w", err)
	}
	in, err := f.sorter.Open()
	if err != nil {
		return err
	}
	return tokensort.Each(ctx, in, func(key, value []byte) error { return add(int(key[0]), value) })
}

// appendFinal appends an image of the dataset: the decision about it, and its joined row.
func appendFinal(dst, decision, row []byte) []byte {
	return append(rowform.AppendContent(dst, decision), row...)
}

// parseFinal reads a decision and the cells of its joined row.
func parseFinal(cells [][]byte, value []byte) (sampling.Decision, [][]byte, error) {
	decision, row, err := rowform.Take(value)
	if err != nil {
		return sampling.Decision{}, nil, err
	}
	d, err := sampling.ParseDecision(decision)
	if err != nil {
		return d, nil, err
	}
	cells, err = rowform.Cells(cells[:0], row)
	return d, cells, err
}

// appendTime appends a time so that bytes have its order, with NULL behind all.
func appendTime(dst, content []byte) ([]byte, error) {
	if content == nil {
		return append(dst, 1), nil
	}
	millis, err := millisOf(content)
	return binary.BigEndian.AppendUint64(append(dst, 0), uint64(millis)^1<<63), err
}
