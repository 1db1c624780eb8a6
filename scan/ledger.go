package scan

import (
	"context"
	"time"

	"manifest/tokenrange"
)

// Receipt says what one committed split was. docs/format/ledger.md describes
// its form in the ledger.
type Receipt struct {
	// Split is the split's id; its parts are named after it.
	Split string `json:"split"`
	// Range is what the split covers.
	Range tokenrange.Range `json:"range"`
	// Node is the id of the node that coordinated the last page.
	Node string `json:"node,omitempty"`
	// Consistency is the level at which every page was read.
	Consistency string `json:"consistency,omitempty"`
	// Rows counts the rows written to the parts.
	Rows int64 `json:"rows"`
	// Bytes counts the serialized bytes received.
	Bytes int64 `json:"bytes"`
	// Pages counts the pages received.
	Pages int64 `json:"pages"`
	// Retries counts the pages of the successful read that were asked for again.
	Retries int64 `json:"retries,omitempty"`
	// Attempts counts the reads of this split, the successful one included.
	Attempts int `json:"attempts"`
	// First and Last are the partition keys of the first and the last row, as
	// [ReadStats] has them.
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"`
	// Started and Ended frame the successful read, in UTC.
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Files are those of the committed parts, in the order of the consumers.
	Files []PartFile `json:"files,omitempty"`
	// Digest is that of the split: of the rows as counted and of the digests of
	// its files. Empty without files. See [Receipt.digest].
	Digest string `json:"digest,omitempty"`
	// Largest are the partitions of the split that were among the largest of
	// the run when the split was committed. Those of all receipts hold the
	// largest of the run: see [LargestPartitions].
	Largest []Partition `json:"largest,omitempty"`
}

// describe takes over what the source says of the read.
func (r *Receipt) describe(s ReadStats) {
	r.Node, r.Consistency = s.Node, s.Consistency
	r.Pages, r.Bytes, r.Retries = s.Pages, s.Bytes, s.Retries
	r.First, r.Last, r.Largest = s.First, s.Last, s.Largest
}

// Ledger records committed splits. Commit is called from many goroutines at a
// time, after every part of the split has been committed; when it returns nil
// the receipt must survive the end of the process. An error stops the run.
type Ledger interface {
	Commit(ctx context.Context, r Receipt) error
}

// noLedger keeps no record beyond the result of [Run].
type noLedger struct{}

func (noLedger) Commit(context.Context, Receipt) error { return nil }
