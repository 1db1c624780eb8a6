package trainset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"manifest/internal/tokensort"
)

// runPart is the rows of a split, which become a run when they are committed.
type runPart struct {
	path, split string
	sorter      *tokensort.Sorter
	size        int64
	digest      string
}

func newRunPart(opts GatherOptions, split string) (runPart, error) {
	s, err := tokensort.NewSorter(tokensort.Options{Dir: opts.Dir, Memory: opts.Memory})
	return runPart{path: runPath(opts.Dir, split), split: split, sorter: s}, err
}

// runPath is the place of the run of a split.
func runPath(dir, split string) string { return filepath.Join(dir, split+".run") }

// mergeParts gives the rows of committed splits in order.
func mergeParts(ctx context.Context, of GatherOptions, opts tokensort.Options, splits []string) (*tokensort.Sorter, error) {
	var paths []string
	for _, s := range splits {
		paths = append(paths, runPath(of.Dir, s))
	}
	s, err := tokensort.MergeRuns(opts, paths)
	if err != nil {
		return nil, err
	}
	if err := s.Sort(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// commit makes the run last, in place of an earlier one.
func (p *runPart) commit(ctx context.Context) error {
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
	if err := tokensort.WriteRun(temp, func(w *tokensort.Writer) error { return tokensort.Each(ctx, in, w.Add) }); err != nil {
		return err
	}
	if p.size, p.digest, err = syncAndHash(temp); err != nil {
		return err
	}
	if err := os.Rename(temp, p.path); err != nil {
		return fmt.Errorf("commit part of split %s: %w", p.split, err)
	}
	return nil
}

// syncAndHash waits for the disk, and gives size and XXH3 of 128 bits of a file that was just written.
func syncAndHash(path string) (size int64, digest string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Sync(); err != nil {
		return 0, "", err
	}
	h := xxh3.New()
	size, err = io.Copy(h, f)
	sum := h.Sum128()
	return size, fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo), err
}

// Files calls add with the run of a committed part.
func (p *runPart) Files(add func(path string, bytes int64, digest string)) {
	add(p.path, p.size, p.digest)
}
