package cqltype

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"strconv"
)

// bigDecoder turns big-endian two's complement integers into decimal text. Up to 16 bytes it needs no memory of its own.
type bigDecoder struct {
	abs []byte // magnitude, reused
	num big.Int
}

// appendDecimal appends the decimal digits of v, which is not empty, with a leading minus if it is negative.
func (d *bigDecoder) appendDecimal(dst, v []byte) []byte {
	if len(v) <= 8 {
		return strconv.AppendInt(dst, signExtend(v), 10)
	}
	if len(v) <= 16 {
		hi, lo := uint64(signExtend(v[:len(v)-8])), binary.BigEndian.Uint64(v[len(v)-8:])
		if int64(hi) < 0 {
			var carry uint64
			lo, carry = bits.Add64(^lo, 1, 0)
			hi = ^hi + carry
			dst = append(dst, '-')
		}
		return appendUint128(dst, hi, lo)
	}
	d.abs = append(d.abs[:0], v...)
	if v[0] >= 0x80 {
		carry := true
		for i := len(d.abs) - 1; i >= 0; i-- {
			d.abs[i] = ^d.abs[i]
			if carry {
				d.abs[i]++
				carry = d.abs[i] == 0
			}
		}
		dst = append(dst, '-')
	}
	return d.num.SetBytes(d.abs).Append(dst, 10)
}

// signExtend reads 1 to 8 bytes.
func signExtend(v []byte) int64 {
	n := int64(int8(v[0]))
	for _, c := range v[1:] {
		n = n<<8 | int64(c)
	}
	return n
}

// appendUint128 appends hi·2^64 + lo, at most 2^127, in decimal. Such a number over 10^19 fits 64 bits.
func appendUint128(dst []byte, hi, lo uint64) []byte {
	if hi == 0 {
		return strconv.AppendUint(dst, lo, 10)
	}
	high, low := bits.Div64(hi, lo, 1e19)
	return appendPadded(strconv.AppendUint(dst, high, 10), low)
}

// appendPadded appends n, below 10^19, as 19 digits.
func appendPadded(dst []byte, n uint64) []byte {
	var digits [19]byte
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, digits[:]...)
}
