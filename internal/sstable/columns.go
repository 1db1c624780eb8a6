package sstable

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/sstable/merge"
	"manifest/internal/sstable/order"
)

// multiCell tells whether each element of a value is a cell of its own.
func multiCell(t *cqltype.Type) bool {
	switch t.Kind {
	case cqltype.List, cqltype.Set, cqltype.Map, cqltype.UDT:
		return !t.Frozen
	}
	return false
}

// mergeColumns tells how columns of a kind merge.
func mergeColumns(cs []schema.Column) []merge.Column {
	columns := make([]merge.Column, len(cs))
	for i, c := range cs {
		columns[i] = merge.Column{Name: c.Name, Counter: c.Type.Kind == cqltype.Counter}
		if multiCell(c.Type) {
			columns[i].Path = order.Path(c.Type)
		}
	}
	return columns
}

// projection is what a scan gives of each row.
type projection struct {
	selected []schema.Selected
	schema   *arrow.Schema
	// ordinals are the places of the selected columns among those of their kind.
	ordinals        []int
	static, regular []merge.Column
	// key tells that a column of the partition key is selected.
	key bool
}

// project finds the columns by name, among them writetime(c) and ttl(c).
func (t *Table) project(names []string) (*projection, error) {
	selected, err := t.schema.Table.Select(names)
	if err != nil {
		return nil, err
	}
	p := &projection{selected: selected, static: slices.Clone(t.static), regular: slices.Clone(t.regular)}
	if p.schema, err = t.schema.Table.Arrow(selected); err != nil {
		return nil, err
	}
	for _, s := range selected {
		i := slices.IndexFunc(t.schema.Table.OfKind(s.Column.Kind), func(c schema.Column) bool { return c.Name == s.Column.Name })
		p.ordinals = append(p.ordinals, i)
		switch s.Column.Kind {
		case schema.PartitionKey:
			p.key = true
		case schema.Static:
			p.static[i].Wanted = true
		case schema.Regular:
			p.regular[i].Wanted = true
		}
	}
	return p, nil
}
