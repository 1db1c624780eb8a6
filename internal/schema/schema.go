// Package schema describes a Cassandra table: its columns with their kinds and
// types, however they became known: from a live node's system_schema or from a
// snapshot.
//
// It knows neither driver nor file format. A [Table] is read-only once built
// and may be shared between goroutines.
package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"manifest/internal/cqltype"
)

// Kind says what role a column plays.
type Kind string

// The kinds, as system_schema.columns names them.
const (
	PartitionKey Kind = "partition_key"
	Clustering   Kind = "clustering"
	Static       Kind = "static"
	Regular      Kind = "regular"
)

// Column is one column of a table.
type Column struct {
	Name string
	Kind Kind
	Type *cqltype.Type
	// Descending tells that rows are stored in descending order of this
	// clustering key.
	Descending bool
	// Dropped is when a column of this name was last dropped, and its values
	// lost, before it was added again; zero if it never was.
	Dropped time.Time
}

// Table is a table or a materialized view.
type Table struct {
	Keyspace, Name string
	// ID is the table's uuid; a table that was dropped and made again has another.
	ID string
	// View tells that it is a materialized view.
	View bool
	// Columns come in the order in which SELECT * shows them: partition key,
	// clustering key, then static and regular columns, each by name.
	Columns []Column
}

// String is the table's name for people: keyspace.table.
func (t *Table) String() string { return t.Keyspace + "." + t.Name }

// Column finds a column by name.
func (t *Table) Column(name string) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}

// OfKind gives the columns of a kind in their order.
func (t *Table) OfKind(k Kind) []Column {
	var cs []Column
	for _, c := range t.Columns {
		if c.Kind == k {
			cs = append(cs, c)
		}
	}
	return cs
}

// Names gives the names of all columns in order.
func (t *Table) Names() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// Hash identifies what is read: it changes when a column's name, kind, type or
// order does. Two tables with equal hashes give records of the same schema.
func (t *Table) Hash() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q.%q\n", t.Keyspace, t.Name)
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "%q %s %s %t\n", c.Name, c.Kind, c.Type, c.Descending)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// Sort puts columns in the order of [Table.Columns]; position is that of key
// columns within their key.
func Sort(cols []Column, position func(name string) int) {
	rank := map[Kind]int{PartitionKey: 0, Clustering: 1, Static: 2, Regular: 3}
	slices.SortStableFunc(cols, func(a, b Column) int {
		if d := rank[a.Kind] - rank[b.Kind]; d != 0 {
			return d
		}
		if a.Kind == PartitionKey || a.Kind == Clustering {
			return position(a.Name) - position(b.Name)
		}
		return strings.Compare(a.Name, b.Name)
	})
}
