package tokenrange

import (
	"encoding/binary"
	"fmt"
	"math"
)

// MaxKeyComponent is the most bytes that one column of a composite partition key can have.
const MaxKeyComponent = math.MaxUint16

// PartitionKey returns the serialized partition key of its columns' serialized values, in the
// order of the table's definition: what [Partitioner.Token] hashes. See [AppendPartitionKey].
func PartitionKey(components ...[]byte) []byte {
	return AppendPartitionKey(nil, components...)
}

// AppendPartitionKey appends the serialized partition key to dst, without an allocation where
// dst has room. The key of one column is its value; of several, each value is framed as by
// Cassandra's CompositeType: a length of 16 bits, big-endian, the bytes, and a zero.
//
// It panics on a column of more than [MaxKeyComponent] bytes in a composite key: Cassandra can't
// hold such a key, so callers that take values from a user check first.
func AppendPartitionKey(dst []byte, components ...[]byte) []byte {
	if len(components) == 1 {
		return append(dst, components[0]...)
	}
	for i, c := range components {
		if len(c) > MaxKeyComponent {
			panic(fmt.Sprintf("tokenrange: column %d of the partition key has %d bytes, more than %d", i, len(c), MaxKeyComponent))
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(c)))
		dst = append(dst, c...)
		dst = append(dst, 0)
	}
	return dst
}

// SplitPartitionKey appends to dst the serialized values of the columns of a partition key, as
// slices of key: what [AppendPartitionKey] joins. It errs with [ErrMalformed] where key is not
// the key of so many columns.
func SplitPartitionKey(dst [][]byte, key []byte, columns int) ([][]byte, error) {
	if columns == 1 {
		return append(dst, key), nil
	}
	rest := key
	for i := range columns {
		if len(rest) < 3 || int(binary.BigEndian.Uint16(rest)) > len(rest)-3 {
			return dst, fmt.Errorf("split partition key: column %d of %d ends behind the key of %d bytes: %w", i, columns, len(key), ErrMalformed)
		}
		n := 2 + int(binary.BigEndian.Uint16(rest))
		if rest[n] != 0 {
			return dst, fmt.Errorf("split partition key: no zero behind column %d: %w", i, ErrMalformed)
		}
		dst = append(dst, rest[2:n:n])
		rest = rest[n+1:]
	}
	if len(rest) > 0 {
		return dst, fmt.Errorf("split partition key: %d bytes behind the last of %d columns: %w", len(rest), columns, ErrMalformed)
	}
	return dst, nil
}
