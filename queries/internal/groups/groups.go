package groups

import (
	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/vector"
)

// Groups are the groups of a grouping that are in memory: their keys and their states. They belong to one goroutine.
type Groups struct {
	table  *Table
	states accumulate.States
	ids    []uint32 // of the rows of a block
}

// New returns Groups without a group.
func New(shape Shape, aggregates []accumulate.Aggregate) (*Groups, error) {
	states, err := accumulate.NewStates(aggregates)
	if err != nil {
		return nil, err
	}
	return &Groups{table: NewTable(shape), states: states, ids: make([]uint32, vector.BlockRows)}, nil
}

// Add adds rows lo to hi of a block to their groups. keys are the key columns and arguments those of the aggregates, nil for a count of
// rows.
func (g *Groups) Add(keys, arguments []*vector.Vector, lo, hi int) error {
	g.table.Find(keys, g.ids, lo, hi)
	g.states.Grow(g.table.Len())
	return g.states.Update(arguments, g.ids, lo, hi)
}

// AddCounted adds row i as often as counts[i] says.
func (g *Groups) AddCounted(keys, arguments []*vector.Vector, counts []int64, lo, hi int) error {
	g.table.Find(keys, g.ids, lo, hi)
	g.states.Grow(g.table.Len())
	return g.states.UpdateCounted(arguments, counts, g.ids, lo, hi)
}

// ID returns the number of the group of row i of the last Add.
func (g *Groups) ID(i int) int { return int(g.ids[i]) }

// Len returns the number of groups.
func (g *Groups) Len() int { return g.table.Len() }

// Key returns the key of group i, valid until Reset.
func (g *Groups) Key(i int) []byte { return g.table.Key(i) }

// AppendState appends the state of group i to dst.
func (g *Groups) AppendState(dst []byte, i int, final bool) []byte {
	return g.states.AppendState(dst, i, final)
}

// Size returns the bytes that the groups take.
func (g *Groups) Size() int { return g.table.Size() + g.states.Size() }

// Reset forgets all groups. Of the memory of their keys it keeps at most keep bytes for the next ones.
func (g *Groups) Reset(keep int) {
	g.table.Reset(keep)
	g.states.Reset()
}
