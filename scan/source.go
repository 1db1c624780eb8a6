package scan

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/tokenrange"
)

// Source gives the rows of a split.
//
// Read calls emit, from the calling goroutine, with records whose fields are
// the asked columns in the asked order. Rows come in token order, and in
// clustering order inside a partition. A record is valid until emit returns,
// unless the callee retains it. An error of emit ends the read and is returned
// as it is. Any error means that nothing of the split counts.
//
// The replicas of the split are the nodes to read from, the preferred one
// first; the source moves on to the next by itself where it can do so without
// reading a row twice.
//
// Read is called from many goroutines at a time, once per split at a time.
// Errors of the read itself are a *[ReadError], so that [Run] knows what to do.
type Source interface {
	Read(ctx context.Context, split tokenrange.Split, columns []string, emit func(arrow.Record) error) (ReadStats, error)
}

// ReadStats says what a read was, as far as the source knows. Of a read that
// failed it says what was read until then.
type ReadStats struct {
	// Node is the id of the node that coordinated the last page.
	Node string
	// Consistency is the level at which every page was read.
	Consistency string
	// Pages counts the pages received.
	Pages int64
	// Bytes counts the serialized bytes of the values received.
	Bytes int64
	// Retries counts pages that had to be asked for again.
	Retries int64
	// First and Last are the partition keys of the first and the last row, as
	// text like device_id='x', day_bucket=2026-01-02. Empty where the source
	// does not see the key, or there was no row.
	First, Last string
	// Largest are the partitions of the read that are among its [LargestKept]
	// by rows or by bytes, in any order. Empty where the source does not see
	// where a partition ends.
	Largest []Partition
}
