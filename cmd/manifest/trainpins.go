package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"manifest/export"
	"manifest/internal/sampling"
	"manifest/internal/tokensort"
	"manifest/internal/trainset"
)

// pins reads the splits of an older manifest; nil if none is to be kept.
func (t *training) pins(ctx context.Context, work string) (_ *trainset.Pins, err error) {
	dir := t.options.train.pinFrom
	if dir == "" {
		return nil, nil
	}
	m, err := export.ReadManifest(dir)
	if err != nil {
		return nil, usageError{fmt.Errorf("--pin-from: %w", err)}
	}
	if m.Training == nil {
		return nil, usagef("--pin-from: %s is no training manifest", dir)
	}
	if !slices.Equal(m.Training.GroupBy, t.spec.GroupBy) {
		return nil, usagef("--pin-from: the groups of %s are by %q, not by %q", dir, m.Training.GroupBy, t.spec.GroupBy)
	}
	t.pinned = m.RunID
	opts := tokensort.Options{Dir: work, Memory: int64(t.options.train.memory) / 8}
	pins := &trainset.Pins{}
	if pins.Groups, err = sampling.NewPins(t.spec.Splits, opts); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, pins.Groups.Close())
		}
	}()
	if pins.Images, err = tokensort.NewSorter(opts); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, pins.Images.Close())
		}
	}()
	partitioner := partitionerOf(t.reads[0].pass.input.plan)
	for _, f := range m.Files {
		err := export.ReadRows(ctx, dir, f, m.Format, []string{"image_id", "group_id", "split"}, func(row []export.Value) error {
			group, err := strconv.ParseInt(row[1].Text, 10, 64)
			if err != nil {
				return fmt.Errorf("%s: group %q: %w", f.Path, row[1].Text, err)
			}
			if err := pins.Groups.Add(group, row[2].Text); err != nil {
				return err
			}
			key, err := t.plan.ImageKey(nil, partitioner, row[0].Text)
			if err != nil {
				return err
			}
			return pins.Images.Add(key, nil)
		})
		if err != nil {
			return nil, usageError{fmt.Errorf("--pin-from %s: %w", dir, err)}
		}
	}
	return pins, pins.Images.Sort(ctx)
}
