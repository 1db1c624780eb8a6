package sstable

import (
	"fmt"
	"slices"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/sstable/data"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
	"manifest/internal/sstable/statistics"
)

// Schema is what must be known of a table beside its SSTables.
type Schema struct {
	Table *schema.Table
	// Dropped are the columns that the table once had, those that it has again
	// too.
	Dropped []DroppedColumn
}

// DroppedColumn is a column that was dropped.
type DroppedColumn struct {
	Name   string
	Static bool
	// At is the time of the drop in microseconds since 1970. What was written up
	// to then is gone.
	At int64
}

// binding is how the columns of one SSTable are those of the table.
type binding struct {
	reader *Reader
	header *statistics.Header // with frozen types as the schema has them
	// static and regular give for each of the header's columns the place of the
	// table's column among those of its kind, or -1.
	static, regular []data.Use
}

// bind finds the columns of an SSTable in the schema.
func bind(r *Reader, s Schema) (*binding, error) {
	h := *r.Header()
	b := &binding{reader: r, header: &h}
	fail := func(format string, args ...any) (*binding, error) {
		return nil, &fault.Error{File: r.Path(), Offset: -1, Err: fmt.Errorf("%w: %s: %w", ErrSchema, s.Table, fmt.Errorf(format, args...))}
	}
	key := s.Table.OfKind(schema.PartitionKey)
	if len(key) != len(h.Key) {
		return fail("the partition key has %d columns, in the SSTable %d", len(key), len(h.Key))
	}
	for i, c := range key {
		if !readableAs(h.Key[i], c.Type) {
			return fail("partition key column %q is %s, in the SSTable %s", c.Name, c.Type, h.Key[i])
		}
	}
	clustering := s.Table.OfKind(schema.Clustering)
	if len(clustering) != len(h.Clustering) {
		return fail("the clustering key has %d columns, in the SSTable %d", len(clustering), len(h.Clustering))
	}
	for i, c := range clustering {
		t := h.Clustering[i]
		if !readableAs(t.Type, frozen(c.Type)) {
			return fail("clustering column %q is %s, in the SSTable %s", c.Name, c.Type, t.Type)
		}
		if t.Descending != c.Descending {
			return fail("clustering column %q descends: %t, in the SSTable %t", c.Name, c.Descending, t.Descending)
		}
	}
	var err error
	if h.Static, b.static, err = bindColumns(h.Static, s, schema.Static); err != nil {
		return fail("%w", err)
	}
	if h.Regular, b.regular, err = bindColumns(h.Regular, s, schema.Regular); err != nil {
		return fail("%w", err)
	}
	return b, nil
}

// bindColumns finds the columns of one kind.
func bindColumns(columns []statistics.Column, s Schema, kind schema.Kind) ([]statistics.Column, []data.Use, error) {
	present := s.Table.OfKind(kind)
	columns = slices.Clone(columns)
	uses := make([]data.Use, len(columns))
	for i, c := range columns {
		use := data.Use{Ordinal: slices.IndexFunc(present, func(p schema.Column) bool { return p.Name == c.Name }), DroppedAt: primitive.NoTimestamp}
		dropped := false
		for _, d := range s.Dropped {
			if d.Name == c.Name && d.Static == (kind == schema.Static) {
				dropped = true
				use.DroppedAt = max(use.DroppedAt, d.At)
			}
		}
		if use.Ordinal < 0 && !dropped {
			return nil, nil, fmt.Errorf("%s column %q is in the SSTable, and in the schema neither a column nor a dropped one", kind, c.Name)
		}
		uses[i] = use
		if use.Ordinal < 0 {
			continue
		}
		want := present[use.Ordinal].Type
		if c.Type.Kind == cqltype.UDT && !c.Type.Frozen && want.Frozen {
			// Cassandra 3.0 left the mark of a frozen UDT out (CASSANDRA-15035).
			c.Type = frozen(c.Type)
			columns[i] = c
		}
		if !readableAs(c.Type, want) {
			return nil, nil, fmt.Errorf("column %q is %s, in the SSTable %s", c.Name, want, c.Type)
		}
	}
	return columns, uses, nil
}

// frozen is the type as that of one cell.
func frozen(t *cqltype.Type) *cqltype.Type {
	if t.Frozen {
		return t
	}
	c := *t
	c.Frozen = true
	return &c
}

// readableAs tells whether serialized values of type t are values of type want.
// A column's type could once be changed to such a type, a UDT gains fields, and
// fields of UDTs are renamed.
func readableAs(t, want *cqltype.Type) bool {
	if t.Kind != want.Kind {
		return widens(t.Kind, want.Kind)
	}
	switch t.Kind {
	case cqltype.List, cqltype.Set, cqltype.Map:
		if t.Frozen != want.Frozen {
			return false
		}
	case cqltype.UDT:
		if t.Frozen != want.Frozen || len(t.Elems) > len(want.Elems) {
			return false
		}
	case cqltype.Tuple, cqltype.Vector:
		if len(t.Elems) > len(want.Elems) || t.Size != want.Size {
			return false
		}
	}
	for i, e := range t.Elems {
		if !readableAs(e, want.Elems[i]) {
			return false
		}
	}
	return true
}

// widens tells whether values of one native type may be read as of another
// (AbstractType.isValueCompatibleWith).
func widens(from, to cqltype.Kind) bool {
	switch to {
	case cqltype.Blob:
		return from <= cqltype.Varint && from != cqltype.Counter
	case cqltype.Text:
		return from == cqltype.Ascii
	case cqltype.Varint:
		return from == cqltype.Int || from == cqltype.Bigint || from == cqltype.Timestamp
	case cqltype.Bigint:
		return from == cqltype.Timestamp
	case cqltype.Timestamp:
		return from == cqltype.Bigint
	case cqltype.UUID:
		return from == cqltype.Timeuuid
	}
	return false
}
