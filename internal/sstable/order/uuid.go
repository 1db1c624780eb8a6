package order

import (
	"cmp"
	"encoding/binary"
)

// halves reads the two halves of a UUID.
func halves(v []byte) (msb, lsb uint64) {
	return binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])
}

// compareUUID orders by version; UUIDs of version 1 then by their time, others
// by their first half; and last by the second half.
func compareUUID(a, b []byte) int {
	if len(a) != 16 || len(b) != 16 {
		return cmp.Compare(len(a), len(b))
	}
	aMSB, aLSB := halves(a)
	bMSB, bLSB := halves(b)
	version := aMSB >> 12 & 0xf
	if c := cmp.Compare(version, bMSB>>12&0xf); c != 0 {
		return c
	}
	if version == 1 {
		aMSB, bMSB = timestampFirst(aMSB), timestampFirst(bMSB)
	}
	return cmp.Or(cmp.Compare(aMSB, bMSB), cmp.Compare(aLSB, bLSB))
}

// TimeUUID orders UUIDs of version 1 by their time, then by the bytes of the
// second half as signed numbers.
func TimeUUID(a, b []byte) int {
	if len(a) != 16 || len(b) != 16 {
		return cmp.Compare(len(a), len(b))
	}
	aMSB, aLSB := halves(a)
	bMSB, bLSB := halves(b)
	if c := cmp.Compare(int64(timestampFirst(aMSB)), int64(timestampFirst(bMSB))); c != 0 {
		return c
	}
	// Flipping the top bit of each byte makes the order of signed bytes that of
	// an unsigned number; all but the first are flipped for a signed one.
	const flip = 0x0080808080808080
	return cmp.Compare(int64(aLSB^flip), int64(bLSB^flip))
}

// timestampFirst moves the highest bits of the time, with the version in front,
// to the top: time_low, time_mid, time_hi become time_hi, time_mid, time_low.
func timestampFirst(msb uint64) uint64 {
	return msb<<48 | msb<<16&0xffff_0000_0000 | msb>>32
}
