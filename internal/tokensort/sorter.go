package tokensort

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Options of a Sorter. The zero value is good.
type Options struct {
	// Dir takes the runs, in a directory of the sorter's own. Default the system's directory for temporary files.
	Dir string
	// Memory is about how many bytes of rows are held before they are spilled. Default 64 MiB.
	Memory int64
	// FanIn is the most runs that are open at a time. Each takes some 400 KiB. Default 64.
	FanIn int
}

func (o Options) withDefaults() Options {
	o.Memory = cmp.Or(o.Memory, 64<<20)
	o.FanIn = cmp.Or(o.FanIn, 64)
	return o
}

// Validate reports all settings that make no sense, joined.
func (o Options) Validate() error {
	var errs []error
	if o.Memory < 0 {
		errs = append(errs, fmt.Errorf("memory of %d bytes is negative", o.Memory))
	}
	if o.FanIn < 0 || o.FanIn == 1 {
		errs = append(errs, fmt.Errorf("runs are merged %d at a time, but two are the least", o.FanIn))
	}
	return errors.Join(errs...)
}

// Sorter sorts rows. It belongs to one goroutine, until it is sorted: then any number of streams may be read at a time. It starts no
// goroutine, and makes no file before rows outgrow the memory.
type Sorter struct {
	opts   Options
	held   held
	total  int64
	dir    string // of the runs; empty while there are none
	runs   []string
	kept   int // first runs, which are not the sorter's to remove
	made   int // runs that were made, for their names
	sorted bool
}

// NewSorter makes a sorter. Close removes what it leaves on the disk.
func NewSorter(opts Options) (*Sorter, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("sort options: %w", err)
	}
	return &Sorter{opts: opts.withDefaults()}, nil
}

// Add takes a row. Key and value are copied.
func (s *Sorter) Add(key, value []byte) error {
	if s.sorted {
		return errors.New("add a row to what is sorted already")
	}
	size := len(key) + len(value)
	if size > maxRow {
		return fmt.Errorf("sort a row of %d bytes: too large", size)
	}
	if len(s.held.rows) > 0 && (s.held.memory()+int64(size)+heldBytes > s.opts.Memory || !s.held.fits(size)) {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.held.add(key, value)
	s.total++
	return nil
}

// Rows is the number of rows added.
func (s *Sorter) Rows() int64 { return s.total }

// spill writes the rows held as a run.
func (s *Sorter) spill() error {
	s.held.sort()
	path, err := s.writeRun(func(w *Writer) error {
		for _, r := range s.held.rows {
			if err := w.Add(s.held.key(r), s.held.value(r)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("spill %d rows: %w", len(s.held.rows), err)
	}
	s.runs = append(s.runs, path)
	s.held.clear()
	return nil
}

// writeRun makes a file of what fill adds.
func (s *Sorter) writeRun(fill func(*Writer) error) (path string, err error) {
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp(s.opts.Dir, "sort-*"); err != nil {
			return "", diskError(s.opts.Dir, err)
		}
	}
	path = filepath.Join(s.dir, fmt.Sprintf("run-%06d", s.made))
	s.made++
	return path, WriteRun(path, fill)
}

// Sort ends the adding of rows. When it returns, streams can be opened.
func (s *Sorter) Sort(ctx context.Context) error {
	if s.sorted {
		return nil
	}
	s.sorted = true
	if len(s.runs) == 0 {
		s.held.sort()
		s.held.spare = nil
		return nil
	}
	if len(s.held.rows) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.held = held{} // the merge needs the memory
	for len(s.runs) > s.opts.FanIn {
		if err := s.pass(ctx); err != nil {
			return fmt.Errorf("merge %d runs: %w", len(s.runs), err)
		}
	}
	return nil
}

// pass merges neighbours, which keeps equal keys in their order.
func (s *Sorter) pass(ctx context.Context) error {
	var merged []string
	kept := s.kept
	s.kept = 0
	for some := range slices.Chunk(s.runs, s.opts.FanIn) {
		in, err := openAll(some)
		if err != nil {
			return err
		}
		path, err := s.writeRun(func(w *Writer) error { return Each(ctx, in, w.Add) })
		if err != nil {
			return err
		}
		merged = append(merged, path)
		theirs := min(kept, len(some))
		kept -= theirs
		for _, p := range some[theirs:] {
			if err := os.Remove(p); err != nil {
				return err
			}
		}
	}
	s.runs = merged
	return nil
}

// openAll opens runs and merges them.
func openAll(paths []string) (Stream, error) {
	if len(paths) == 0 {
		return Empty(), nil
	}
	var streams []Stream
	for _, p := range paths {
		r, err := Open(p)
		if err != nil {
			for _, open := range streams {
				err = errors.Join(err, open.Close())
			}
			return nil, err
		}
		streams = append(streams, r)
	}
	return Merge(streams...), nil
}

// Open gives all rows in order, from the first, as often as it is called.
func (s *Sorter) Open() (Stream, error) {
	if !s.sorted {
		return nil, errors.New("open rows that are not sorted yet")
	}
	if len(s.runs) == 0 {
		return &heldStream{held: &s.held, at: -1}, nil
	}
	return openAll(s.runs)
}

// Unsorted gives all rows in no order that means anything, instead of Sort and Open: for whoever finds out that none is needed.
func (s *Sorter) Unsorted(ctx context.Context) (Stream, error) {
	if len(s.runs) == 0 && !s.sorted {
		s.sorted = true
		return &heldStream{held: &s.held, at: -1}, nil
	}
	if err := s.Sort(ctx); err != nil {
		return nil, err
	}
	return s.Open()
}

// Close removes all files. Streams are to be closed before: memory of their rows is used again.
func (s *Sorter) Close() error {
	s.held.clear()
	s.held, s.runs = held{}, nil
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// heldStream reads rows that were never spilled.
type heldStream struct {
	held *held
	at   int
}

func (h *heldStream) Next() error {
	h.at++
	if h.at >= len(h.held.rows) {
		h.at = len(h.held.rows)
		return io.EOF
	}
	return nil
}

func (h *heldStream) repeats() bool {
	a, b := h.held.rows[h.at-1], h.held.rows[h.at]
	return a.prefix == b.prefix && bytes.Equal(h.held.key(a), h.held.key(b))
}

func (h *heldStream) valueBefore() []byte { return h.held.value(h.held.rows[h.at-1]) }

func (h *heldStream) Key() []byte   { return h.held.key(h.held.rows[h.at]) }
func (h *heldStream) Value() []byte { return h.held.value(h.held.rows[h.at]) }
func (h *heldStream) Close() error  { return nil }
