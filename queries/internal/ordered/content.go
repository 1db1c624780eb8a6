package ordered

import (
	"fmt"
	"net/netip"
)

// AppendTimeUUID appends the 16 bytes of a timeuuid in the order in which Cassandra compares them: first the time, from its highest
// bits, then the other eight bytes as signed numbers (TimeUUIDType.compareCustom).
func AppendTimeUUID(dst, u []byte) []byte {
	return append(dst,
		u[6]^0x80, u[7], u[4], u[5], u[0], u[1], u[2], u[3],
		u[8]^0x80, u[9]^0x80, u[10]^0x80, u[11]^0x80, u[12]^0x80, u[13]^0x80, u[14]^0x80, u[15]^0x80)
}

// TimeUUID appends the timeuuid whose ordered bytes are o.
func TimeUUID(dst, o []byte) ([]byte, error) {
	if len(o) != 16 {
		return nil, ErrCorrupt
	}
	return append(dst,
		o[4], o[5], o[6], o[7], o[2], o[3], o[0]^0x80, o[1],
		o[8]^0x80, o[9]^0x80, o[10]^0x80, o[11]^0x80, o[12]^0x80, o[13]^0x80, o[14]^0x80, o[15]^0x80), nil
}

// AppendInet appends the address that text is: its bytes, as Cassandra compares them. Addresses of 4 and of 16 bytes are told apart by
// their length.
func AppendInet(dst, text []byte) ([]byte, error) {
	addr, err := netip.ParseAddr(string(text))
	if err != nil || addr.Zone() != "" {
		return nil, fmt.Errorf("%q is no address: %w", text, ErrCorrupt)
	}
	return append(dst, addr.AsSlice()...), nil
}

// Inet appends the text of the address whose ordered bytes are o.
func Inet(dst, o []byte) ([]byte, error) {
	addr, ok := netip.AddrFromSlice(o)
	if !ok {
		return nil, ErrCorrupt
	}
	return addr.AppendTo(dst), nil
}
