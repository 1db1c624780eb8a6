package cqltype

// AppendUUID appends the 36 characters of a UUID, such as "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", to dst. u holds its 16 bytes; AppendUUID
// panics if it is shorter.
func AppendUUID(dst, u []byte) []byte {
	const hex = "0123456789abcdef"
	for i, c := range u[:16] {
		switch i {
		case 4, 6, 8, 10:
			dst = append(dst, '-')
		}
		dst = append(dst, hex[c>>4], hex[c&15])
	}
	return dst
}
