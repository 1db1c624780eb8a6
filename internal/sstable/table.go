package sstable

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"manifest/internal/schema"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/data"
	"manifest/internal/sstable/merge"
	"manifest/internal/sstable/order"
	"manifest/tokenrange"
)

// Table is a table with all its SSTables. It may be scanned by many goroutines.
type Table struct {
	schema      Schema
	readers     []*Reader
	bindings    []*binding
	partitioner tokenrange.Partitioner
	comparators data.Comparators

	// static and regular are the columns that merge, as no one wants them yet.
	static, regular []merge.Column
}

// OpenTable opens all SSTables of a table that are in some folders: of one
// node's data directories, of several nodes, of a snapshot and the backups that
// followed it. The same SSTable more than once does no harm.
func OpenTable(ctx context.Context, s Schema, folders ...component.Storage) (*Table, error) {
	var readers []*Reader
	for _, f := range folders {
		more, err := OpenAll(ctx, f)
		if err != nil {
			return nil, errors.Join(err, CloseAll(readers))
		}
		readers = append(readers, more...)
	}
	t, err := NewTable(s, readers)
	if err != nil {
		return nil, errors.Join(err, CloseAll(readers))
	}
	return t, nil
}

// NewTable makes a table of open SSTables, which are the table's from then on.
// It errs with ErrSchema and names every SSTable that does not fit.
func NewTable(s Schema, readers []*Reader) (*Table, error) {
	t := &Table{schema: s, readers: readers, partitioner: tokenrange.Murmur3}
	var errs []error
	for i, r := range readers {
		if i == 0 {
			t.partitioner = r.partitioner
		} else if r.partitioner != t.partitioner {
			errs = append(errs, fmt.Errorf("%w: %s is of %s, %s of %s", ErrPartitioner, readers[0].Path(), t.partitioner.Name(), r.Path(), r.partitioner.Name()))
		}
		b, err := bind(r, s)
		if err != nil {
			errs = append(errs, err)
		}
		t.bindings = append(t.bindings, b)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, c := range s.Table.OfKind(schema.Clustering) {
		compare := order.Of(c.Type)
		if c.Descending {
			compare = order.Reverse(compare)
		}
		t.comparators = append(t.comparators, compare)
	}
	t.static, t.regular = mergeColumns(s.Table.OfKind(schema.Static)), mergeColumns(s.Table.OfKind(schema.Regular))
	return t, nil
}

// Close closes the SSTables. No scan may be running.
func (t *Table) Close() error { return CloseAll(t.readers) }

// Schema is what the table was opened with.
func (t *Table) Schema() Schema { return t.schema }

// Readers are the SSTables.
func (t *Table) Readers() []*Reader { return t.readers }

// Partitioner computed the tokens; Murmur3 where there is no SSTable to tell.
func (t *Table) Partitioner() tokenrange.Partitioner { return t.partitioner }

// Fingerprint tells the table's SSTables from others: their names, sizes and
// checksums, in whatever folders they are, and what they are read within.
func (t *Table) Fingerprint(ctx context.Context) (string, error) {
	var marks []string
	for _, r := range t.readers {
		mark, err := r.Fingerprint(ctx)
		if err != nil {
			return "", err
		}
		if tokens, ok := r.Restricted(); ok {
			mark += fmt.Sprint(" within ", tokens.Ranges())
		}
		marks = append(marks, mark)
	}
	slices.Sort(marks)
	sum := sha256.Sum256([]byte(strings.Join(marks, "\n")))
	return fmt.Sprintf("%d SSTables, sha256 %x", len(marks), sum), nil
}
