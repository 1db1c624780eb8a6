package queries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/queries/internal/partial"
)

// Sink takes the rows of a result table, at most 65,536 at a time, in their order. For a table ByDay all rows are of that day, nil for
// NULL, and days ascend, NULL first; records of different tables may alternate. For any other table day is nil. The record is valid
// during the call unless retained. An error ends Finish, which returns it.
type Sink func(table string, day *arrow.Date32, rec arrow.Record) error

// Finish merges the parts of the given splits, which have to be in token order and of which each has been committed, and hands the
// result to sink, from the calling goroutine. It leaves the part files as they are, so it may be repeated.
//
// The error wraps [ErrOverflow] if a result does not fit its type, [ErrCorrupt] and [ErrOtherQuery] for a part file that is not what it
// should be, and fs.ErrNotExist for one that is missing.
func (a *Aggregation) Finish(ctx context.Context, splits []string, sink Sink) error {
	if err := a.finish(ctx, splits, sink); err != nil {
		return fmt.Errorf("finish %s: %w", a.query.name, err)
	}
	return nil
}

func (a *Aggregation) finish(ctx context.Context, splits []string, sink Sink) (err error) {
	paths, err := a.check(splits)
	if err != nil {
		return err
	}
	out, err := a.query.result(a, newResultWriter(a.query, sink))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.release()) }()
	add := func(key, state []byte) error { return out.add(ctx, key, state) }
	if a.query.order == partial.ByToken {
		err = concatenate(ctx, paths, add)
	} else {
		c := combiner{query: a.query}
		err = a.merger(int(a.options.Memory), c.combine).Merge(ctx, paths, add)
	}
	if err != nil {
		return err
	}
	return out.end(ctx)
}

// result takes the groups of a query in the order of their keys, or of tokens.
type result interface {
	add(ctx context.Context, key, state []byte) error
	end(ctx context.Context) error
	release() error
}

// check returns the paths of the parts, each of which is there and of this query.
func (a *Aggregation) check(splits []string) ([]string, error) {
	paths := make([]string, len(splits))
	for i, split := range splits {
		paths[i] = a.partPath(split)
		r, err := partial.Open(paths[i])
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", split, err)
		}
		if err := r.Close(); err != nil {
			return nil, fmt.Errorf("part %s: %w", split, err)
		}
		if r.Query != a.query.text || r.Order != a.query.order || r.Split != split {
			return nil, fmt.Errorf("part %s: %w", split, ErrOtherQuery)
		}
	}
	if sorted := slices.Sorted(slices.Values(splits)); len(slices.Compact(sorted)) < len(splits) {
		return nil, errors.New("a split is named twice")
	}
	return paths, nil
}

// concatenate calls emit for the entries of one file after the other.
func concatenate(ctx context.Context, paths []string, emit partial.Emit) error {
	for _, path := range paths {
		if err := each(ctx, path, emit); err != nil {
			return err
		}
	}
	return nil
}

// each calls emit for the entries of a file.
func each(ctx context.Context, path string, emit partial.Emit) (err error) {
	r, err := partial.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch err := r.Next(); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
		if err := emit(r.Key(), r.State()); err != nil {
			return err
		}
	}
}
