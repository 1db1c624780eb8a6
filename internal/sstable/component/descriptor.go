package component

import (
	"errors"
	"fmt"
	"regexp"

	"manifest/internal/sstable/fault"
)

// The components that are read.
const (
	Data            = "Data.db"
	Statistics      = "Statistics.db"
	CompressionInfo = "CompressionInfo.db"
	CRC             = "CRC.db"
	Digest          = "Digest.crc32"
	Index           = "Index.db"
	Summary         = "Summary.db"
	Partitions      = "Partitions.db"
	Rows            = "Rows.db"
	TOC             = "TOC.txt"
)

// Descriptor is what the names of an SSTable's files share.
type Descriptor struct {
	Version
	ID string
}

// FileName is the name of a component's file.
func (d Descriptor) FileName(component string) string {
	return d.Name + "-" + d.ID + "-" + string(d.Format) + "-" + component
}

func (d Descriptor) String() string { return d.Name + "-" + d.ID + "-" + string(d.Format) }

// ErrNoComponent means that a file name is not one of an SSTable's component.
var ErrNoComponent = errors.New("not the name of an SSTable component")

var (
	nameGrammar = regexp.MustCompile(`^([a-z]+)-(\d{1,10}|[0-9a-zA-Z]{4}_[0-9a-zA-Z]{4}_[0-9a-zA-Z]{18})-([a-z]+)-([\w+-]+\.\w+)$`)
	// legacyGrammar is of versions before 2.2, whose names begin with keyspace and table.
	legacyGrammar = regexp.MustCompile(`^\w+-\w+-(tmp-|tmplink-)?[a-k][a-z]-\d+-\w+\.\w+$`)
)

// ParseFileName reads the name of a component's file. It errs with
// fault.ErrUnsupported where the name is of a version that is not read here,
// and with ErrNoComponent where it is something else altogether.
func ParseFileName(name string) (d Descriptor, component string, err error) {
	m := nameGrammar.FindStringSubmatch(name)
	if m == nil {
		if legacyGrammar.MatchString(name) {
			return d, "", fault.Unsupportedf(name, "the version is older than ma")
		}
		return d, "", fmt.Errorf("%q: %w", name, ErrNoComponent)
	}
	d = Descriptor{Version{Format(m[3]), m[1]}, m[2]}
	if !d.supported() {
		return d, "", fault.Unsupportedf(name, "version %s-%s is none of ma to me, na, nb, oa (big) and da (bti)", m[1], m[3])
	}
	return d, m[4], nil
}
