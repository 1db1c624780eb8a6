package accesspath

import (
	"errors"
	"fmt"

	"manifest/internal/schema"
	"manifest/internal/selection"
	"manifest/tokenrange"
)

// Kind is a way to reach the rows of a table.
type Kind string

// The access paths.
const (
	FullScan      Kind = "full-scan"
	PartitionList Kind = "partition-list"
	// DistinctThenRead reads the partition keys alone, and then the partitions whose key is wanted.
	DistinctThenRead Kind = "distinct-then-read"
)

// ErrImpossible is wrapped by errors about a path that was asked for, and that conditions or table do not allow.
var ErrImpossible = errors.New("access path is not possible")

// Path is how the rows of a read are reached, and why so.
type Path struct {
	Kind Kind
	Why  string
	// Ranges of a partition list: each is the token of a partition.
	Ranges []tokenrange.Range
}

// Options are what a path is chosen by.
type Options struct {
	// Forced is asked for; empty leaves the choice.
	Forced      Kind
	Partitioner tokenrange.Partitioner
	// Partitions is an estimate of those of the table; 0 if there is none.
	Partitions int64
	// Distinct tells that the source can read partition keys alone.
	Distinct bool
}

const (
	// maxList bounds a list of partitions: each is a unit of work and a line of the ledger.
	maxList = 20_000
	// minList partitions are read one by one even if they are most of a table.
	minList = 100
)

// Choose gives the path to the rows of a table. list is its partitions that can hold any, nil where that is not known, and why the
// reason for either; keys is what the partition key alone decides, nil if that is nothing.
func Choose(table *schema.Table, list []tokenrange.Range, why string, keys *selection.Filter, opts Options) (Path, error) {
	distinct := opts.Distinct && keys != nil && Hashable(table)
	switch {
	case opts.Forced == PartitionList && list == nil:
		return Path{}, fmt.Errorf("%w: a partition list of %s: %s", ErrImpossible, table, why)
	case opts.Forced == DistinctThenRead && !distinct:
		return Path{}, fmt.Errorf("%w: partition keys of %s can't be read alone here, or decide nothing", ErrImpossible, table)
	case opts.Forced == FullScan:
		return Path{Kind: FullScan, Why: "asked for"}, nil
	case opts.Forced == PartitionList:
		return Path{Kind: PartitionList, Why: "asked for: " + why, Ranges: list}, nil
	case opts.Forced == DistinctThenRead:
		return Path{Kind: DistinctThenRead, Why: "asked for"}, nil
	case list != nil && (opts.Partitions == 0 || int64(len(list)) < opts.Partitions):
		return Path{Kind: PartitionList, Why: why, Ranges: list}, nil
	case list != nil:
		return Path{Kind: FullScan, Why: fmt.Sprintf("%d partitions are wanted, and the table has about %d", len(list), opts.Partitions)}, nil
	case distinct && len(table.OfKind(schema.Clustering)) == 0:
		return Path{Kind: FullScan, Why: why + ", and there are as many partition keys as rows"}, nil
	case distinct:
		return Path{Kind: DistinctThenRead, Why: why + ", but its partition keys tell which are wanted"}, nil
	}
	return Path{Kind: FullScan, Why: why}, nil
}

// Narrow is the path when the partition keys have been read: so many are wanted, of all that there are. ranges are those of the wanted
// ones, or of some if they are too many to list.
func (p Path) Narrow(ranges []tokenrange.Range, wanted, all int64, partitioner tokenrange.Partitioner) Path {
	switch {
	case wanted > maxList:
		return Path{Kind: FullScan, Why: fmt.Sprintf("%d of %d partitions are wanted, and more than %d are not read one by one", wanted, all, maxList)}
	case wanted*2 > all && all > 2*minList:
		return Path{Kind: FullScan, Why: fmt.Sprintf("%d of %d partitions are wanted", wanted, all)}
	case len(ranges) == 0:
		// Nothing is wanted: any one token tells that it is not there.
		ranges = []tokenrange.Range{tokenrange.RangeOf(partitioner.Ring().End)}
	}
	p.Ranges = ranges
	return p
}
