package cql_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"manifest/internal/throttle"
	"manifest/scan/cql"
	"manifest/tokenrange"
)

// Only the first page of all is small: reads that wait for their turn meanwhile learn from it how large rows are.
func TestOnlyTheFirstPageOfAllIsSmall(t *testing.T) {
	f := newFixture(t)
	f.exec(t, `CREATE TABLE KS.t (k int, c int, PRIMARY KEY (k, c))`)
	const partitions, rows = 4, 1200
	for k := range partitions {
		for c := range rows {
			f.exec(t, fmt.Sprintf(`INSERT INTO KS.t (k, c) VALUES (%d, %d)`, k, c))
		}
	}
	limiter, err := throttle.New(throttle.Options{MaxInFlightPerNode: 1})
	if err != nil {
		t.Fatal(err)
	}
	source := f.source(t, "t", cql.Options{Limiter: limiter})
	pages := make([]int64, partitions)
	var reads errgroup.Group
	for k := range partitions {
		reads.Go(func() error {
			token := tokenrange.Murmur3.Token([]byte{0, 0, 0, byte(k)})
			stats, err := source.Read(t.Context(), tokenrange.NewSplit(tokenrange.RangeOf(token)), []string{"k", "c"}, func(arrow.Record) error { return nil })
			pages[k] = int64(stats.Pages)
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		t.Fatal(err)
	}
	all := int64(0)
	for _, n := range pages {
		all += n
	}
	if all != partitions+1 {
		t.Errorf("%d partitions of %d rows were read in %v pages; one of 500 rows and the rest in one each were enough", partitions, rows, pages)
	}
}
