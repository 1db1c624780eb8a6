package primitive

import (
	"encoding/binary"
	"math/bits"
)

// Uvint reads an unsigned variable-length integer from the start of b and
// returns how many bytes it takes, 0 if b is too short.
//
//	0xxxxxxx                    7 bits in one byte
//	10xxxxxx xxxxxxxx           14 bits in two
//	...                         as many bytes follow as there are leading ones
//	11111111 and 8 bytes        64 bits
//
// The form need not be the shortest.
func Uvint(b []byte) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	first := b[0]
	if first < 0x80 {
		return uint64(first), 1
	}
	if first < 0xc0 && len(b) > 1 {
		return uint64(first&0x3f)<<8 | uint64(b[1]), 2
	}
	more := bits.LeadingZeros8(^first)
	if len(b) > 8 {
		// One load of the eight bytes behind the first, of which the leading ones count.
		rest := binary.BigEndian.Uint64(b[1:])
		if more == 8 {
			return rest, 9
		}
		v = uint64(first) & (0xff >> more)
		return v<<(8*more) | rest>>(64-8*more), more + 1
	}
	if len(b) < more+1 {
		return 0, 0
	}
	v = uint64(first) & (0xff >> more)
	for _, c := range b[1 : more+1] {
		v = v<<8 | uint64(c)
	}
	return v, more + 1
}

// AppendUvint appends v in the shortest form that [Uvint] reads.
func AppendUvint(b []byte, v uint64) []byte {
	extra := 0
	for extra < 8 && v>>(7+7*extra) != 0 {
		extra++
	}
	if extra == 8 {
		return binary.BigEndian.AppendUint64(append(b, 0xff), v)
	}
	b = append(b, ^byte(0xff>>extra)|byte(v>>(8*extra)))
	for i := extra - 1; i >= 0; i-- {
		b = append(b, byte(v>>(8*i)))
	}
	return b
}

// Zigzag maps the unsigned numbers that stand for signed ones back: 0, 1, 2, 3
// are 0, -1, 1, -2.
func Zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
