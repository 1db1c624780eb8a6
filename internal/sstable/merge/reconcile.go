package merge

import (
	"bytes"

	"manifest/internal/sstable/data"
	"manifest/internal/sstable/primitive"
)

// supersedes tells whether cell a wins over b; both are of the same column and
// path and no counters. Of equal ones neither does. (Equal paths may differ in
// their bytes, as 1.0 and 1.00 do; then the bytes decide, so that the order of the
// SSTables does not.)
func supersedes(a, b *data.Cell) bool {
	if a.Timestamp != b.Timestamp {
		return a.Timestamp > b.Timestamp
	}
	aEnds, bEnds := a.LocalDeletionTime != primitive.NoDeletionTime, b.LocalDeletionTime != primitive.NoDeletionTime
	if aEnds != bEnds {
		return aEnds
	}
	if aEnds {
		if aTombstone, bTombstone := a.TTL == 0, b.TTL == 0; aTombstone != bTombstone {
			return aTombstone
		}
		if a.LocalDeletionTime != b.LocalDeletionTime {
			return a.LocalDeletionTime > b.LocalDeletionTime
		}
		if a.TTL != b.TTL {
			return a.TTL < b.TTL
		}
	}
	if c := bytes.Compare(a.Value, b.Value); c != 0 {
		return c > 0
	}
	return bytes.Compare(a.Path, b.Path) < 0
}

// livenessSupersedes tells whether liveness a wins over b.
func livenessSupersedes(a, b data.Liveness) bool {
	if a.Timestamp != b.Timestamp {
		return a.Timestamp > b.Timestamp
	}
	if aExpired, bExpired := a.TTL == primitive.ExpiredTTL, b.TTL == primitive.ExpiredTTL; aExpired != bExpired {
		return aExpired
	}
	if aExpires, bExpires := a.TTL != 0, b.TTL != 0; aExpires != bExpires {
		return aExpires
	}
	return a.Expires > b.Expires || a.Expires == b.Expires && a.TTL < b.TTL
}
