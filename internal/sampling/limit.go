package sampling

import (
	"context"
	"errors"

	"manifest/internal/tokensort"
)

// limiting keeps the rows of smallest sample hash.
//
//	rows      sample hash, name -> item
type limiting struct {
	limit int64
	rows  *tokensort.Sorter
	next  func(item) error

	key, value []byte
}

// limit adds a stage, and gives the function that takes its items.
func (d *Decider) limit(n int64, next func(item) error) (func(item) error, error) {
	rows, err := d.newSorter()
	if err != nil {
		return nil, err
	}
	l := &limiting{limit: n, rows: rows, next: next}
	d.finish = append(d.finish, l.finish)
	return l.add, nil
}

func (l *limiting) add(it item) error {
	l.key = append(appendHash(l.key[:0], it.hash), it.name...)
	l.value = it.append(l.value[:0])
	return l.rows.Add(l.key, l.value)
}

func (l *limiting) finish(ctx context.Context) error {
	in, err := l.open(ctx)
	if err != nil {
		return err
	}
	probability := caps{each: l.limit}.probability(l.rows.Rows())
	left := l.limit
	var it item
	err = tokensort.Each(ctx, in, func(_, value []byte) error {
		if left == 0 {
			return nil
		}
		left--
		if err := it.parse(value); err != nil {
			return err
		}
		it.weight /= probability
		return l.next(it)
	})
	return errors.Join(err, l.rows.Close())
}

// open gives the rows by their hashes, unless all of them stay.
func (l *limiting) open(ctx context.Context) (tokensort.Stream, error) {
	if l.rows.Rows() <= l.limit {
		return l.rows.Unsorted(ctx)
	}
	if err := l.rows.Sort(ctx); err != nil {
		return nil, err
	}
	return l.rows.Open()
}
