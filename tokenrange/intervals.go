package tokenrange

import (
	"iter"
	"slices"
)

// IntervalSet is a set of tokens, kept as the fewest ranges: sorted, disjoint, and never
// touching. It is a value: operations return new sets and change none, so that sets may be
// copied and read by many goroutines. The zero IntervalSet is empty.
type IntervalSet struct{ ranges []Range }

// NewIntervalSet returns the tokens that are in any of the ranges, which may overlap and come in
// any order. Ranges that are not valid hold no token and add none. It takes n log n steps, so a
// set of many ranges is better made at once than by a Union for each.
func NewIntervalSet(ranges ...Range) IntervalSet {
	sorted := slices.DeleteFunc(slices.Clone(ranges), func(r Range) bool { return !r.IsValid() })
	slices.SortFunc(sorted, Range.Compare)
	return IntervalSet{joinTouching(sorted)}
}

// joinTouching merges ranges that overlap or touch, in place. They are sorted by their start.
func joinTouching(sorted []Range) []Range {
	joined := sorted[:0]
	for _, r := range sorted {
		if last := len(joined) - 1; last >= 0 && !joined[last].End.Less(r.Start) {
			joined[last].End = maxToken(joined[last].End, r.End)
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

// IsEmpty reports whether the set holds no token.
func (s IntervalSet) IsEmpty() bool { return len(s.ranges) == 0 }

// Len returns the number of ranges that make up the set.
func (s IntervalSet) Len() int { return len(s.ranges) }

// Ranges returns the ranges that make up the set, in token order, as a new slice.
func (s IntervalSet) Ranges() []Range { return slices.Clone(s.ranges) }

// All iterates over the ranges that make up the set, in token order.
func (s IntervalSet) All() iter.Seq[Range] { return slices.Values(s.ranges) }

// Equal reports whether both sets hold the same tokens.
func (s IntervalSet) Equal(t IntervalSet) bool { return slices.Equal(s.ranges, t.ranges) }

// from returns the index of the first range that ends at or after t.
func (s IntervalSet) from(t Token) int {
	i, _ := slices.BinarySearchFunc(s.ranges, t, func(r Range, t Token) int { return r.End.Compare(t) })
	return i
}

// Contains reports whether t is in the set.
func (s IntervalSet) Contains(t Token) bool {
	i := s.from(t)
	return i < len(s.ranges) && s.ranges[i].Contains(t)
}

// ContainsRange reports whether every token of r is in the set.
func (s IntervalSet) ContainsRange(r Range) bool {
	i := s.from(r.End)
	return i < len(s.ranges) && s.ranges[i].ContainsRange(r)
}

// Union returns the tokens that are in either set.
func (s IntervalSet) Union(t IntervalSet) IntervalSet {
	merged := make([]Range, 0, len(s.ranges)+len(t.ranges))
	a, b := s.ranges, t.ranges
	for len(a) > 0 && len(b) > 0 {
		if a[0].Compare(b[0]) <= 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	merged = append(append(merged, a...), b...)
	return IntervalSet{joinTouching(merged)}
}

// Intersect returns the tokens that are in both sets.
func (s IntervalSet) Intersect(t IntervalSet) IntervalSet {
	var both []Range
	a, b := s.ranges, t.ranges
	for len(a) > 0 && len(b) > 0 {
		if r, ok := a[0].Intersect(b[0]); ok {
			both = append(both, r)
		}
		if a[0].End.Less(b[0].End) {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return IntervalSet{both}
}

// Minus returns the tokens of s that are not in t.
func (s IntervalSet) Minus(t IntervalSet) IntervalSet {
	var left []Range
	b := t.ranges
	for _, r := range s.ranges {
		for len(b) > 0 && !r.Start.Less(b[0].End) {
			b = b[1:]
		}
		for _, hole := range b {
			if !hole.Start.Less(r.End) {
				break
			}
			if r.Start.Less(hole.Start) {
				left = append(left, Range{r.Start, hole.Start})
			}
			r.Start = hole.End
		}
		if r.IsValid() {
			left = append(left, r)
		}
	}
	return IntervalSet{left}
}

// Fraction returns the set's share of the tokens of ring, 0 to 1 for a set on the ring. It is
// for showing progress: a share that rounds to 1 proves no coverage, [CheckTiling] does.
func (s IntervalSet) Fraction(ring Range) float64 { return s.width().float() / ring.width().float() }

// width returns the number of tokens in the set. The ranges are disjoint, so it fits.
func (s IntervalSet) width() uint128 {
	var sum uint128
	for _, r := range s.ranges {
		sum = sum.add(r.width())
	}
	return sum
}
