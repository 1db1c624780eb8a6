package partial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Combine returns one state for several states of a key. Its result is valid until it is called again.
type Combine func(key []byte, states [][]byte) ([]byte, error)

// Emit takes an entry, which is valid during the call.
type Emit func(key, state []byte) error

// Merger merges files ByKey.
type Merger struct {
	// TempDir takes the intermediate files of merges in several passes.
	TempDir string
	// FanIn is the most files that are open at a time, at least 2.
	FanIn int
	// Query is that of the files.
	Query string
	// Combine is called for keys that are in more than one file.
	Combine Combine
}

// Merge calls emit for every key of the files at paths, in ascending order, once each. The order of paths is of no consequence. It stops
// at the first error, and when ctx is done.
func (m Merger) Merge(ctx context.Context, paths []string, emit Emit) (err error) {
	if len(paths) <= m.FanIn {
		return m.merge(ctx, paths, emit)
	}
	dir, err := os.MkdirTemp(m.TempDir, "merge-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for pass := 0; len(paths) > m.FanIn; pass++ {
		var merged []string
		for some := range slices.Chunk(paths, m.FanIn) {
			path, err := m.toFile(ctx, dir, some)
			if err != nil {
				return err
			}
			merged = append(merged, path)
			if pass == 0 {
				continue
			}
			for _, path := range some { // To need no more space than for two copies of the entries.
				if err := os.Remove(path); err != nil {
					return err
				}
			}
		}
		paths = merged
	}
	return m.merge(ctx, paths, emit)
}

// toFile merges files into a new one in dir and returns its path.
func (m Merger) toFile(ctx context.Context, dir string, paths []string) (path string, err error) {
	file, err := os.CreateTemp(dir, "pass-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w, err := NewWriter(file, Header{Order: ByKey, Query: m.Query})
	if err != nil {
		return "", err
	}
	if err := m.merge(ctx, paths, w.Add); err != nil {
		return "", err
	}
	return file.Name(), w.Close()
}

// merge merges files that can all be open.
func (m Merger) merge(ctx context.Context, paths []string, emit Emit) (err error) {
	var heap readerHeap
	var open []*Reader
	defer func() {
		for _, r := range open {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, path := range paths {
		r, err := Open(path)
		if err != nil {
			return err
		}
		open = append(open, r)
		if r.Order != ByKey || r.Query != m.Query {
			return fmt.Errorf("read %s: %w", path, ErrOtherQuery)
		}
		if err := heap.pushNext(r); err != nil {
			return err
		}
	}
	var same []*Reader
	var states [][]byte
	for n := 0; len(heap) > 0; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		same, states = same[:0], states[:0]
		for len(heap) > 0 && (len(same) == 0 || bytes.Equal(heap[0].Key(), same[0].Key())) {
			r := heap.pop()
			same, states = append(same, r), append(states, r.State())
		}
		key, state := same[0].Key(), states[0]
		if len(states) > 1 {
			if state, err = m.Combine(key, states); err != nil {
				return err
			}
		}
		if err := emit(key, state); err != nil {
			return err
		}
		for _, r := range same {
			if err := heap.pushNext(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// readerHeap is a binary heap of readers by the key of their entry.
type readerHeap []*Reader

// pushNext takes r to its next entry and, unless there is none, adds it.
func (h *readerHeap) pushNext(r *Reader) error {
	if err := r.Next(); err == io.EOF {
		return nil
	} else if err != nil {
		return err
	}
	*h = append(*h, r)
	s := *h
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if bytes.Compare(s[parent].key, s[i].key) <= 0 {
			break
		}
		s[parent], s[i] = s[i], s[parent]
		i = parent
	}
	return nil
}

// pop removes the reader with the least key.
func (h *readerHeap) pop() *Reader {
	s := *h
	top, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	*h = s
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(s) {
			return top
		}
		if child+1 < len(s) && bytes.Compare(s[child+1].key, s[child].key) < 0 {
			child++
		}
		if bytes.Compare(s[i].key, s[child].key) <= 0 {
			return top
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
}
