package tokensort

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Part sorts the rows of a split, which become a run when they are committed. It is used by one goroutine.
type Part struct {
	path, split string
	sorter      *Sorter
	size        int64
	digest      string
}

// NewPart begins the part of a split, whose run is kept in the directory of opts. Exactly one of the part's Commit and Abort must be called.
func NewPart(opts Options, split string) (*Part, error) {
	s, err := NewSorter(opts)
	return &Part{path: partPath(opts.Dir, split), split: split, sorter: s}, err
}

// partPath is the place of the run of a split.
func partPath(dir, split string) string { return filepath.Join(dir, split+".run") }

// MergeParts gives the rows of committed splits in order; dir keeps their runs. The caller closes the result.
func MergeParts(ctx context.Context, dir string, opts Options, splits []string) (*Sorter, error) {
	var paths []string
	for _, s := range splits {
		paths = append(paths, partPath(dir, s))
	}
	s, err := MergeRuns(opts, paths)
	if err != nil {
		return nil, err
	}
	if err := s.Sort(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Add takes a row, whose bytes are copied.
func (p *Part) Add(key, value []byte) error { return p.sorter.Add(key, value) }

// Commit makes the run last, in place of an earlier one.
func (p *Part) Commit(ctx context.Context) error { return errors.Join(p.commit(ctx), p.sorter.Close()) }

// Abort removes what was added.
func (p *Part) Abort() { _ = p.sorter.Close() }

func (p *Part) commit(ctx context.Context) error {
	if err := p.sorter.Sort(ctx); err != nil {
		return err
	}
	in, err := p.sorter.Open()
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(p.path), "."+filepath.Base(p.path)+".tmp")
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(err, in.Close())
	}
	if p.size, p.digest, err = writeFile(temp, true, func(w *Writer) error { return Each(ctx, in, w.Add) }); err != nil {
		return err
	}
	if err := os.Rename(temp, p.path); err != nil {
		return fmt.Errorf("commit part of split %s: %w", p.split, err)
	}
	return nil
}

// Files calls add with the run of a committed part.
func (p *Part) Files(add func(path string, bytes int64, digest string)) {
	add(p.path, p.size, p.digest)
}
