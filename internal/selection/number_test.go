package selection

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// drawNumber draws a decimal number's text, often near another or near the ends of 64 bits.
func drawNumber(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.StringMatching(`-?(0|00?[1-3]{1,3}|[0-9]{1,25})(\.[0-3]{1,4}0{0,2})?(E[+-]?[0-9]{1,2})?`),
		rapid.SampledFrom([]string{
			"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9223372036854775807.5",
			"-9223372036854775808.5", "92233720368547758.07E2", "18446744073709551616", "-0.0", "9999999999999999999", "-9999999999999999999",
		}),
	).Draw(t, label)
}

func TestNumbersLikeRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawNumber(t, "a"), drawNumber(t, "b")
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if !okX || !okY {
			t.Fatalf("%s or %s is no number to math/big", a, b)
		}
		if got, want := compareNumbers(a, b), x.Cmp(y); got != want {
			t.Fatalf("%s and %s compare as %d, want %d", a, b, got, want)
		}
		n, ok := parseNumber(a)
		if !ok {
			t.Fatalf("%s is no number", a)
		}
		checkBound(t, a, x, n.bound())
	})
}

// checkBound compares with the floor of a rational.
func checkBound(t *rapid.T, text string, x *big.Rat, got bound) {
	floor := new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: towards the past, as the divisor is positive
	want := bound{side: 1}
	switch {
	case !floor.IsInt64() && x.Sign() < 0:
		want = bound{-1 << 63, -1}
	case !floor.IsInt64():
		want = bound{1<<63 - 1, 1}
	default:
		want.at = floor.Int64()
		if x.IsInt() {
			want.side = 0
		}
	}
	if got != want {
		t.Fatalf("bound of %s is %v, want %v", text, got, want)
	}
}

func TestNumbersOfHugeExponents(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"1E+2147483647", "9E+2147483646", 1}, {"1E-2147483648", "0", 1}, {"-1E+2147483647", "1E-2147483648", -1},
		{"1E+2147483647", "1E+2147483647", 0}, {"10E+2147483646", "1E+2147483647", 0}, {"0.1E-2147483647", "1E-2147483648", 0},
	} {
		if got := compareNumbers(tc.a, tc.b); got != tc.want {
			t.Errorf("%s and %s compare as %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestNotNumbers(t *testing.T) {
	for _, s := range []string{"", "-", ".", "e5", "1e", "1e+", "1e1.5", "1.2.3", "0x10", "1_000", " 1", "NaN", "--1", "1e99999999999"} {
		if n, ok := parseNumber(s); ok {
			t.Errorf("%q is the number %v", s, n)
		}
	}
}
