package cqltype

import (
	"encoding/binary"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/array"
)

// varintAppender writes integers of any size as decimal text, as java.math.BigInteger.toString.
type varintAppender struct {
	slot
	b    *array.BinaryBuilder
	num  bigDecoder
	text []byte // reused
}

func (a *varintAppender) Append(v []byte) error {
	if len(v) == 0 {
		return a.null()
	}
	a.text = a.num.appendDecimal(a.text[:0], v)
	return a.appendBytes(a.b, a.text)
}

// decimalAppender writes decimals as exact text, as java.math.BigDecimal.toString.
type decimalAppender struct {
	slot
	b      *array.BinaryBuilder
	num    bigDecoder
	digits []byte // reused
	text   []byte // reused
}

func (a *decimalAppender) Append(v []byte) error {
	if len(v) == 0 {
		return a.null()
	}
	if len(v) < 5 {
		return a.fail(decodeErrorf(a.typ, "value of %d bytes, want a scale of 4 and at least 1 more", len(v)))
	}
	scale := int32(binary.BigEndian.Uint32(v))
	a.digits = a.num.appendDecimal(a.digits[:0], v[4:])
	a.text = appendScaled(a.text[:0], a.digits, int64(scale))
	return a.appendBytes(a.b, a.text)
}

// appendScaled writes digits (with a sign if negative) times 10^-scale in the canonical form that the documentation of
// java.math.BigDecimal.toString defines: plain for a scale of 0 or more and an exponent of -6 or more, else scientific.
func appendScaled(dst, digits []byte, scale int64) []byte {
	if scale == 0 {
		return append(dst, digits...)
	}
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	n := int64(len(digits))
	exponent := n - 1 - scale
	switch {
	case scale < 0 || exponent < -6:
		dst = append(dst, digits[0])
		if n > 1 {
			dst = append(dst, '.')
			dst = append(dst, digits[1:]...)
		}
		if exponent != 0 {
			dst = append(dst, 'E')
			if exponent > 0 {
				dst = append(dst, '+')
			}
			dst = strconv.AppendInt(dst, exponent, 10)
		}
		return dst
	case scale < n:
		dst = append(dst, digits[:n-scale]...)
		dst = append(dst, '.')
		return append(dst, digits[n-scale:]...)
	default:
		dst = append(dst, "0."...)
		for range scale - n { // at most 5
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
}
