package tokensort

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
)

// Stream gives rows in order. Next goes to the first or the next row, and returns io.EOF behind the last one; Key and Value are those of
// the row, valid until Next. A stream belongs to one goroutine, and its owner closes it.
type Stream interface {
	Next() error
	Key() []byte
	Value() []byte
	Close() error
}

// Merge gives the rows of several streams in order; of equal keys, those of an earlier stream come first. Closing it closes them all.
func Merge(streams ...Stream) Stream {
	if len(streams) == 1 {
		return streams[0]
	}
	return &merged{streams: streams}
}

// merged is a heap of the streams that have a row.
type merged struct {
	streams []Stream
	heap    []mergeEntry
	begun   bool
}

type mergeEntry struct {
	Stream
	prefix uint64 // of its key
	order  int
}

func (m *merged) Len() int      { return len(m.heap) }
func (m *merged) Swap(i, j int) { m.heap[i], m.heap[j] = m.heap[j], m.heap[i] }
func (m *merged) Push(any)      {}
func (m *merged) Pop() any      { m.heap = m.heap[:len(m.heap)-1]; return nil }

func (m *merged) Less(i, j int) bool {
	x, y := &m.heap[i], &m.heap[j]
	if x.prefix != y.prefix {
		return x.prefix < y.prefix
	}
	if c := bytes.Compare(x.Key(), y.Key()); c != 0 {
		return c < 0
	}
	return x.order < y.order
}

func (m *merged) Next() error {
	if !m.begun {
		m.begun = true
		for i, s := range m.streams {
			if err := s.Next(); err == nil {
				m.heap = append(m.heap, mergeEntry{s, sortPrefix(s.Key()), i})
			} else if !errors.Is(err, io.EOF) {
				return err
			}
		}
		heap.Init(m)
	} else if len(m.heap) > 0 {
		if err := m.heap[0].Next(); err == nil {
			m.heap[0].prefix = sortPrefix(m.heap[0].Key())
			heap.Fix(m, 0)
		} else if !errors.Is(err, io.EOF) {
			return err
		} else {
			heap.Remove(m, 0)
		}
	}
	if len(m.heap) == 0 {
		return io.EOF
	}
	return nil
}

func (m *merged) Key() []byte   { return m.heap[0].Key() }
func (m *merged) Value() []byte { return m.heap[0].Value() }

func (m *merged) Close() error {
	var errs []error
	for _, s := range m.streams {
		errs = append(errs, s.Close())
	}
	m.heap = nil
	return errors.Join(errs...)
}

// Concat gives the rows of several runs one after the other. Keys of a run are not below those of the runs before it, as in the runs of
// the splits of a table in the order of their tokens; others are an error that wraps [ErrOrder]. One file is open at a time.
func Concat(paths ...string) Stream { return &concatenated{paths: paths} }

type concatenated struct {
	paths []string
	run   *Reader
	last  []byte // key of the last row of the runs before
}

func (c *concatenated) Next() error {
	for {
		if c.run == nil {
			if len(c.paths) == 0 {
				return io.EOF
			}
			run, err := Open(c.paths[0])
			if err != nil {
				return err
			}
			c.run, c.paths = run, c.paths[1:]
		}
		err := c.run.Next()
		if err == nil {
			if c.last != nil {
				if bytes.Compare(c.run.Key(), c.last) < 0 {
					return fmt.Errorf("read %s behind the run before it: %w", c.run.file.Name(), ErrOrder)
				}
				c.last = nil
			}
			return nil
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		if c.run.rows > 0 {
			c.last = bytes.Clone(c.run.Key())
		}
		if err := c.run.Close(); err != nil {
			return err
		}
		c.run = nil
	}
}

func (c *concatenated) Key() []byte   { return c.run.Key() }
func (c *concatenated) Value() []byte { return c.run.Value() }

func (c *concatenated) Close() error {
	if c.run == nil {
		return nil
	}
	run := c.run
	c.run, c.paths = nil, nil
	return run.Close()
}

// Repeats goes through a stream, and tells of each row whether its key is that of the row before. Rows that a Sorter holds in memory are
// looked at only where that is so: they lie there in no order, and a look at each would cost more than their sorting.
type Repeats struct {
	in         Stream
	held       *heldStream // the same; nil if it is another
	key, value []byte      // of the row before, where the stream does not hold it
	begun      bool
}

// NewRepeats takes a stream that nobody has read from, and whose owner closes it.
func NewRepeats(in Stream) *Repeats {
	held, _ := in.(*heldStream)
	return &Repeats{in: in, held: held}
}

// Next goes to the next row. It returns io.EOF behind the last one.
func (r *Repeats) Next() (repeats bool, err error) {
	if r.begun && r.held == nil {
		r.key, r.value = append(r.key[:0], r.in.Key()...), append(r.value[:0], r.in.Value()...)
	}
	if err := r.in.Next(); err != nil || !r.begun {
		r.begun = true
		return false, err
	}
	if r.held != nil {
		return r.held.repeats(), nil
	}
	return bytes.Equal(r.key, r.in.Key()), nil
}

// Key, Value and ValueBefore are those of the row, and the value of the row before it, valid until Next.
func (r *Repeats) Key() []byte   { return r.in.Key() }
func (r *Repeats) Value() []byte { return r.in.Value() }
func (r *Repeats) ValueBefore() []byte {
	if r.held != nil {
		return r.held.valueBefore()
	}
	return r.value
}

// Empty is a stream without rows.
func Empty() Stream { return Concat() }

// Each calls f for each row of a stream, and closes it. It stops at the first error, and when ctx is done.
func Each(ctx context.Context, s Stream, f func(key, value []byte) error) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.Next(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := f(s.Key(), s.Value()); err != nil {
			return err
		}
	}
}
