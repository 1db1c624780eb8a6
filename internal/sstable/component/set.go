package component

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"manifest/internal/sstable/fault"
)

// maxTOC is the most that a list of components can measure: a table with a
// thousand indexes.
const maxTOC = 1 << 20

// Set is one SSTable's files.
type Set struct {
	Descriptor
	storage Storage
	listed  map[string]bool // in TOC.txt
}

// Find lists the SSTables of a folder, ordered by their names. Files that are
// not of SSTables are left alone.
//
// It errs with fault.ErrUnsupported where one is of a version that is not read
// here, or where the folder belongs to a running server, whose files come and
// go; and with fault.ErrMissing where a file that its TOC.txt lists is not
// there.
func Find(ctx context.Context, s Storage) ([]*Set, error) {
	sets, errs := FindEach(ctx, s)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return sets, nil
}

// FindEach is as Find, and gives the SSTables whose files are there together with
// an error for each of the others.
func FindEach(ctx context.Context, s Storage) ([]*Set, []error) {
	names, err := s.Names(ctx)
	if err != nil {
		return nil, []error{err}
	}
	found := map[Descriptor]map[string]bool{}
	var errs []error
	for _, name := range names {
		if reason := sign(name); reason != "" {
			errs = append(errs, fault.Unsupportedf(s.Path(name), "%s", reason))
			continue
		}
		d, component, err := ParseFileName(name)
		switch {
		case errors.Is(err, fault.ErrUnsupported):
			errs = append(errs, err)
		case err != nil && strings.HasSuffix(name, ".db"):
			errs = append(errs, fault.Unsupportedf(s.Path(name), "%w", err))
		case err != nil:
		default:
			if found[d] == nil {
				found[d] = map[string]bool{}
			}
			found[d][component] = true
		}
	}
	var sets []*Set
	for d, present := range found {
		set, err := newSet(ctx, s, d, present)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sets = append(sets, set)
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	slices.SortFunc(sets, func(a, b *Set) int { return cmp.Compare(a.String(), b.String()) })
	return sets, errs
}

// sign says what a file's name tells against the whole folder.
func sign(name string) string {
	switch {
	case strings.HasSuffix(name, ".tmp"):
		return "a file is being written: this is a running server's folder"
	case strings.HasSuffix(name, ".log") && strings.Contains(name, "_txn_"):
		return "a compaction is running: this is a running server's folder"
	case strings.HasSuffix(name, "-Scylla.db"):
		return "written by ScyllaDB"
	}
	return ""
}

// newSet checks that the files of one SSTable are there.
func newSet(ctx context.Context, s Storage, d Descriptor, present map[string]bool) (*Set, error) {
	set := &Set{Descriptor: d, storage: s, listed: map[string]bool{}}
	if !present[TOC] {
		return nil, fault.Missing(set.Path(TOC))
	}
	toc, err := set.Read(ctx, TOC, maxTOC)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(toc)) {
		if name := strings.TrimSpace(line); name != "" {
			set.listed[name] = true
		}
	}
	needed := []string{Data, Statistics}
	for name := range set.listed {
		if !secondaryIndex(name) {
			needed = append(needed, name)
		}
	}
	slices.Sort(needed)
	for _, name := range needed {
		if !present[name] {
			return nil, fault.Missing(set.Path(name))
		}
		if !set.listed[name] {
			return nil, fault.Corruptf(set.Path(TOC), -1, "%s is not listed", name)
		}
	}
	if present[CompressionInfo] && !set.Has(CompressionInfo) {
		return nil, fault.Corruptf(set.Path(TOC), -1, "%s is there and not listed", CompressionInfo)
	}
	return set, nil
}

// secondaryIndex tells the components of indexes, which backups leave out.
func secondaryIndex(name string) bool {
	return strings.HasPrefix(name, "SAI") || strings.HasPrefix(name, "SI_")
}

// Has tells whether the SSTable has a component: whether TOC.txt lists it.
func (s *Set) Has(component string) bool { return s.listed[component] }

// Path names the file of a component for people.
func (s *Set) Path(component string) string { return s.storage.Path(s.FileName(component)) }

// Open opens the file of a component.
func (s *Set) Open(ctx context.Context, component string) (File, error) {
	f, err := s.storage.Open(ctx, s.FileName(component))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Missing(s.Path(component))
	}
	return f, err
}

// Read reads the file of a component, which must not be larger than limit.
func (s *Set) Read(ctx context.Context, component string, limit int64) ([]byte, error) {
	f, err := s.Open(ctx, component)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFile(f, s.Path(component), limit)
}
