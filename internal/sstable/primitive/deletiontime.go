package primitive

import (
	"encoding/binary"
	"errors"
	"math"
)

const (
	// NoTimestamp is the write time, in microseconds since 1970, of what was
	// never written.
	NoTimestamp = math.MinInt64
	// NoDeletionTime is the local deletion time, in seconds since 1970, of what
	// is neither deleted nor expiring.
	NoDeletionTime = math.MaxInt64
	// InvalidDeletionTime stands in for an expiration that was computed past
	// what 32 bits could hold. Cassandra 5.0 reads such times as this one: the
	// latest that there is.
	InvalidDeletionTime = math.MaxUint32 - 1
	// ExpiredTTL marks the liveness of a view's row as expired whatever the time.
	ExpiredTTL = math.MaxInt32
)

// DeletionTime is a tombstone: everything written up to a moment is deleted.
type DeletionTime struct {
	// MarkedForDeleteAt is the write time of the deletion, in microseconds since 1970.
	MarkedForDeleteAt int64
	// LocalDeletionTime is the server's clock at the deletion, in seconds since 1970.
	LocalDeletionTime int64
}

// Live is the deletion of nothing.
var Live = DeletionTime{NoTimestamp, NoDeletionTime}

// IsLive reports whether nothing is deleted. Cassandra 5.0 may write [Live]
// with another local deletion time (CASSANDRA-21333), so that does not count.
func (d DeletionTime) IsLive() bool { return d.MarkedForDeleteAt == NoTimestamp }

// Deletes reports whether what was written at timestamp is deleted. A deletion
// wins against a write of the same time.
func (d DeletionTime) Deletes(timestamp int64) bool { return timestamp <= d.MarkedForDeleteAt }

// Supersedes reports whether d wins over e.
func (d DeletionTime) Supersedes(e DeletionTime) bool {
	return d.MarkedForDeleteAt > e.MarkedForDeleteAt ||
		d.MarkedForDeleteAt == e.MarkedForDeleteAt && d.LocalDeletionTime > e.LocalDeletionTime
}

// ErrDeletionTime means that bytes are not a partition's deletion time.
var ErrDeletionTime = errors.New("malformed deletion time")

// PartitionDeletion reads the deletion time of a partition from the start of b
// and returns how many bytes it takes, 0 if b is too short. Inside a partition,
// deletion times have another form.
//
// The form of versions up to nb is
//
//	4 bytes local deletion time, 8 bytes marked for delete at
//
// and since oa (unsigned) it is one byte 0x80 for [Live], or else
//
//	8 bytes marked for delete at, never negative, 4 bytes local deletion time, unsigned
func PartitionDeletion(b []byte, unsigned bool) (d DeletionTime, n int, err error) {
	const size = 12
	if !unsigned {
		if len(b) < size {
			return d, 0, nil
		}
		d = DeletionTime{int64(binary.BigEndian.Uint64(b[4:])), LegacyDeletionTime(int32(binary.BigEndian.Uint32(b)))}
		if d.IsLive() {
			d = Live
		}
		return d, size, nil
	}
	switch {
	case len(b) == 0:
		return d, 0, nil
	case b[0] == 0x80:
		return Live, 1, nil
	case b[0] > 0x80:
		return d, 0, ErrDeletionTime
	case len(b) < size:
		return d, 0, nil
	}
	d = DeletionTime{int64(binary.BigEndian.Uint64(b)), UnsignedDeletionTime(binary.BigEndian.Uint32(b[8:]))}
	return d, size, nil
}

// LegacyDeletionTime is the meaning of a local deletion time of versions up to
// nb, a signed number, where something is deleted or expires.
func LegacyDeletionTime(v int32) int64 {
	if v < 0 {
		return InvalidDeletionTime
	}
	return int64(v)
}

// UnsignedDeletionTime is the same of versions since oa.
func UnsignedDeletionTime(v uint32) int64 { return min(int64(v), InvalidDeletionTime) }
