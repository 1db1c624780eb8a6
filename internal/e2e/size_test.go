package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/gocql/gocql"
	"golang.org/x/sync/errgroup"
)

// longVariable names the environment variable that asks for the long form: all tables with all numbers of replicas in many ways, a
// partition of a million rows, further partitioners.
const longVariable = "MANIFEST_TEST_LONG"

func long() bool { return os.Getenv(longVariable) != "" }

// onlyLong leaves a test to the long form.
func onlyLong(t testing.TB) {
	t.Helper()
	if !long() {
		t.Skipf("left to %s=1", longVariable)
	}
}

// wideRows is the number of rows of the wide partition.
func wideRows() int {
	if long() {
		return 1_000_000
	}
	return 20_000
}

// imageCount is the number of images in the tables.
func imageCount() int {
	if long() {
		return 100_000
	}
	return 3000
}

// loadWide makes the table wide: one partition of many rows, between two of a row each. Some rows are as long as a hundred others.
func loadWide(ctx context.Context, session *gocql.Session, keyspace string) error {
	if err := session.Query(fmt.Sprintf(`CREATE TABLE %q.wide (p text, s text static, c int, v text, n int, PRIMARY KEY (p, c))
		WITH CLUSTERING ORDER BY (c DESC)`, keyspace)).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("create wide: %w", err)
	}
	statement := fmt.Sprintf("INSERT INTO %q.wide (p, c, v, n) VALUES (?, ?, ?, ?)", keyspace)
	const batchRows = 250
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for from := 0; from < wideRows(); from += batchRows {
		group.Go(func() error {
			batch := session.NewBatch(gocql.UnloggedBatch).WithContext(groupCtx)
			for c := from; c < min(from+batchRows, wideRows()); c++ {
				value := fmt.Sprintf("row %d", c)
				if c%1000 == 7 {
					value = fmt.Sprintf("%01000d", c)
				}
				batch.Query(statement, "wide", c, value, c%97)
			}
			return session.ExecuteBatch(batch)
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("write wide: %w", err)
	}
	for _, p := range []string{"before", "after"} {
		if err := session.Query(statement, p, 1, p, 1).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("write wide: %w", err)
		}
	}
	return nil
}
