package statistics

import (
	"fmt"
	"math"

	"manifest/internal/cqltype"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/primitive"
)

// Stats are figures about an SSTable. They are for plans, progress and lists,
// never for leaving anything out: see what Cassandra had to correct in them in
// CASSANDRA-14861 and others.
type Stats struct {
	Partitions int64 // that have any content, tombstones too
	Rows       int64
	Cells      int64

	// MinTimestamp and MaxTimestamp bound the write times, in microseconds since 1970.
	MinTimestamp, MaxTimestamp int64
	// MaxLocalDeletionTime is when the last of it expires, in seconds since
	// 1970: primitive.NoDeletionTime where something never does.
	MaxLocalDeletionTime int64
	// MaxTTL is the longest time to live in seconds; 0 if nothing expires.
	MaxTTL int32
	// Tombstones counts what is deleted or will expire, about.
	Tombstones int64
	// RepairedAt is the time of the repair, in milliseconds since 1970, that
	// proved this SSTable to be on all replicas; 0 if none did.
	RepairedAt int64
	Level      int
	// CompressionRatio is stored size by content size, -1 if not compressed.
	CompressionRatio float64
	// Host is the id of the node that wrote the SSTable, "" in versions before nb
	// but me, and where it is not said. A node has SSTables of others too, which
	// came over whole.
	Host string
	// FirstKey and LastKey are serialized partition keys; nil in versions
	// before oa.
	FirstKey, LastKey []byte
}

// readStats takes the component apart; nil if it is not as its version says.
func readStats(b []byte, version component.Version) *Stats {
	r := primitive.NewReader(b)
	s := &Stats{}
	for _, e := range estimatedHistogram(r) { // of partition sizes
		s.Partitions += e
	}
	estimatedHistogram(r) // of cells by partition
	r.Bytes(12)           // commit log position
	s.MinTimestamp, s.MaxTimestamp = r.Int64(), r.Int64()
	r.Bytes(4)
	if version.HasUnsignedDeletionTime() {
		if s.MaxLocalDeletionTime = int64(r.Uint32()); s.MaxLocalDeletionTime == math.MaxUint32 {
			s.MaxLocalDeletionTime = primitive.NoDeletionTime
		}
	} else if s.MaxLocalDeletionTime = int64(r.Int32()); s.MaxLocalDeletionTime == math.MaxInt32 {
		s.MaxLocalDeletionTime = primitive.NoDeletionTime
	}
	r.Bytes(4) // shortest TTL
	s.MaxTTL = r.Int32()
	s.CompressionRatio = r.Float64()
	s.Tombstones = tombstoneHistogram(r, version)
	s.Level = int(r.Int32())
	s.RepairedAt = r.Int64()
	if !coveredClustering(r, version) {
		return nil
	}
	r.Bytes(1) // legacy counter shards
	s.Cells, s.Rows = r.Int64(), r.Int64()
	if r.Err() != nil {
		return nil
	}
	if version.HasCommitLogLowerBound() {
		r.Bytes(12)
	}
	if version.HasCommitLogIntervals() {
		const interval = 24
		n := int(r.Int32())
		r.Bytes(n * interval)
	}
	if version.HasPendingRepair() {
		optionalUUID(r)
		r.Bytes(1) // transient
	}
	if version.HasOriginatingHostID() {
		s.Host = optionalUUID(r)
	}
	if version.HasKeyRange() {
		r.Bytes(1) // partition deletions
		s.FirstKey, s.LastKey = r.BytesV(), r.BytesV()
	}
	if r.Err() != nil {
		return nil
	}
	return s
}

// optionalUUID is "" where there is none.
func optionalUUID(r *primitive.Reader) string {
	if r.Uint8() == 0 {
		return ""
	}
	b := r.Bytes(16)
	if len(b) != 16 {
		return "" // cut short, as the reader knows
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// estimatedHistogram takes a histogram and returns its counts.
func estimatedHistogram(r *primitive.Reader) []int64 {
	n := int(r.Int32())
	const bucket = 16
	if n < 0 || n > r.Len()/bucket {
		r.Bytes(-1)
		return nil
	}
	counts := make([]int64, n)
	for i := range counts {
		r.Int64()
		counts[i] = r.Int64()
	}
	return counts
}

// tombstoneHistogram takes a histogram of local deletion times and returns the
// sum of its counts.
func tombstoneHistogram(r *primitive.Reader, version component.Version) (sum int64) {
	r.Bytes(4)
	n := int(r.Int32())
	const bin = 12 // at least
	if n < 0 || n > r.Len()/bin {
		r.Bytes(-1)
		return 0
	}
	for range n {
		r.Bytes(8)
		if version.HasUnsignedDeletionTime() {
			sum += int64(r.Int32())
		} else {
			sum += r.Int64()
		}
	}
	return sum
}

// coveredClustering takes the smallest and the largest clustering key. It fails
// where they are of a type unknown here.
func coveredClustering(r *primitive.Reader, version component.Version) bool {
	if !version.HasImprovedMinMax() {
		for range 2 {
			for n := r.Int32(); n > 0 && r.Err() == nil; n-- {
				r.Bytes16()
			}
		}
		return r.Err() == nil
	}
	var lengths []int // of the values, -1 if they vary
	for range r.Length() {
		t, _, err := cqltype.ParseMarshal(string(r.BytesV()))
		if err != nil {
			return false
		}
		n, ok := t.FixedLen()
		if !ok {
			n = -1
		}
		lengths = append(lengths, n)
	}
	for range 2 {
		r.Uint8() // kind of bound
		n := int(r.Uint16())
		if n > len(lengths) {
			return false
		}
		var absent uint64
		for i := range n {
			// Two bits for each of 32 values: the value is empty, or null.
			if i%32 == 0 {
				absent = r.Uvint()
			}
			switch {
			case absent>>(2*(i%32))&3 != 0:
			case lengths[i] < 0:
				r.BytesV()
			default:
				r.Bytes(lengths[i])
			}
		}
	}
	return r.Err() == nil
}
