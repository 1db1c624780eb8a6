package scan

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/tokenrange"
)

// Consumer makes something of the rows of a table.
//
// Begin is called once for each attempt to read a split, from many goroutines
// at a time; it gives the part that gathers that attempt's rows. Two attempts at
// one split may go on at the same time, of which one at most commits its parts.
type Consumer interface {
	Begin(ctx context.Context, split tokenrange.Split) (Part, error)
}

// Part gathers the rows of one split in one attempt. All its methods are
// called from one goroutine: Write any number of times, then either Commit or
// Abort, once.
//
// Commit makes the part last: when it returns nil, the part must survive the
// end of the process. A later part of the same split replaces it, since a run
// that ended between a commit and its receipt reads that split again.
// After an error of Write or Commit, Abort is called.
//
// A record is valid during Write unless retained.
type Part interface {
	Write(ctx context.Context, rec arrow.Record) error
	Commit(ctx context.Context) error
	Abort()
}

// ConsumerFunc is a Consumer from its Begin function.
type ConsumerFunc func(ctx context.Context, split tokenrange.Split) (Part, error)

// Begin calls f.
func (f ConsumerFunc) Begin(ctx context.Context, split tokenrange.Split) (Part, error) {
	return f(ctx, split)
}
