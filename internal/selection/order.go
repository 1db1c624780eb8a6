package selection

import (
	"bytes"
	"cmp"
	"net/netip"
	"strings"
)

func compareBytes(a, b string) int { return strings.Compare(a, b) }

// compareTimeUUIDs compares 16 bytes each as Cassandra's TimeUUIDType does: the time, then the other eight bytes as signed ones.
func compareTimeUUIDs(a, b string) int {
	if c := cmp.Compare(uuidTime(a), uuidTime(b)); c != 0 {
		return c
	}
	const signs = 0x8080808080808080
	return cmp.Compare(bigEndian(a[8:])^signs, bigEndian(b[8:])^signs)
}

// uuidTime brings the time of a version 1 UUID into order: its high, middle and low parts. The version, which is the same for all, stays
// in front of it.
func uuidTime(u string) uint64 {
	x := bigEndian(u)
	return x<<48 | x>>16&0xffff<<32 | x>>32
}

func bigEndian(s string) uint64 {
	_ = s[7]
	return uint64(s[0])<<56 | uint64(s[1])<<48 | uint64(s[2])<<40 | uint64(s[3])<<32 |
		uint64(s[4])<<24 | uint64(s[5])<<16 | uint64(s[6])<<8 | uint64(s[7])
}

// compareAddresses compares the bytes of two addresses, of which there are 4 or 16. An IPv4 address in IPv6 form is one of IPv6.
func compareAddresses(a, b string) int {
	var x, y [16]byte
	return bytes.Compare(addressBytes(&x, a), addressBytes(&y, b))
}

// addressBytes returns the bytes of an address, none for what is not an address. They are put into buf.
func addressBytes(buf *[16]byte, text string) []byte {
	addr, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		return nil
	case addr.Is4():
		four := addr.As4()
		return buf[:copy(buf[:], four[:])]
	}
	*buf = addr.As16()
	return buf[:]
}

// compareFloats has -0 equal to 0, and NaN equal to NaN and above all others.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return cmp.Compare(isNaN(a), isNaN(b))
}

// isNaN is 1 for NaN.
func isNaN(f float64) int {
	if f != f {
		return 1
	}
	return 0
}
