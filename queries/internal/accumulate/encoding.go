package accumulate

import "encoding/binary"

// takeUvarint reads an unsigned varint and returns the bytes behind it.
func takeUvarint(src []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, nil, ErrCorrupt
	}
	return v, src[n:], nil
}

// takeVarint reads a zigzag varint and returns the bytes behind it.
func takeVarint(src []byte) (int64, []byte, error) {
	v, n := binary.Varint(src)
	if n <= 0 {
		return 0, nil, ErrCorrupt
	}
	return v, src[n:], nil
}

// takeUint64 reads a big-endian 64-bit integer and returns the bytes behind it.
func takeUint64(src []byte) (uint64, []byte, error) {
	if len(src) < 8 {
		return 0, nil, ErrCorrupt
	}
	return binary.BigEndian.Uint64(src), src[8:], nil
}

// takeCount reads a count of values seen so far, which fits a bigint.
func takeCount(src []byte) (int64, []byte, error) {
	v, rest, err := takeUvarint(src)
	if err != nil || v > 1<<62 {
		return 0, nil, ErrCorrupt
	}
	return int64(v), rest, nil
}
