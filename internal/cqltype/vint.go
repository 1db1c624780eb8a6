package cqltype

import (
	"encoding/binary"
	"math/bits"
)

// uvint reads an unsigned variable-length integer (org.apache.cassandra.utils.vint.VIntCoding): the leading one-bits of the first byte
// count the bytes that follow it, and its other bits are the highest of the value. n is the number of bytes read, 0 if b is too short.
func uvint(b []byte) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	first := b[0]
	if first < 0x80 {
		return uint64(first), 1
	}
	extra := bits.LeadingZeros8(^first)
	if len(b) <= extra {
		return 0, 0
	}
	if extra == 8 {
		return binary.BigEndian.Uint64(b[1:]), 9
	}
	v = uint64(first) & (0xff >> extra)
	for _, c := range b[1 : 1+extra] {
		v = v<<8 | uint64(c)
	}
	return v, 1 + extra
}

// vint reads a signed variable-length integer: a uvint whose lowest bit is the sign (zigzag).
func vint(b []byte) (v int64, n int) {
	u, n := uvint(b)
	return int64(u>>1) ^ -int64(u&1), n
}
