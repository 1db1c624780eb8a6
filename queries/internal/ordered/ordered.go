package ordered

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// ErrCorrupt is returned, wrapped or not, for bytes that no function of this package wrote.
var ErrCorrupt = errors.New("corrupt ordered bytes")

// The first byte of a value.
const (
	Null    byte = 0x00
	Present byte = 0x01
)

// AppendInt appends v, which fits in width bytes (1, 2, 4 or 8).
func AppendInt(dst []byte, v int64, width int) []byte {
	switch width {
	case 1:
		return append(dst, byte(v)^0x80)
	case 2:
		return binary.BigEndian.AppendUint16(dst, uint16(v)^1<<15)
	case 4:
		return binary.BigEndian.AppendUint32(dst, uint32(v)^1<<31)
	default:
		return binary.BigEndian.AppendUint64(dst, uint64(v)^1<<63)
	}
}

// Int reads what AppendInt wrote and returns the bytes behind it.
func Int(src []byte, width int) (v int64, rest []byte, err error) {
	if len(src) < width {
		return 0, nil, ErrCorrupt
	}
	switch width {
	case 1:
		v = int64(int8(src[0] ^ 0x80))
	case 2:
		v = int64(int16(binary.BigEndian.Uint16(src) ^ 1<<15))
	case 4:
		v = int64(int32(binary.BigEndian.Uint32(src) ^ 1<<31))
	default:
		v = int64(binary.BigEndian.Uint64(src) ^ 1<<63)
	}
	return v, src[width:], nil
}

// FloatBits returns bits whose unsigned order is the order of floats.
func FloatBits(v float64) uint64 {
	if v != v {
		return math.MaxUint64
	}
	b := math.Float64bits(v)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

// FloatOf returns the float that has the given FloatBits. Bits of no float give NaN.
func FloatOf(b uint64) float64 {
	if b>>63 == 1 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}

// AppendFloat appends v. A float of 32 bits is appended as the float of 64 bits that it equals.
func AppendFloat(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(dst, FloatBits(v))
}

// Float reads what AppendFloat wrote and returns the bytes behind it.
func Float(src []byte) (v float64, rest []byte, err error) {
	if len(src) < 8 {
		return 0, nil, ErrCorrupt
	}
	return FloatOf(binary.BigEndian.Uint64(src)), src[8:], nil
}

// AppendBytes appends v so that the end of it can be found.
func AppendBytes(dst, v []byte) []byte {
	for {
		i := bytes.IndexByte(v, 0)
		if i < 0 {
			dst = append(dst, v...)
			return append(dst, 0)
		}
		dst = append(dst, v[:i]...)
		dst = append(dst, 0, 0xff)
		v = v[i+1:]
	}
}

// Bytes reads what AppendBytes wrote, appends it to dst, and returns that and the bytes behind it.
func Bytes(dst, src []byte) (v, rest []byte, err error) {
	for {
		i := bytes.IndexByte(src, 0)
		if i < 0 {
			return nil, nil, ErrCorrupt
		}
		dst = append(dst, src[:i]...)
		src = src[i+1:]
		if len(src) == 0 || src[0] != 0xff {
			return dst, src, nil
		}
		dst = append(dst, 0)
		src = src[1:]
	}
}
