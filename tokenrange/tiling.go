package tokenrange

import (
	"fmt"
	"slices"
)

// TilingFault says in what way ranges fail to tile a part of the ring.
type TilingFault string

// The faults that [CheckTiling] finds.
const (
	Gap       TilingFault = "gap"       // tokens of the part that no range covers: rows would be missing
	Overlap   TilingFault = "overlap"   // tokens that two ranges cover: rows would be counted twice
	Outside   TilingFault = "outside"   // tokens that a range covers outside of the part
	Malformed TilingFault = "malformed" // a range whose start is not below its end
)

// TilingError is the first fault, in token order, of ranges that were meant to cover each token
// of a part of the ring exactly once.
type TilingError struct {
	Fault TilingFault
	Range Range // the tokens concerned, exactly
}

// Error names the fault and the tokens.
func (e *TilingError) Error() string {
	switch e.Fault {
	case Gap:
		return fmt.Sprintf("gap: tokens %s are not covered", e.Range)
	case Overlap:
		return fmt.Sprintf("overlap: tokens %s are covered more than once", e.Range)
	case Outside:
		return fmt.Sprintf("outside: tokens %s are covered but were not asked for", e.Range)
	}
	return fmt.Sprintf("%s range %s", e.Fault, e.Range)
}

// CheckTiling returns nil where the pieces, in any order, cover each token of asked exactly once
// and no other token, and otherwise a [*TilingError] with the fault that comes first in token
// order. It computes with whole tokens and rounds nothing: one missing token is found.
func CheckTiling(asked IntervalSet, pieces []Range) error {
	var first *TilingError
	note := func(fault TilingFault, r Range) {
		if first == nil || r.Compare(first.Range) < 0 {
			first = &TilingError{fault, r}
		}
	}

	sorted := slices.SortedFunc(slices.Values(pieces), Range.Compare)
	var before Range // the piece, of those before, that reaches farthest
	for i, r := range sorted {
		if !r.IsValid() {
			// A piece that wraps says nothing sure about what it covers, so this fault goes first.
			return &TilingError{Malformed, r}
		}
		if twice, ok := before.Intersect(r); ok && i > 0 {
			note(Overlap, twice)
			break
		}
		before = r
	}

	covered := NewIntervalSet(pieces...)
	for gap := range asked.Minus(covered).All() {
		note(Gap, gap)
		break
	}
	for outside := range covered.Minus(asked).All() {
		note(Outside, outside)
		break
	}
	if first == nil {
		return nil // not first itself, which as an error would not equal nil
	}
	return first
}
