package queries

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/groups"
	"manifest/queries/internal/partial"
	"manifest/queries/internal/vector"
)

// Query is a compiled query. It does not change and may serve any number of Aggregations, from any goroutine.
type Query struct {
	name      string
	text      string
	program   *vector.Program
	columns   []string
	groupings []grouping
	tables    []ResultTable
	byDay     bool          // The first key of every grouping is the day, and results come day by day.
	counted   []vector.Slot // integers on which all that follows them in the program depends: equal rows are counted first; may be nil
	partition []vector.Slot // of the partition key, if groups lie in one partition each and leave when it ends; else nil
	order     partial.Order
	result    func(*Aggregation, *resultWriter) (result, error)
}

// grouping is one way of grouping the rows; a query may have several, which share the evaluation of their expressions and the files.
type grouping struct {
	table     int // that the groups give rows of
	keys      []vector.Slot
	names     []string // of the keys, for errors
	shape     groups.Shape
	arguments []vector.Slot // of the aggregates, noSlot for a count of rows
	states    []accumulate.Aggregate
	fields    []field         // of the table, in its order
	rows      int             // per group
	when      func(*row) bool // whether a group has rows at all; nil means yes
}

const noSlot vector.Slot = -1

// ResultTable is a table that a query results in.
type ResultTable struct {
	// Name is that of a named statistic, or "groups".
	Name string
	// Schema has the columns with their documented types.
	Schema *arrow.Schema
	// ByDay says that the rows come by UTC day, which is also their first column, "day". NULL is a day too.
	ByDay bool
}

// Name returns the name of a named query, or "groups".
func (q *Query) Name() string { return q.name }

// String returns the canonical text of all that decides the result, for a run's record: two queries of the same text have the same
// result over the same rows, and part files that can be merged.
func (q *Query) String() string { return q.text }

// Columns returns the columns that records need to have: names of columns, writetime(name) and ttl(name). There is at least one, if the
// table has one: to count rows some column has to be read, and that of the partition key is always there.
func (q *Query) Columns() []string { return slices.Clone(q.columns) }

// Tables returns the tables that the query results in.
func (q *Query) Tables() []ResultTable { return slices.Clone(q.tables) }

// Streams reports whether groups leave memory at the end of the partition that they lie in.
func (q *Query) Streams() bool { return q.partition != nil }

// newQuery puts a query together.
func newQuery(name string, r *resolver, options string, tables []ResultTable, groupings []grouping) *Query {
	q := &Query{name: name, program: r.program, groupings: groupings, tables: tables, byDay: tables[0].ByDay}
	q.result = func(_ *Aggregation, w *resultWriter) (result, error) { return w, nil }
	q.partition = r.partitionOf(groupings)
	for i := range groupings {
		g := &groupings[i]
		g.shape = groups.Shape{Mark: byte(i)}
		if q.byDay {
			g.shape.MarkAt = 1
		}
		for _, slot := range g.keys {
			g.shape.Kinds = append(g.shape.Kinds, r.program.Kind(slot))
		}
		r.contents(g.keys)
	}
	r.contents(q.partition)
	if q.partition != nil && !q.byDay {
		q.order = partial.ByToken
	} else if !slices.ContainsFunc(groupings[0].states, accumulate.Aggregate.Compacts) {
		q.partition = nil // The parts are sorted by key, and that a group is complete would be of no use.
	}
	q.columns = r.program.Columns()
	if i := slices.IndexFunc(r.table.Columns, func(c Column) bool { return c.Kind == PartitionKey }); i >= 0 && len(q.columns) == 0 {
		q.columns = []string{r.table.Columns[i].Name}
	}
	var types []string
	for _, name := range slices.Sorted(maps.Keys(r.used)) {
		types = append(types, fmt.Sprintf("%q %s", name, r.used[name]))
	}
	q.text = fmt.Sprintf("%s of %s (%s): %s", name, r.table, strings.Join(types, ", "), options)
	return q
}

// contents replaces slots by those of their content.
func (r *resolver) contents(slots []vector.Slot) {
	for i, slot := range slots {
		slots[i] = r.program.Content(slot)
	}
}

// looseKinds are those of which different bytes can be equal values.
var looseKinds = []vector.Kind{vector.Float32, vector.Float64, vector.Varint, vector.Decimal, vector.Boolean}

// partitionOf returns the slots of the partition key if it is among the keys of the only grouping, so that all rows of a group lie in
// one partition. A loose kind does not do: the partitions 1.0 and 1.00 are one group.
func (r *resolver) partitionOf(groupings []grouping) []vector.Slot {
	if len(groupings) > 1 {
		return nil
	}
	var slots []vector.Slot
	for _, c := range r.table.Columns {
		if c.Kind != PartitionKey {
			continue
		}
		slot, ok := r.whole[c.Name]
		if !ok || !slices.Contains(groupings[0].keys, slot) || slices.Contains(looseKinds, r.program.Kind(slot)) {
			return nil
		}
		slots = append(slots, slot)
	}
	return slots
}
