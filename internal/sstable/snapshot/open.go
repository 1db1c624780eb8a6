package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"manifest/internal/sstable"
	"manifest/internal/sstable/fault"
)

// OpenOptions say how to open a table.
type OpenOptions struct {
	// Schema is CQL that defines the table; "" looks for it in the trees.
	Schema string
	// Without are paths of Data.db to leave out.
	Without []string
	// Skip is asked about each SSTable that is damaged or lacks a file, whether to
	// leave it out. nil leaves none out.
	Skip func(err error) bool
}

// Opened is an open table of a catalog.
type Opened struct {
	*sstable.Table
	// Nodes are those whose the SSTables are, in the order of Readers, as Folder.Node.
	Nodes []string
}

// Open opens a table of the catalog. Of SSTables that are there twice, in a
// snapshot and in the backups of the same node, one is opened.
func (c *Catalog) Open(ctx context.Context, table Table, opts OpenOptions) (*Opened, error) {
	var readers []*sstable.Reader
	var nodes []string
	fail := func(err error) (*Opened, error) {
		return nil, errors.Join(err, sstable.CloseAll(readers))
	}
	seen := map[string]bool{}
	for _, f := range table.Folders {
		more, errs := sstable.OpenEach(ctx, f.storage())
		errs = append(errs, f.checkManifest(ctx, more)...)
		errs = slices.DeleteFunc(errs, func(err error) bool { return opts.Skip != nil && skippable(err) && opts.Skip(err) })
		if len(errs) > 0 {
			return fail(errors.Join(append(errs, sstable.CloseAll(more))...))
		}
		for i, r := range more {
			mark, err := r.Fingerprint(ctx)
			if err != nil {
				return fail(errors.Join(err, sstable.CloseAll(more[i:])))
			}
			mark = f.Node + " " + mark
			if seen[mark] || slices.Contains(opts.Without, r.Path()) {
				if err := r.Close(); err != nil {
					return fail(errors.Join(err, sstable.CloseAll(more[i+1:])))
				}
			} else {
				readers, nodes = append(readers, r), append(nodes, f.Node)
			}
			seen[mark] = true
		}
	}
	s, err := c.schema(ctx, table, opts.Schema, readers)
	if err != nil {
		return fail(err)
	}
	opened, err := sstable.NewTable(s, readers)
	if err != nil {
		return fail(err)
	}
	return &Opened{opened, nodes}, nil
}

// skippable tells whether an error is of one SSTable that is damaged. One that is
// not understood is not: it may be sound, and leaving it out by itself would be
// to pretend that it is empty.
func skippable(err error) bool {
	return errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrMissing) || errors.Is(err, ErrIncomplete)
}

// manifest is a snapshot's manifest.json.
type manifest struct {
	Files   []string  `json:"files"`
	Created time.Time `json:"created_at"` // since 4.1
}

func (f Folder) manifest(ctx context.Context) (m manifest, err error) {
	if !f.Manifest {
		return m, nil
	}
	text, err := f.read(ctx, "manifest.json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &m)
	}
	if err != nil {
		return m, fmt.Errorf("%s: manifest.json: %w", f.Name(), err)
	}
	return m, nil
}

// checkManifest compares a snapshot's manifest.json with its SSTables.
func (f Folder) checkManifest(ctx context.Context, readers []*sstable.Reader) []error {
	m, err := f.manifest(ctx)
	if err != nil {
		return []error{err}
	}
	var errs []error
	for _, name := range m.Files {
		if strings.Contains(name, "/") || !strings.HasSuffix(name, "-Data.db") {
			continue // of an index, or a file that TOC.txt lists
		}
		if !slices.ContainsFunc(readers, func(r *sstable.Reader) bool { return path.Base(r.Path()) == name }) {
			errs = append(errs, fmt.Errorf("%s: %w: it has no %s", f.Name(), ErrIncomplete, name))
		}
	}
	return errs
}

// OpenEach opens the folder's SSTables, which can be looked at without a schema,
// and gives an error for each that can't be.
func (f Folder) OpenEach(ctx context.Context) ([]*sstable.Reader, []error) {
	readers, errs := sstable.OpenEach(ctx, f.storage())
	return readers, append(errs, f.checkManifest(ctx, readers)...)
}
