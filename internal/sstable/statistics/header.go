package statistics

import (
	"fmt"
	"slices"

	"manifest/internal/cqltype"
	"manifest/internal/sstable/primitive"
)

// What times are counted from in the header: 2015-09-22.
const (
	timestampEpoch    = 1442880000000000
	deletionTimeEpoch = 1442880000
)

// Header says how Data.db is to be read: it holds the types that the table had
// when the SSTable was written.
type Header struct {
	// MinTimestamp, MinLocalDeletionTime and MinTTL are what times in Data.db
	// are counted from. They need not be the minimum of anything.
	MinTimestamp         int64  // microseconds since 1970
	MinLocalDeletionTime uint32 // seconds since 1970
	MinTTL               uint32 // seconds

	// Key and Clustering are the types of the key's columns, whose names the
	// header does not have.
	Key        []*cqltype.Type
	Clustering []ClusteringType
	// Static and Regular are the columns in the order in which rows have them,
	// mostly those of one cell before those of many, each by name. (Names that
	// begin with a letter outside ASCII come first.)
	Static, Regular []Column
}

// ClusteringType is the type of a clustering column.
type ClusteringType struct {
	Type *cqltype.Type
	// Descending tells that larger values come first.
	Descending bool
}

// Column is a column that rows of the SSTable may have.
type Column struct {
	Name string
	Type *cqltype.Type
}

// Complex tells whether each element of a value is a cell of its own.
func (c Column) Complex() bool {
	switch c.Type.Kind {
	case cqltype.List, cqltype.Set, cqltype.Map, cqltype.UDT:
		return !c.Type.Frozen
	}
	return false
}

// read takes the component apart. On an error it returns where that is.
func (h *Header) read(b []byte) (at int, err error) {
	r := primitive.NewReader(b)
	h.MinTimestamp = int64(r.Uvint() + timestampEpoch)
	h.MinLocalDeletionTime = uint32(r.Uvint() + deletionTimeEpoch)
	h.MinTTL = uint32(r.Uvint())

	at = r.Offset()
	if h.Key, err = cqltype.ParseMarshalKey(string(r.BytesV())); err != nil {
		return at, fmt.Errorf("partition key: %w", err)
	}
	for i := range r.Length() {
		at = r.Offset()
		t, descending, err := cqltype.ParseMarshal(string(r.BytesV()))
		if err != nil {
			return at, fmt.Errorf("clustering column %d: %w", i, err)
		}
		if !t.Frozen {
			t = frozen(t)
		}
		h.Clustering = append(h.Clustering, ClusteringType{t, descending})
	}
	for _, list := range []*[]Column{&h.Static, &h.Regular} {
		for range r.Length() {
			at = r.Offset()
			c := Column{Name: string(r.BytesV())}
			var reversed bool
			if c.Type, reversed, err = cqltype.ParseMarshal(string(r.BytesV())); err != nil {
				return at, fmt.Errorf("column %q: %w", c.Name, err)
			}
			if reversed {
				return at, fmt.Errorf("column %q has a reversed type", c.Name)
			}
			*list = append(*list, c)
		}
	}
	if r.Err() != nil {
		return at, r.Err()
	}
	if r.Len() > 0 {
		return r.Offset(), fmt.Errorf("%d bytes after the last column", r.Len())
	}
	seen := map[string]bool{}
	for _, c := range slices.Concat(h.Static, h.Regular) {
		if seen[c.Name] {
			return at, fmt.Errorf("column %q occurs twice", c.Name)
		}
		seen[c.Name] = true
	}
	return 0, nil
}

// frozen returns a clustering column's type as what it is: one value.
func frozen(t *cqltype.Type) *cqltype.Type {
	c := *t
	c.Frozen = true
	return &c
}
