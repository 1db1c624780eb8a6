package accumulate

import (
	"fmt"

	"manifest/queries/internal/vector"
)

// States are the accumulators of all aggregates of a query, for the same groups. The state of a group is the states of its aggregates,
// one behind the other.
type States []Accumulator

// NewStates returns the accumulators of the aggregates, without groups.
func NewStates(aggregates []Aggregate) (States, error) {
	states := make(States, len(aggregates))
	for i, a := range aggregates {
		var err error
		if states[i], err = a.New(); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// Grow makes the groups 0 to n-1 exist.
func (s States) Grow(n int) {
	for _, a := range s {
		a.Grow(n)
	}
}

// Update adds rows lo to hi; in holds the argument of each aggregate, and row i is of group groups[i].
func (s States) Update(in []*vector.Vector, groups []uint32, lo, hi int) error {
	for i, a := range s {
		if err := a.Update(in[i], groups, lo, hi); err != nil {
			return err
		}
	}
	return nil
}

// UpdateCounted adds row i as often as counts[i] says; all accumulators have to be Counting.
func (s States) UpdateCounted(in []*vector.Vector, counts []int64, groups []uint32, lo, hi int) error {
	for i, a := range s {
		if err := a.(Counting).UpdateCounted(in[i], counts, groups, lo, hi); err != nil {
			return err
		}
	}
	return nil
}

// AppendState appends the state of group g to dst.
func (s States) AppendState(dst []byte, g int, final bool) []byte {
	for _, a := range s {
		dst = a.AppendState(dst, g, final)
	}
	return dst
}

// Merge adds a state, of which nothing may be left over, to group g.
func (s States) Merge(g int, state []byte) error {
	rest := state
	for _, a := range s {
		var err error
		if rest, err = a.Merge(g, rest); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes too many", ErrCorrupt, len(rest))
	}
	return nil
}

// Reset forgets all groups.
func (s States) Reset() {
	for _, a := range s {
		a.Reset()
	}
}

// Size returns the bytes that the states take.
func (s States) Size() int {
	size := 0
	for _, a := range s {
		size += a.Size()
	}
	return size
}
