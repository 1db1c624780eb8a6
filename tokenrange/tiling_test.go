package tokenrange_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

func TestCheckTiling(t *testing.T) {
	tests := []struct {
		name   string
		asked  []tokenrange.Range
		pieces []tokenrange.Range
		want   *tokenrange.TilingError
	}{
		{"nothing of nothing", nil, nil, nil},
		{"one piece", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(0, 9)}, nil},
		{"pieces in any order", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(4, 9), span(0, 1), span(1, 4)}, nil},
		{"two parts", []tokenrange.Range{span(0, 2), span(5, 9)}, []tokenrange.Range{span(6, 9), span(5, 6), span(0, 2)}, nil},
		{"a piece across the border of touching parts", []tokenrange.Range{span(0, 4), span(4, 9)}, []tokenrange.Range{span(0, 9)}, nil},
		{"nothing of something", []tokenrange.Range{span(0, 9)}, nil, &tokenrange.TilingError{Fault: tokenrange.Gap, Range: span(0, 9)}},
		{"gap at the start", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(1, 9)}, &tokenrange.TilingError{Fault: tokenrange.Gap, Range: span(0, 1)}},
		{"gap at the end", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(0, 8)}, &tokenrange.TilingError{Fault: tokenrange.Gap, Range: span(8, 9)}},
		{"gap within", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(0, 3), span(4, 9)}, &tokenrange.TilingError{Fault: tokenrange.Gap, Range: span(3, 4)}},
		{"first of two gaps", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(6, 7), span(0, 3)}, &tokenrange.TilingError{Fault: tokenrange.Gap, Range: span(3, 6)}},
		{"the same piece twice", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(3, 9), span(0, 3), span(0, 3)}, &tokenrange.TilingError{Fault: tokenrange.Overlap, Range: span(0, 3)}},
		{"overlap", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(0, 5), span(3, 9)}, &tokenrange.TilingError{Fault: tokenrange.Overlap, Range: span(3, 5)}},
		{"a piece within another", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(0, 9), span(3, 4)}, &tokenrange.TilingError{Fault: tokenrange.Overlap, Range: span(3, 4)}},
		{"overlap before gap", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(0, 5), span(4, 6)}, &tokenrange.TilingError{Fault: tokenrange.Overlap, Range: span(4, 5)}},
		{"gap before overlap", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(1, 9), span(8, 9)}, &tokenrange.TilingError{Fault: tokenrange.Gap, Range: span(0, 1)}},
		{"as wide in sum, with a gap and an overlap", []tokenrange.Range{span(0, 8)}, []tokenrange.Range{span(0, 4), span(2, 6)}, &tokenrange.TilingError{Fault: tokenrange.Overlap, Range: span(2, 4)}},
		{"before the part", []tokenrange.Range{span(5, 9)}, []tokenrange.Range{span(3, 9)}, &tokenrange.TilingError{Fault: tokenrange.Outside, Range: span(3, 5)}},
		{"between the parts", []tokenrange.Range{span(0, 2), span(5, 9)}, []tokenrange.Range{span(0, 9)}, &tokenrange.TilingError{Fault: tokenrange.Outside, Range: span(2, 5)}},
		{"of nothing asked", nil, []tokenrange.Range{span(0, 9)}, &tokenrange.TilingError{Fault: tokenrange.Outside, Range: span(0, 9)}},
		{"a piece that wraps", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(0, 9), span(5, 3)}, &tokenrange.TilingError{Fault: tokenrange.Malformed, Range: span(5, 3)}},
		{"an empty piece", []tokenrange.Range{span(0, 9)}, []tokenrange.Range{span(0, 9), span(5, 5)}, &tokenrange.TilingError{Fault: tokenrange.Malformed, Range: span(5, 5)}},
	}
	for _, test := range tests {
		err := tokenrange.CheckTiling(tokenrange.NewIntervalSet(test.asked...), test.pieces)
		var got *tokenrange.TilingError
		switch {
		case test.want == nil && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != nil && (!errors.As(err, &got) || *got != *test.want):
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

func TestTilingErrorNamesTokens(t *testing.T) {
	for fault, want := range map[tokenrange.TilingFault]string{
		tokenrange.Gap:       "gap: tokens (3, 4] are not covered",
		tokenrange.Overlap:   "overlap: tokens (3, 4] are covered more than once",
		tokenrange.Outside:   "outside: tokens (3, 4] are covered but were not asked for",
		tokenrange.Malformed: "malformed range (3, 4]",
	} {
		if got := (&tokenrange.TilingError{Fault: fault, Range: span(3, 4)}).Error(); got != want {
			t.Errorf("error %q, want %q", got, want)
		}
	}
}

// TestCheckTilingAgainstCounting counts how often each of a few tokens is covered.
func TestCheckTilingAgainstCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := tokenrange.NewIntervalSet(smallRanges().Draw(t, "asked")...)
		pieces := slices.DeleteFunc(smallRanges().Draw(t, "pieces"), func(r tokenrange.Range) bool { return !r.IsValid() })
		if rapid.Bool().Draw(t, "good pieces") {
			pieces = nil
			for r := range asked.All() {
				pieces = append(pieces, r.Split(rapid.IntRange(1, 4).Draw(t, "parts"))...)
			}
		}
		pieces = rapid.Permutation(pieces).Draw(t, "order")
		var fault tokenrange.TilingFault
		var at int64
		for i := int64(1); i < 64 && fault == ""; i++ {
			times := 0
			for _, r := range pieces {
				if r.Contains(token(i)) {
					times++
				}
			}
			at = i
			switch inside := asked.Contains(token(i)); {
			case inside && times == 0:
				fault = tokenrange.Gap
			case !inside && times > 0:
				fault = tokenrange.Outside
			case times > 1:
				fault = tokenrange.Overlap
			}
		}
		err := tokenrange.CheckTiling(asked, pieces)
		if fault == "" {
			if err != nil {
				t.Fatalf("%s tile %s: %v", pieces, asked.Ranges(), err)
			}
			return
		}
		var got *tokenrange.TilingError
		if !errors.As(err, &got) || got.Range.Start != token(at-1) {
			t.Fatalf("first fault is %s at token %d, got %v", fault, at, err)
		}
		// Tokens outside of the part that are covered twice are both faults at once.
		if got.Fault != fault && (fault != tokenrange.Outside || got.Fault != tokenrange.Overlap) {
			t.Fatalf("first fault is %s at token %d, got %v", fault, at, err)
		}
	})
}

// TestCheckTilingFindsOneToken damages a tiling of a whole ring by a single token.
func TestCheckTilingFindsOneToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ring := partitioner().Draw(t, "partitioner").Ring()
		pieces := ring.Split(rapid.IntRange(2, 500).Draw(t, "pieces"))
		asked := tokenrange.NewIntervalSet(ring)
		if err := tokenrange.CheckTiling(asked, pieces); err != nil {
			t.Fatal(err)
		}
		i := rapid.IntRange(0, len(pieces)-2).Draw(t, "damaged")
		border := pieces[i].End
		next := tokenAfter(pieces[i+1].Start, pieces[i+1].End)
		var want tokenrange.TilingError
		if rapid.Bool().Draw(t, "gap") {
			want = tokenrange.TilingError{Fault: tokenrange.Gap, Range: tokenrange.Range{Start: border, End: next}}
			pieces[i+1].Start = next
		} else {
			want = tokenrange.TilingError{Fault: tokenrange.Overlap, Range: tokenrange.Range{Start: border, End: next}}
			pieces[i].End = next
		}
		var got *tokenrange.TilingError
		if err := tokenrange.CheckTiling(asked, pieces); !errors.As(err, &got) || *got != want {
			t.Fatalf("got %v, want %v", err, &want)
		}
	})
}

// tokenAfter returns the token next to start, by halving (start, end] until one token is left.
func tokenAfter(start, end tokenrange.Token) tokenrange.Token {
	r := tokenrange.Range{Start: start, End: end}
	for {
		first, _, ok := r.Halve()
		if !ok {
			return r.End
		}
		r = first
	}
}
