package selection

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// number is a decimal number, 0.Digits · 10^exp, as a view of its text. It is never expanded, so that an exponent of two billion costs
// nothing.
//
// Invariant: the digits, whole and then fraction, have no zero at either end; there are none for 0, whose neg is false and exp is 0.
type number struct {
	neg             bool
	whole, fraction string
	exp             int64
}

// parseNumber reads an integer, a decimal, or one with an exponent: what BigInteger and BigDecimal write in Java, and literals. It
// reports false for anything else, and for exponents of more than 32 bits.
func parseNumber(text string) (number, bool) {
	var n number
	digits := text
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		n.neg = digits[0] == '-'
		digits = digits[1:]
	}
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		exp, err := strconv.ParseInt(digits[i+1:], 10, 32)
		if err != nil {
			return number{}, false
		}
		n.exp = exp
		digits = digits[:i]
	}
	n.whole, n.fraction, _ = strings.Cut(digits, ".")
	if n.whole == "" && n.fraction == "" || !allDigits(n.whole) || !allDigits(n.fraction) {
		return number{}, false
	}
	n.trim()
	return n, true
}

// trim takes away the zeros at both ends.
func (n *number) trim() {
	n.whole = strings.TrimLeft(n.whole, "0")
	n.exp += int64(len(n.whole))
	if n.whole == "" {
		digits := strings.TrimLeft(n.fraction, "0")
		n.exp -= int64(len(n.fraction) - len(digits))
		n.fraction = digits
	}
	n.fraction = strings.TrimRight(n.fraction, "0")
	if n.fraction == "" {
		n.whole = strings.TrimRight(n.whole, "0")
	}
	if n.zero() {
		*n = number{}
	}
}

func (n *number) zero() bool { return n.whole == "" && n.fraction == "" }

func (n *number) digits() int { return len(n.whole) + len(n.fraction) }

// digit returns the i-th digit, 0 behind the last.
func (n *number) digit(i int) byte {
	switch {
	case i < len(n.whole):
		return n.whole[i]
	case i < n.digits():
		return n.fraction[i-len(n.whole)]
	}
	return '0'
}

// sign returns -1, 0 or 1.
func (n *number) sign() int {
	switch {
	case n.zero():
		return 0
	case n.neg:
		return -1
	}
	return 1
}

// compareNumbers compares the numbers that two texts are, exactly.
func compareNumbers(a, b string) int {
	x, _ := parseNumber(a)
	y, _ := parseNumber(b)
	sign := x.sign()
	if c := cmp.Compare(sign, y.sign()); c != 0 || sign == 0 {
		return c
	}
	return sign * compareMagnitudes(&x, &y)
}

// compareMagnitudes compares numbers other than 0 without their signs.
func compareMagnitudes(x, y *number) int {
	if c := cmp.Compare(x.exp, y.exp); c != 0 {
		return c
	}
	for i := range max(x.digits(), y.digits()) {
		if c := cmp.Compare(x.digit(i), y.digit(i)); c != 0 {
			return c
		}
	}
	return 0
}

// bound places a number among the 64-bit integers.
type bound struct {
	at int64
	// side is 0 if the number is at. It is 1 if the number lies above at and below the next integer, or above all; it is -1 if the number
	// lies below all, where at is the least.
	side int
}

// bound returns the integer below the number.
func (n *number) bound() bound {
	if n.zero() {
		return bound{}
	}
	beyond := bound{math.MaxInt64, 1}
	if n.neg {
		beyond = bound{math.MinInt64, -1}
	}
	const longest = 19 // digits of a 64-bit integer
	if n.exp > longest {
		return beyond
	}
	var magnitude uint64 // 19 digits fit
	for i := range int(max(n.exp, 0)) {
		magnitude = magnitude*10 + uint64(n.digit(i)-'0')
	}
	whole := int64(n.digits()) <= n.exp
	switch {
	case !n.neg && magnitude > math.MaxInt64:
		return beyond
	case !n.neg && whole:
		return bound{int64(magnitude), 0}
	case !n.neg:
		return bound{int64(magnitude), 1}
	case magnitude > 1<<63, magnitude == 1<<63 && !whole:
		return beyond
	case whole:
		return bound{-int64(magnitude), 0} // also for 2^63, which wraps to itself
	}
	return bound{-int64(magnitude) - 1, 1}
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}
