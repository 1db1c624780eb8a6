package tokenrange

import (
	"cmp"
	"fmt"
	"strings"
)

// Range is the tokens after Start up to and including End: (Start, End].
//
// Invariant: Start < End. A Range neither wraps around the end of the ring nor is it empty;
// [Unwrap] makes ranges of what Cassandra reports. The zero Range is not valid.
type Range struct {
	Start Token `json:"start"` // exclusive
	End   Token `json:"end"`   // inclusive
}

// ParseRange reads a range as "(start, end]", which is what [Range.String] writes, or as
// "start:end", with both tokens in decimal. It errs with [ErrMalformed], and with
// [ErrEmptyRange] where start is not below end; a part of the ring that wraps is two ranges.
func ParseRange(s string) (Range, error) {
	separator, body := ":", s
	if inner, ok := strings.CutPrefix(s, "("); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); !ok {
			return Range{}, fmt.Errorf("parse range %q: %w", s, ErrMalformed)
		}
		separator, body = ",", inner
	}
	first, second, ok := strings.Cut(body, separator)
	if !ok {
		return Range{}, fmt.Errorf("parse range %q: %w", s, ErrMalformed)
	}
	start, err := ParseToken(strings.TrimSpace(first))
	if err != nil {
		return Range{}, fmt.Errorf("parse range %q: start: %w", s, err)
	}
	end, err := ParseToken(strings.TrimSpace(second))
	if err != nil {
		return Range{}, fmt.Errorf("parse range %q: end: %w", s, err)
	}
	r := Range{start, end}
	if !r.IsValid() {
		return Range{}, fmt.Errorf("parse range %q: %w", s, ErrEmptyRange)
	}
	return r, nil
}

// Unwrap returns the tokens of ring that lie after start up to and including end, going around
// the ring where start is not below end: none, one or two ranges, in token order. As in
// Cassandra, start equal to end means the whole ring, and the ring's exclusive start (the
// "minimum token") as an end means the end of the ring.
func Unwrap(start, end Token, ring Range) []Range {
	var unwrapped []Range
	add := func(r Range) {
		if r, ok := r.Intersect(ring); ok {
			unwrapped = append(unwrapped, r)
		}
	}
	switch start.Compare(end) {
	case -1:
		add(Range{start, end})
	case 0:
		add(ring)
	default:
		add(Range{ring.Start, end})
		add(Range{start, ring.End})
	}
	return unwrapped
}

// IsValid reports whether Start < End.
func (r Range) IsValid() bool { return r.Start.Less(r.End) }

// Compare orders ranges by their start, then by their end.
func (r Range) Compare(s Range) int {
	return cmp.Or(r.Start.Compare(s.Start), r.End.Compare(s.End))
}

// Contains reports whether t is in the range.
func (r Range) Contains(t Token) bool { return r.Start.Less(t) && !r.End.Less(t) }

// ContainsRange reports whether every token of s is in the range.
func (r Range) ContainsRange(s Range) bool {
	return !s.Start.Less(r.Start) && !r.End.Less(s.End)
}

// Intersect returns the tokens that are in both ranges, and whether there are any.
func (r Range) Intersect(s Range) (Range, bool) {
	both := Range{maxToken(r.Start, s.Start), minToken(r.End, s.End)}
	return both, both.IsValid()
}

// Fraction returns the range's share of the tokens of ring, 0 to 1 for a range on the ring.
func (r Range) Fraction(ring Range) float64 { return r.width().float() / ring.width().float() }

// Split cuts the range into n parts whose numbers of tokens differ by at most one, in token
// order. It returns fewer parts where the range has fewer than n tokens, and never an empty
// one; n below 1 counts as 1.
func (r Range) Split(n int) []Range {
	// The cut after part i is at floor(width*i/n). With width = q*n + rest that is
	// q*i + floor(rest*i/n), which stays within 128 bits.
	parts := r.width().atMost(uint64(max(n, 1)))
	q, rest := r.width().divmod(parts)
	split := make([]Range, parts)
	start := r.Start
	for i := range parts {
		more, _ := uint128{0, rest}.mul(i + 1).divmod(parts)
		end := r.Start.plus(q.mul(i + 1).add(more))
		split[i] = Range{start, end}
		start = end
	}
	return split
}

// Halve cuts the range in two; ok is false where it holds a single token.
func (r Range) Halve() (a, b Range, ok bool) {
	halves := r.Split(2)
	if len(halves) < 2 {
		return Range{}, Range{}, false
	}
	return halves[0], halves[1], true
}

// ID returns a name for the range that is safe as part of a file name, also where case is not
// told apart, and whose order as text is the order of [Range.Compare]: both tokens in
// hexadecimal, counted from -2^63. It has 33 characters for the Murmur3Partitioner and at most
// 67 otherwise.
func (r Range) ID() string {
	id := make([]byte, 0, 67)
	id = r.Start.appendKey(id)
	id = append(id, '-')
	return string(r.End.appendKey(id))
}

// String returns the range as "(start, end]" in decimal.
func (r Range) String() string { return "(" + r.Start.String() + ", " + r.End.String() + "]" }

// width returns the number of tokens in the range.
func (r Range) width() uint128 { return r.Start.distance(r.End) }

// RangeOf returns the range of one token alone, which must not be the exclusive start of the ring: no row has that.
func RangeOf(t Token) Range {
	before := Token{t.hi, t.lo - 1}
	if t.lo == 0 {
		before.hi--
	}
	return Range{before, t}
}
