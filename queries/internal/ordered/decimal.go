package ordered

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Decimal is a number written in decimal: 0.Digits · 10^Exp.
//
// Invariant: Digits has no zero at either end; it is empty for 0, whose Neg is false and Exp is 0.
type Decimal struct {
	Neg    bool
	Digits []byte // '0' to '9'
	Exp    int64
}

// ParseDecimal reads the text of a java.math.BigInteger or BigDecimal, such as -12, 1.50 and 1.5E-7. Its digits are put into buf, which
// may be nil.
func ParseDecimal(text, buf []byte) (Decimal, error) {
	d := Decimal{Digits: buf[:0]}
	rest := text
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		d.Neg = rest[0] == '-'
		rest = rest[1:]
	}
	digits, point := 0, false
	for len(rest) > 0 && rest[0] != 'E' && rest[0] != 'e' {
		switch c := rest[0]; {
		case c == '.' && !point:
			point = true
		case c >= '0' && c <= '9':
			digits++
			if !point {
				d.Exp++
			}
			if c == '0' && len(d.Digits) == 0 {
				d.Exp--
			} else {
				d.Digits = append(d.Digits, c)
			}
		default:
			return Decimal{}, fmt.Errorf("%q is no number: %w", text, ErrCorrupt)
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		e, err := strconv.ParseInt(string(rest[1:]), 10, 33)
		if err != nil {
			return Decimal{}, fmt.Errorf("%q is no number: %w", text, ErrCorrupt)
		}
		d.Exp += e
	}
	if digits == 0 {
		return Decimal{}, fmt.Errorf("%q is no number: %w", text, ErrCorrupt)
	}
	for len(d.Digits) > 0 && d.Digits[len(d.Digits)-1] == '0' {
		d.Digits = d.Digits[:len(d.Digits)-1]
	}
	if len(d.Digits) == 0 {
		return Decimal{Digits: d.Digits}, nil
	}
	return d, nil
}

// Signs of a decimal, the first byte of its content.
const (
	negative = 0x00
	zero     = 0x01
	positive = 0x02
)

// AppendContent appends bytes whose order is the order of the numbers: the sign, then the exponent and the digits, which are
// complemented and ended by FF if the number is negative.
func (d Decimal) AppendContent(dst []byte) []byte {
	switch {
	case len(d.Digits) == 0:
		return append(dst, zero)
	case !d.Neg:
		dst = append(dst, positive)
		dst = AppendInt(dst, d.Exp, 8)
		return append(dst, d.Digits...)
	}
	dst = append(dst, negative)
	dst = AppendInt(dst, ^d.Exp, 8)
	for _, c := range d.Digits {
		dst = append(dst, ^c)
	}
	return append(dst, 0xff)
}

// DecimalOf returns the number whose content is o. Its digits are put into buf, which may be nil.
func DecimalOf(o, buf []byte) (Decimal, error) {
	if len(o) == 1 && o[0] == zero {
		return Decimal{Digits: buf[:0]}, nil
	}
	if len(o) < 10 || o[0] != positive && o[0] != negative {
		return Decimal{}, ErrCorrupt
	}
	d := Decimal{Neg: o[0] == negative, Exp: int64(binary.BigEndian.Uint64(o[1:]) ^ 1<<63)}
	d.Digits = append(buf[:0], o[9:]...)
	if d.Neg {
		d.Exp = ^d.Exp
		last := len(d.Digits) - 1
		if d.Digits[last] != 0xff || last == 0 {
			return Decimal{}, ErrCorrupt
		}
		d.Digits = d.Digits[:last]
		for i, c := range d.Digits {
			d.Digits[i] = ^c
		}
	}
	for _, c := range d.Digits {
		if c < '0' || c > '9' {
			return Decimal{}, ErrCorrupt
		}
	}
	if d.Digits[0] == '0' || d.Digits[len(d.Digits)-1] == '0' || d.Exp > math.MaxInt64/2 || d.Exp < math.MinInt64/2 {
		return Decimal{}, ErrCorrupt
	}
	return d, nil
}

// maxFill is how many zeros AppendText fills in to write a number without an exponent.
const maxFill = 40

// AppendText appends the number in its shortest form: without zeros at the end of a fraction, and without an exponent unless that would
// take more than 40 zeros.
func (d Decimal) AppendText(dst []byte) []byte {
	if d.Neg {
		dst = append(dst, '-')
	}
	n := int64(len(d.Digits))
	switch {
	case n == 0:
		return append(dst, '0')
	case d.Exp <= 0 && d.Exp >= -maxFill:
		dst = append(dst, "0."...)
		dst = appendZeros(dst, -d.Exp)
		return append(dst, d.Digits...)
	case d.Exp > 0 && d.Exp < n:
		dst = append(dst, d.Digits[:d.Exp]...)
		dst = append(dst, '.')
		return append(dst, d.Digits[d.Exp:]...)
	case d.Exp >= n && d.Exp-n <= maxFill:
		dst = append(dst, d.Digits...)
		return appendZeros(dst, d.Exp-n)
	}
	dst = append(dst, d.Digits[0])
	if n > 1 {
		dst = append(dst, '.')
		dst = append(dst, d.Digits[1:]...)
	}
	dst = append(dst, 'E')
	if d.Exp > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, d.Exp-1, 10)
}

// maxInteger bounds the digits of a varint; Cassandra refuses values of 2 GiB, and no client sends one of ten million digits.
const maxInteger = 10_000_000

// AppendInteger appends the number without an exponent. It errs for a number that is no integer.
func (d Decimal) AppendInteger(dst []byte) ([]byte, error) {
	n := int64(len(d.Digits))
	if n == 0 {
		return append(dst, '0'), nil
	}
	if d.Exp < n || d.Exp > maxInteger {
		return nil, ErrCorrupt
	}
	if d.Neg {
		dst = append(dst, '-')
	}
	dst = append(dst, d.Digits...)
	return appendZeros(dst, d.Exp-n), nil
}

func appendZeros(dst []byte, n int64) []byte {
	dst = slices.Grow(dst, int(n))
	for range n {
		dst = append(dst, '0')
	}
	return dst
}
