package export

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"manifest/export/internal/parquetfile"
)

// parquet joins the row groups of the parts, several files at a time.
func (a *assembly) parquet(ctx context.Context) error {
	var groups []groupRef
	for i, p := range a.parts {
		f, err := a.openParquet(i)
		if err != nil {
			return err
		}
		for g, info := range f.RowGroups() {
			groups = append(groups, groupRef{i, g, info})
		}
		if err := errors.Join(a.checkRows(p, f), f.Close()); err != nil {
			return err
		}
	}
	opts := a.dataset.opts
	files := planFiles(groups, opts.Shards, opts.ShardBytes, opts.Parquet.internal("").WithDefaults())
	a.shards = make([]shard, len(files))
	for i := range files {
		f, err := a.create(i)
		if err != nil {
			a.shards = a.shards[:i]
			return err
		}
		a.shards[i].file = f
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(opts.Parallelism)
	for i, file := range files {
		g.Go(func() error { return a.joinParquet(ctx, &a.shards[i], file) })
	}
	return g.Wait()
}

func (a *assembly) openParquet(part int) (*parquetfile.File, error) {
	f, err := parquetfile.OpenFile(a.dataset.partPath(a.parts[part].Split))
	if err != nil {
		return nil, fmt.Errorf("open part: %w", err)
	}
	return f, nil
}

func (a *assembly) checkRows(p partInfo, f *parquetfile.File) error {
	if f.Rows() != p.Rows {
		return fmt.Errorf("part of split %s has %d rows, not %d: %w", p.Split, f.Rows(), p.Rows, ErrPart)
	}
	return nil
}

func (a *assembly) joinParquet(ctx context.Context, s *shard, groups [][]rowRun) error {
	j, err := parquetfile.NewJoiner(s.file, a.dataset.Schema(), a.dataset.opts.Parquet.internal(a.dataset.opts.WorkDir))
	if err != nil {
		return err
	}
	for _, group := range groups {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, j.Discard())
		}
		if err := a.joinGroup(ctx, j, group); err != nil {
			return errors.Join(err, j.Discard())
		}
	}
	info, err := j.Close()
	if err != nil {
		return err
	}
	s.rows = info.Rows
	return s.file.finish()
}

// joinGroup makes one row group: by copying where it is one, whole; by encoding
// its runs again otherwise.
func (a *assembly) joinGroup(ctx context.Context, j *parquetfile.Joiner, runs []rowRun) (err error) {
	var open []*parquetfile.File
	defer func() {
		for _, f := range open {
			err = errors.Join(err, f.Close())
		}
	}()
	var slices []parquetfile.Slice
	for i, r := range runs {
		if i == 0 || r.part != runs[i-1].part {
			f, err := a.openParquet(r.part)
			if err != nil {
				return err
			}
			open = append(open, f)
		}
		slices = append(slices, parquetfile.Slice{File: open[len(open)-1], RowGroup: r.group, From: r.from, To: r.to})
	}
	if len(runs) == 1 && runs[0].whole() {
		return j.Copy(slices[0].File, slices[0].RowGroup)
	}
	return j.Pack(ctx, slices...)
}
