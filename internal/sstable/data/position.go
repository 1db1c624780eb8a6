package data

import (
	"cmp"

	"manifest/internal/sstable/order"
)

// Bound is what a position in a partition is: a row, or the start or end of a
// range tombstone. The numbers are those of the file.
type Bound uint8

// The bounds.
const (
	ExclusiveEnd               Bound = 0
	InclusiveStart             Bound = 1
	ExclusiveEndInclusiveStart Bound = 2
	RowBound                   Bound = 4
	InclusiveEndExclusiveStart Bound = 5
	InclusiveEnd               Bound = 6
	ExclusiveStart             Bound = 7
	staticBound                Bound = 3
)

// Starts tells whether a range tombstone begins at a marker.
func (b Bound) Starts() bool {
	return b == InclusiveStart || b == ExclusiveStart || b.boundary()
}

// Ends tells whether one ends there.
func (b Bound) Ends() bool { return b == InclusiveEnd || b == ExclusiveEnd || b.boundary() }

func (b Bound) boundary() bool {
	return b == ExclusiveEndInclusiveStart || b == InclusiveEndExclusiveStart
}

func (b Bound) marker() bool { return b <= ExclusiveStart && b != staticBound && b != RowBound }

// side is where a bound lies relative to the rows that its values are a prefix
// of: before them, at them, behind them.
func (b Bound) side() int {
	switch {
	case b <= ExclusiveEndInclusiveStart:
		return -1
	case b == RowBound:
		return 0
	}
	return 1
}

// Position is the place of a row or a marker in its partition.
type Position struct {
	// Values are the clustering key's; a marker may have only the first of them.
	// A nil value is null.
	Values [][]byte
	Bound  Bound
}

// Comparators order the values of a clustering key, one for each column.
type Comparators []order.Comparator

// Compare orders positions as a partition has them. Rows and markers are never
// equal.
func (cs Comparators) Compare(a, b Position) int {
	for i := range min(len(a.Values), len(b.Values)) {
		if c := cs.value(i, a.Values[i], b.Values[i]); c != 0 {
			return c
		}
	}
	switch {
	case len(a.Values) == len(b.Values):
		return cmp.Compare(a.Bound.side(), b.Bound.side())
	case len(a.Values) < len(b.Values):
		return a.Bound.side()
	}
	return -b.Bound.side()
}

// value compares the values of one column; null comes first.
func (cs Comparators) value(i int, a, b []byte) int {
	if a == nil || b == nil {
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil:
			return -1
		}
		return 1
	}
	return cs[i](a, b)
}

// clustering is a position with memory of its own.
type clustering struct {
	Position
	bytes []byte
}
