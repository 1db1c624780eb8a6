package main

import (
	"bytes"
	"strings"
	"testing"

	"manifest/scan"
	"manifest/tokenrange"
)

func TestProgressCountsTokenSpaceAndRows(t *testing.T) {
	murmur3, err := tokenrange.PartitionerByName("Murmur3Partitioner")
	if err != nil {
		t.Fatal(err)
	}
	quarters := murmur3.Ring().Split(4)
	var plan tokenrange.Plan
	for _, q := range quarters[:2] { // half of the ring is asked for
		plan.Splits = append(plan.Splits, tokenrange.Split{ID: q.ID(), Range: q})
	}
	p := newProgress("ks.t", plan, murmur3.Ring())
	events := p.events()
	events.RecordRead(scan.RecordInfo{Rows: 100})
	events.RecordRead(scan.RecordInfo{Rows: 20})
	events.SplitFailed(scan.FailureInfo{RowsDropped: 20})
	events.SplitCommitted(scan.Receipt{Range: quarters[0]})
	if got := p.line(); !strings.Contains(got, "50.0 % of what is wanted, 100 rows") || !strings.Contains(got, "1 reads failed") {
		t.Errorf("half-way: %s", got)
	}
	events.SplitCommitted(scan.Receipt{Range: quarters[1]})
	var out bytes.Buffer
	p.show(&out, "auto")() // no terminal: the last line is printed when it ends
	if got := out.String(); !strings.HasPrefix(got, "ks.t: 100.0 % of what is wanted, 100 rows") || strings.Contains(got, "left") {
		t.Errorf("at the end: %q", got)
	}
}
