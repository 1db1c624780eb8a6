package queries

import (
	"slices"

	"manifest/internal/cqltype"
)

// Kind is the place of a column in its table, in the words of system_schema.columns.
type Kind string

// The kinds of columns.
const (
	PartitionKey Kind = "partition_key"
	Clustering   Kind = "clustering"
	Static       Kind = "static"
	Regular      Kind = "regular"
)

// Column is a column of a table.
type Column struct {
	Name string // exact, without quotes
	Type *cqltype.Type
	Kind Kind
}

// Table is a table whose rows are aggregated. The order of its columns does not matter.
type Table struct {
	Keyspace, Name string
	Columns        []Column
}

// String returns keyspace.table.
func (t Table) String() string { return t.Keyspace + "." + t.Name }

// column returns the column of a name.
func (t Table) column(name string) (Column, error) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, &ColumnError{Table: t.String(), Column: name}
	}
	return t.Columns[i], nil
}
