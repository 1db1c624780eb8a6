package component

import "slices"

// Format is the family of index files that an SSTable has. Data.db is the same
// in both.
type Format string

// The formats.
const (
	// Big has Index.db and Summary.db.
	Big Format = "big"
	// BTI has the tries Partitions.db and Rows.db.
	BTI Format = "bti"
)

// versions are those that are read, oldest first: ma to me are of Cassandra
// 3.x, na and nb of 4.x (and of 5.0 in its compatibility mode), oa and da of 5.0.
var versions = map[Format][]string{
	Big: {"ma", "mb", "mc", "md", "me", "na", "nb", "oa"},
	BTI: {"da"},
}

// Version is the version of an SSTable's format.
type Version struct {
	Format Format
	Name   string
}

func (v Version) supported() bool { return slices.Contains(versions[v.Format], v.Name) }

// atLeast compares within the big format; the one version of bti has all that
// the newest of big has.
func (v Version) atLeast(name string) bool { return v.Format == BTI || v.Name >= name }

// HasMetadataChecksum tells that the parts of Statistics.db carry checksums.
func (v Version) HasMetadataChecksum() bool { return v.atLeast("na") }

// HasMaxCompressedLength tells that chunks that do not compress well are stored
// as they are.
func (v Version) HasMaxCompressedLength() bool { return v.atLeast("na") }

// HasUnsignedDeletionTime tells that local deletion times reach to 2106, and
// with it the form of a partition's deletion time.
func (v Version) HasUnsignedDeletionTime() bool { return v.atLeast("oa") }

// HasCommitLogLowerBound and those below tell what the figures in Statistics.db
// consist of.
func (v Version) HasCommitLogLowerBound() bool { return v.atLeast("mb") }

// HasCommitLogIntervals is like HasCommitLogLowerBound.
func (v Version) HasCommitLogIntervals() bool { return v.atLeast("mc") }

// HasPendingRepair is like HasCommitLogLowerBound.
func (v Version) HasPendingRepair() bool { return v.atLeast("na") }

// HasOriginatingHostID is like HasCommitLogLowerBound. The id came to 3.11 and
// 4.0 at the same time, so na lacks it although it is newer than me.
func (v Version) HasOriginatingHostID() bool { return v.Name == "me" || v.atLeast("nb") }

// HasImprovedMinMax is like HasCommitLogLowerBound.
func (v Version) HasImprovedMinMax() bool { return v.atLeast("oa") }

// HasKeyRange is like HasCommitLogLowerBound.
func (v Version) HasKeyRange() bool { return v.atLeast("oa") }
