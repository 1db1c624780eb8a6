package tokenrange_test

import (
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

// bitmap is a model of a set: bit i is token i, for the tokens 1 to 63.
type bitmap uint64

func bitsOf(ranges ...tokenrange.Range) bitmap {
	var m bitmap
	for _, r := range ranges {
		for i := int64(1); i < 64; i++ {
			if r.Contains(token(i)) {
				m |= 1 << i
			}
		}
	}
	return m
}

// smallRanges returns ranges of the tokens 1 to 63, of which some hold no token.
func smallRanges() *rapid.Generator[[]tokenrange.Range] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tokenrange.Range {
		return span(rapid.Int64Range(0, 63).Draw(t, "start"), rapid.Int64Range(0, 63).Draw(t, "end"))
	}), 0, 12)
}

func TestIntervalSetAgainstBitmap(t *testing.T) {
	whole := span(0, 63)
	rapid.Check(t, func(t *rapid.T) {
		a, b := smallRanges().Draw(t, "a"), smallRanges().Draw(t, "b")
		inA, inB := bitsOf(a...), bitsOf(b...)
		setA, setB := tokenrange.NewIntervalSet(a...), tokenrange.NewIntervalSet(b...)
		check := func(what string, got tokenrange.IntervalSet, want bitmap) {
			t.Helper()
			if bitsOf(got.Ranges()...) != want {
				t.Fatalf("%s: %s, want the tokens %b", what, got.Ranges(), want)
			}
			last := tokenrange.Range{}
			for i, r := range got.Ranges() {
				if !r.IsValid() || (i > 0 && !last.End.Less(r.Start)) {
					t.Fatalf("%s: %s is not the shortest form", what, got.Ranges())
				}
				last = r
			}
			if got.IsEmpty() != (want == 0) || got.Len() != len(got.Ranges()) || !slices.Equal(slices.Collect(got.All()), got.Ranges()) {
				t.Fatalf("%s: IsEmpty, Len or All do not fit %s", what, got.Ranges())
			}
			if fraction := float64(bits.OnesCount64(uint64(want))) / 63; got.Fraction(whole) != fraction {
				t.Fatalf("%s: fraction %g, want %g", what, got.Fraction(whole), fraction)
			}
			for i := int64(1); i < 64; i++ {
				if got.Contains(token(i)) != (want>>i&1 == 1) {
					t.Fatalf("%s: %s contains %d: %t", what, got.Ranges(), i, got.Contains(token(i)))
				}
			}
		}
		check("a", setA, inA)
		check("union", setA.Union(setB), inA|inB)
		check("minus", setA.Minus(setB), inA&^inB)
		check("intersection", setA.Intersect(setB), inA&inB)
		check("a again", setA, inA)
		check("b again", setB, inB)
		if setA.Equal(setB) != (inA == inB) {
			t.Fatalf("%s equals %s: %t", setA.Ranges(), setB.Ranges(), setA.Equal(setB))
		}
		for _, r := range b {
			if r.IsValid() && setA.ContainsRange(r) != (bitsOf(r)&^inA == 0) {
				t.Fatalf("%s contains %s: %t", setA.Ranges(), r, setA.ContainsRange(r))
			}
		}
	})
}

func TestIntervalSetIsNotItsInput(t *testing.T) {
	input := []tokenrange.Range{span(5, 6), span(0, 3), span(2, 4)}
	set := tokenrange.NewIntervalSet(input...)
	if want := []tokenrange.Range{span(5, 6), span(0, 3), span(2, 4)}; !slices.Equal(input, want) {
		t.Errorf("the input was changed to %s", input)
	}
	set.Ranges()[0] = span(7, 8)
	if want := []tokenrange.Range{span(0, 4), span(5, 6)}; !slices.Equal(set.Ranges(), want) {
		t.Errorf("set is %s, want %s", set.Ranges(), want)
	}
}

func TestIntervalSetOfWholeRings(t *testing.T) {
	for _, p := range []tokenrange.Partitioner{tokenrange.Murmur3, tokenrange.Random, tokenrange.ExplicitPartitioner("x")} {
		parts := p.Ring().Split(7)
		slices.Reverse(parts)
		set := tokenrange.NewIntervalSet(parts...)
		if !slices.Equal(set.Ranges(), []tokenrange.Range{p.Ring()}) || set.Fraction(p.Ring()) != 1 {
			t.Errorf("%s: the parts of the ring make %s", p.Name(), set.Ranges())
		}
	}
}
