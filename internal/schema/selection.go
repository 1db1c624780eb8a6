package schema

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/cqltype"
)

// ErrNoColumn is wrapped by every error about a column that a table lacks.
var ErrNoColumn = errors.New("no such column")

// ColumnError names what cannot be selected.
type ColumnError struct {
	Table  string
	Column string
	Reason error
	// Known are the columns that the table has.
	Known []string
}

func (e *ColumnError) Error() string {
	return fmt.Sprintf("column %q of %s: %v", e.Column, e.Table, e.Reason)
}

func (e *ColumnError) Unwrap() error { return e.Reason }

// Selected is one selected value of a row: a column, or the write time or
// remaining time to live of one.
type Selected struct {
	// Name as asked: width, writetime(width), ttl(width). It names the field
	// of the records.
	Name string
	// Column that it comes from.
	Column Column
	// Func is "", "writetime" or "ttl".
	Func string
	// Type of the value.
	Type *cqltype.Type
}

var timeFunc = regexp.MustCompile(`^(writetime|ttl)\((.*)\)$`)

// Select resolves column names, among them writetime(c) and ttl(c), and
// reports all that cannot be selected.
//
// Cassandra keeps no write time of key columns; of collections and user types
// that are not frozen it keeps one per element, which is not offered here.
func (t *Table) Select(names []string) ([]Selected, error) {
	selected := make([]Selected, 0, len(names))
	var errs []error
	for _, name := range names {
		s, err := t.selectOne(name)
		if err != nil {
			errs = append(errs, &ColumnError{Table: t.String(), Column: name, Reason: err, Known: t.Names()})
			continue
		}
		selected = append(selected, s)
	}
	return selected, errors.Join(errs...)
}

func (t *Table) selectOne(name string) (Selected, error) {
	if c, ok := t.Column(name); ok {
		return Selected{Name: name, Column: c, Type: c.Type}, nil
	}
	m := timeFunc.FindStringSubmatch(name)
	if m == nil {
		return Selected{}, ErrNoColumn
	}
	c, ok := t.Column(m[2])
	switch {
	case !ok:
		return Selected{}, ErrNoColumn
	case c.Kind == PartitionKey || c.Kind == Clustering:
		return Selected{}, fmt.Errorf("a key column has no %s", m[1])
	case multiCell(c.Type):
		return Selected{}, fmt.Errorf("%s of %s has one %s per element", c.Name, c.Type, m[1])
	case c.Type.Kind == cqltype.Counter && m[1] == "ttl":
		return Selected{}, errors.New("a counter has no ttl")
	}
	typ := &cqltype.Type{Kind: cqltype.Bigint}
	if m[1] == "ttl" {
		typ = &cqltype.Type{Kind: cqltype.Int}
	}
	return Selected{Name: name, Column: c, Func: m[1], Type: typ}, nil
}

// Arrow gives the schema of the records that hold the selected values.
//
// A partition key of one column is never null, and neither is text or a blob in
// one of several. A number there may have been written as no bytes at all,
// which means nothing and so is null. Clustering columns are null in the one
// row that stands for a partition of which only static columns are left.
func (t *Table) Arrow(selected []Selected) (*arrow.Schema, error) {
	keys := len(t.OfKind(PartitionKey))
	fields := make([]arrow.Field, len(selected))
	var errs []error
	for i, s := range selected {
		f, err := s.Type.Field(s.Name, nullable(s, keys))
		if err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", s.Name, err))
			continue
		}
		fields[i] = f
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return arrow.NewSchema(fields, nil), nil
}

// nullable tells whether a selected value may be null, in a table with that
// many columns in its partition key.
func nullable(s Selected, partitionKeys int) bool {
	if s.Column.Kind != PartitionKey {
		return true
	}
	switch s.Type.Kind {
	case cqltype.Text, cqltype.Ascii, cqltype.Blob:
		return false
	default:
		return partitionKeys > 1
	}
}

// multiCell tells whether each element of a value is a cell of its own.
func multiCell(t *cqltype.Type) bool {
	switch t.Kind {
	case cqltype.List, cqltype.Set, cqltype.Map, cqltype.UDT:
		return !t.Frozen
	default:
		return false
	}
}
