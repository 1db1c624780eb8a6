package scan_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/scan"
	"manifest/tokenrange"
)

// A consumer makes a part for each attempt at a split. Here it counts rows: a
// part's count joins the total only when the part is committed, so that an
// attempt that failed half-way leaves no trace.
func ExampleRun() {
	var total atomic.Int64
	counter := scan.ConsumerFunc(func(context.Context, tokenrange.Split) (scan.Part, error) {
		return &countingPart{total: &total}, nil
	})

	murmur3, err := tokenrange.PartitionerByName("Murmur3Partitioner")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := tokenrange.Plan{Partitioner: murmur3.Name(), Asked: []tokenrange.Range{murmur3.Ring()}}
	for _, r := range murmur3.Ring().Split(4) {
		plan.Splits = append(plan.Splits, tokenrange.NewSplit(r, "node-1", "node-2"))
	}

	// The source of the example is a small table in memory; package scan/cql
	// reads live nodes.
	source := &modelTable{rows: spread(1000), page: 100}
	result, err := scan.Run(context.Background(), plan, source, []scan.Consumer{counter}, scan.Options{Columns: []string{"token"}, Workers: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(total.Load(), "rows in", len(result.Receipts), "splits")
	// Output: 1000 rows in 4 splits
}

type countingPart struct {
	total *atomic.Int64
	rows  int64
}

func (p *countingPart) Write(_ context.Context, rec arrow.Record) error {
	p.rows += rec.NumRows()
	return nil
}

func (p *countingPart) Commit(context.Context) error {
	p.total.Add(p.rows)
	return nil
}

func (p *countingPart) Abort() {}

// A run that can't read everything says what is missing.
func ExampleIncompleteError() {
	murmur3, err := tokenrange.PartitionerByName("Murmur3Partitioner")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := tokenrange.Plan{Partitioner: murmur3.Name(), Asked: []tokenrange.Range{murmur3.Ring()}}
	for _, r := range murmur3.Ring().Split(2) {
		plan.Splits = append(plan.Splits, tokenrange.NewSplit(r))
	}
	broken := &modelTable{rows: spread(10), page: 1, fault: func(s tokenrange.Split, _ int) error {
		if s.ID == plan.Splits[1].ID {
			return &scan.ReadError{Range: s.Range, Class: scan.Unavailable, Err: errors.New("one replica is down")}
		}
		return nil
	}}
	_, err = scan.Run(context.Background(), plan, broken, nil, scan.Options{Columns: []string{"token"}, Patience: time.Millisecond})
	if incomplete, ok := errors.AsType[*scan.IncompleteError](err); ok {
		fmt.Println("missing:", incomplete.Missing)
		fmt.Println("because:", scan.ClassOf(incomplete.Causes))
	}
	// Output:
	// missing: [(-1, 9223372036854775807]]
	// because: unavailable
}
