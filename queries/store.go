package queries

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"manifest/queries/internal/groups"
	"manifest/queries/internal/partial"
	"manifest/queries/internal/vector"
)

// entry is a group about to be written, with the start of its key, which settles most comparisons.
type entry struct {
	prefix [2]uint64
	set    uint32
	group  uint32
}

const entryBytes = 24

// store is groups in memory that can be written to files, sorted.
type store struct {
	options Options
	query   string // text of the query, for the headers of files
	name    string // for the log and the names of temporary files

	sets    []set
	memory  int    // of the sets when they were measured last
	tempDir string // of runs, "" if there are none
	entries []entry
	state   []byte
}

// set is the groups of a grouping, with the vectors of their keys and of the arguments of their aggregates.
type set struct {
	groups    *groups.Groups
	keys      []*vector.Vector
	arguments []*vector.Vector
}

func (s *set) add(lo, hi int) error { return s.groups.Add(s.keys, s.arguments, lo, hi) }

// measure updates the memory that the groups take.
func (s *store) measure() {
	s.memory = 0
	for i := range s.sets {
		s.memory += s.sets[i].groups.Size() + entryBytes*s.sets[i].groups.Len()
	}
}

// forget empties the sets. Together they keep about as much memory as the groups may take at a time.
func (s *store) forget(share int) {
	for i := range s.sets {
		s.sets[i].groups.Reset(2 * share / len(s.sets))
	}
	s.measure()
}

// removeRuns removes all files.
func (s *store) removeRuns() error {
	if s.tempDir == "" {
		return nil
	}
	dir := s.tempDir
	s.tempDir = ""
	return os.RemoveAll(dir)
}

// sorted emits all groups by their keys.
func (s *store) sorted(final bool, emit partial.Emit) error {
	s.entries = s.entries[:0]
	for i := range s.sets {
		s.addEntries(i, 0, s.sets[i].groups.Len())
	}
	return s.emitEntries(final, emit)
}

// sortedRange emits groups lo to hi of the only set by their keys.
func (s *store) sortedRange(lo, hi int, final bool, emit partial.Emit) error {
	s.entries = s.entries[:0]
	s.addEntries(0, lo, hi)
	return s.emitEntries(final, emit)
}

func (s *store) addEntries(set, lo, hi int) {
	s.entries = slices.Grow(s.entries, hi-lo)
	for g := lo; g < hi; g++ {
		var prefix [16]byte
		copy(prefix[:], s.sets[set].groups.Key(g))
		words := [2]uint64{binary.BigEndian.Uint64(prefix[:]), binary.BigEndian.Uint64(prefix[8:])}
		s.entries = append(s.entries, entry{words, uint32(set), uint32(g)})
	}
}

func (s *store) key(e entry) []byte { return s.sets[e.set].groups.Key(int(e.group)) }

func (s *store) emitEntries(final bool, emit partial.Emit) error {
	slices.SortFunc(s.entries, func(a, b entry) int {
		if a.prefix[0] != b.prefix[0] {
			return cmp.Compare(a.prefix[0], b.prefix[0])
		}
		if a.prefix[1] != b.prefix[1] {
			return cmp.Compare(a.prefix[1], b.prefix[1])
		}
		return bytes.Compare(s.key(a), s.key(b))
	})
	for _, e := range s.entries {
		s.state = s.sets[e.set].groups.AppendState(s.state[:0], int(e.group), final)
		if err := emit(s.key(e), s.state); err != nil {
			return err
		}
	}
	return nil
}

// spill moves the states of all groups to a new run, whose path it appends to runs; share is as in forget.
func (s *store) spill(runs *[]string, share int) error {
	path, err := s.run(func(w *partial.Writer) error { return s.sorted(false, w.Add) })
	if err != nil {
		return err
	}
	*runs = append(*runs, path)
	s.forget(share)
	return nil
}

// writeRun writes groups lo to hi of the only set to a new run.
func (s *store) writeRun(lo, hi int, final bool) (path string, err error) {
	return s.run(func(w *partial.Writer) error { return s.sortedRange(lo, hi, final, w.Add) })
}

// run makes a file of sorted entries and returns its path.
func (s *store) run(write func(*partial.Writer) error) (path string, err error) {
	if s.tempDir == "" {
		if s.tempDir, err = os.MkdirTemp(s.options.TempDir, "spill-"+s.name+"-*"); err != nil {
			return "", err
		}
	}
	file, err := os.CreateTemp(s.tempDir, "run-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w, err := partial.NewWriter(file, partial.Header{Order: partial.ByKey, Query: s.query})
	if err != nil {
		return "", fmt.Errorf("write %s: %w", file.Name(), err)
	}
	if err := write(w); err != nil {
		return "", err
	}
	s.options.Logger.Debug("groups spilled", "of", s.name, "bytes", s.memory)
	return file.Name(), w.Close()
}
