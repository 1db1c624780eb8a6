package tokenrange_test

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

// rangeOn returns valid ranges of a partitioner's ring.
func rangeOn(p tokenrange.Partitioner) *rapid.Generator[tokenrange.Range] {
	return rapid.Custom(func(t *rapid.T) tokenrange.Range {
		return tokenrange.Range{Start: tokenOn(p).Draw(t, "start"), End: tokenOn(p).Draw(t, "end")}
	}).Filter(tokenrange.Range.IsValid)
}

func TestParseRange(t *testing.T) {
	wide := tokenrange.Range{Start: token(-1), End: mustParse(t, "170141183460469231731687303715884105728")}
	tests := []struct {
		text string
		want tokenrange.Range
		err  error
	}{
		{text: "(-5, 9]", want: span(-5, 9)},
		{text: "(-5,9]", want: span(-5, 9)},
		{text: "-5:9", want: span(-5, 9)},
		{text: "-9: -5", want: span(-9, -5)},
		{text: "(-9223372036854775808, 9223372036854775807]", want: span(math.MinInt64, math.MaxInt64)},
		{text: "-1:170141183460469231731687303715884105728", want: wide},
		{text: "", err: tokenrange.ErrMalformed},
		{text: "5", err: tokenrange.ErrMalformed},
		{text: "5-9", err: tokenrange.ErrMalformed},
		{text: "(5, 9)", err: tokenrange.ErrMalformed},
		{text: "[5, 9]", err: tokenrange.ErrMalformed},
		{text: "(5:9]", err: tokenrange.ErrMalformed},
		{text: "5:9:11", err: tokenrange.ErrMalformed},
		{text: ":9", err: tokenrange.ErrMalformed},
		{text: "five:9", err: tokenrange.ErrMalformed},
		{text: "0:340282366920938463463374607431768211456", err: tokenrange.ErrOutOfRing},
		{text: "9:9", err: tokenrange.ErrEmptyRange},
		{text: "(9, 5]", err: tokenrange.ErrEmptyRange},
	}
	for _, test := range tests {
		got, err := tokenrange.ParseRange(test.text)
		if !errors.Is(err, test.err) {
			t.Errorf("ParseRange(%q): error %v, want %v", test.text, err, test.err)
		} else if err == nil && got != test.want {
			t.Errorf("ParseRange(%q) = %s, want %s", test.text, got, test.want)
		} else if err != nil && !strings.Contains(err.Error(), `"`+test.text+`"`) {
			t.Errorf("ParseRange(%q): error %v does not name it", test.text, err)
		}
	}
}

func TestUnwrap(t *testing.T) {
	const lowest, highest = math.MinInt64, math.MaxInt64
	murmur3, random := tokenrange.Murmur3.Ring(), tokenrange.Random.Ring()
	tests := []struct {
		name       string
		start, end tokenrange.Token
		ring       tokenrange.Range
		want       []tokenrange.Range
	}{
		{"plain", token(3), token(8), murmur3, []tokenrange.Range{span(3, 8)}},
		{"wrapping", token(8), token(3), murmur3, []tokenrange.Range{span(lowest, 3), span(8, highest)}},
		{"equal tokens", token(8), token(8), murmur3, []tokenrange.Range{murmur3}},
		{"minimum to minimum", token(lowest), token(lowest), murmur3, []tokenrange.Range{murmur3}},
		{"the whole ring as it is", token(lowest), token(highest), murmur3, []tokenrange.Range{murmur3}},
		{"minimum as an end", token(8), token(lowest), murmur3, []tokenrange.Range{span(8, highest)}},
		{"from the maximum", token(highest), token(3), murmur3, []tokenrange.Range{span(lowest, 3)}},
		{"from the maximum to the minimum", token(highest), token(lowest), murmur3, nil},
		{"0 is a token like any other", token(0), token(-1), murmur3, []tokenrange.Range{span(lowest, -1), span(0, highest)}},
		{"wrapping, Random", token(8), token(3), random, []tokenrange.Range{span(-1, 3), {Start: token(8), End: random.End}}},
		{"partly off the ring", token(-5), token(3), random, []tokenrange.Range{span(-1, 3)}},
	}
	for _, test := range tests {
		if got := tokenrange.Unwrap(test.start, test.end, test.ring); !slices.Equal(got, test.want) {
			t.Errorf("%s: Unwrap(%s, %s) = %s, want %s", test.name, test.start, test.end, got, test.want)
		}
	}
}

func TestRangeContains(t *testing.T) {
	r := span(-2, 3)
	for v := int64(-4); v <= 5; v++ {
		if got, want := r.Contains(token(v)), v > -2 && v <= 3; got != want {
			t.Errorf("%s contains %d: %t", r, v, got)
		}
	}
	for _, inside := range []tokenrange.Range{r, span(-2, 0), span(0, 3), span(-1, 1)} {
		if !r.ContainsRange(inside) {
			t.Errorf("%s does not contain %s", r, inside)
		}
	}
	for _, outside := range []tokenrange.Range{span(-3, 3), span(-2, 4), span(3, 5), span(-9, -2)} {
		if r.ContainsRange(outside) {
			t.Errorf("%s contains %s", r, outside)
		}
	}
}

func TestSplitOfRange(t *testing.T) {
	ring := tokenrange.Murmur3.Ring() // of 2^64-1 tokens
	halves := ring.Split(2)
	if want := []tokenrange.Range{span(math.MinInt64, -1), span(-1, math.MaxInt64)}; !slices.Equal(halves, want) {
		t.Errorf("halves of the ring %s, want %s", halves, want)
	}
	if got, want := span(0, 10).Split(4), []tokenrange.Range{span(0, 2), span(2, 5), span(5, 7), span(7, 10)}; !slices.Equal(got, want) {
		t.Errorf("quarters of 10 tokens %s, want %s", got, want)
	}
	if got, want := span(0, 3).Split(5), []tokenrange.Range{span(0, 1), span(1, 2), span(2, 3)}; !slices.Equal(got, want) {
		t.Errorf("fifths of 3 tokens %s, want %s", got, want)
	}
	for _, n := range []int{1, 0, -7} {
		if got := span(0, 3).Split(n); !slices.Equal(got, []tokenrange.Range{span(0, 3)}) {
			t.Errorf("Split(%d) = %s", n, got)
		}
	}
	if _, _, ok := span(6, 7).Halve(); ok {
		t.Error("one token was halved")
	}
	if a, b, ok := span(5, 8).Halve(); !ok || a != span(5, 6) || b != span(6, 8) {
		t.Errorf("halves of three tokens %s, %s, %t", a, b, ok)
	}
}

func TestSplitOfRangeIsEvenAndExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]tokenrange.Partitioner{tokenrange.Murmur3, tokenrange.Random, tokenrange.ExplicitPartitioner("x")}).Draw(t, "partitioner")
		r := rangeOn(p).Draw(t, "range")
		if rapid.Bool().Draw(t, "whole ring") {
			r = p.Ring()
		}
		n := rapid.IntRange(1, 300).Draw(t, "n")
		parts := r.Split(n)
		width := new(big.Int).Sub(r.End.Big(), r.Start.Big())
		if want := min(n, int(min(width.Uint64(), math.MaxInt32))); width.IsUint64() && len(parts) != want {
			t.Fatalf("%d parts of %s, want %d", len(parts), r, want)
		}
		low := new(big.Int).Div(width, big.NewInt(int64(len(parts))))
		high := new(big.Int).Add(low, big.NewInt(1))
		at := r.Start
		for _, part := range parts {
			w := new(big.Int).Sub(part.End.Big(), part.Start.Big())
			if part.Start != at || (w.Cmp(low) != 0 && w.Cmp(high) != 0) {
				t.Fatalf("part %s of %s in %d is out of place or uneven", part, r, n)
			}
			at = part.End
		}
		if at != r.End {
			t.Fatalf("parts of %s end at %s", r, at)
		}
	})
}

func TestRangeIDsSortAsRanges(t *testing.T) {
	fileSafe := regexp.MustCompile(`^[0-9a-fx]+-[0-9a-fx]+$`)
	rapid.Check(t, func(t *rapid.T) {
		// Both widths of tokens together: the Random ring begins where tokens fit 64 bits.
		p := rapid.SampledFrom([]tokenrange.Partitioner{tokenrange.Murmur3, tokenrange.Random}).Draw(t, "partitioner")
		a, b := rangeOn(p).Draw(t, "a"), rangeOn(p).Draw(t, "b")
		if got, want := cmp.Compare(a.ID(), b.ID()), a.Compare(b); got != want {
			t.Fatalf("%s (%s) and %s (%s): ids compare %d, ranges %d", a, a.ID(), b, b.ID(), got, want)
		}
		if !fileSafe.MatchString(a.ID()) {
			t.Fatalf("id %q is not safe as a file name", a.ID())
		}
		if p == tokenrange.Murmur3 && len(a.ID()) != 33 {
			t.Fatalf("id %q has %d characters", a.ID(), len(a.ID()))
		}
	})
	if got, want := tokenrange.Murmur3.Ring().ID(), "0000000000000000-ffffffffffffffff"; got != want {
		t.Errorf("id of the ring %q, want %q", got, want)
	}
}

func TestRangeRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rangeOn(partitioner().Draw(t, "partitioner")).Draw(t, "range")
		for _, text := range []string{r.String(), r.Start.String() + ":" + r.End.String()} {
			if back, err := tokenrange.ParseRange(text); err != nil || back != r {
				t.Fatalf("ParseRange(%q) = %s, %v", text, back, err)
			}
		}
	})
}

func TestFraction(t *testing.T) {
	ring := tokenrange.Murmur3.Ring()
	tests := []struct {
		r    tokenrange.Range
		want float64
	}{
		{ring, 1},
		{span(math.MinInt64, -1), 0.5},
		{span(0, 1<<61), 0.125},
		{span(0, 1), math.Pow(2, -64)},
	}
	for _, test := range tests {
		if got := test.r.Fraction(ring); math.Abs(got-test.want) > 1e-15*test.want {
			t.Errorf("fraction of %s = %g, want %g", test.r, got, test.want)
		}
	}
	if got := (tokenrange.Range{Start: token(0), End: tokenrange.Random.Ring().End}).Fraction(tokenrange.Random.Ring()); got != 1 {
		t.Errorf("fraction of all tokens but 0 = %g", got)
	}
}
