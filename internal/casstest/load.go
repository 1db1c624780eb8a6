package casstest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
	"golang.org/x/sync/errgroup"

	"manifest/internal/imagegen"
)

// LoadOptions say what Load writes and how. The zero value writes all four tables of imagegen.DefaultKeyspace.
type LoadOptions struct {
	Keyspace    string   // imagegen.DefaultKeyspace by default
	Tables      []string // all four of imagegen by default
	Concurrency int      // batches in flight, 16 by default: two cores are busy with half of that
	BatchRows   int      // rows per batch, 40 by default: 16 KiB, well below what a server refuses without being told otherwise (50 KiB)
}

// LoadStats are the rows written by table, and how long it took.
type LoadStats struct {
	Rows    map[string]int64
	Elapsed time.Duration
}

// Total returns the rows written to all tables.
func (s LoadStats) Total() int64 {
	var total int64
	for _, rows := range s.Rows {
		total += rows
	}
	return total
}

// RowsPerSecond returns the rate over all tables.
func (s LoadStats) RowsPerSecond() float64 { return float64(s.Total()) / s.Elapsed.Seconds() }

// imageTable is how the rows of one table are written.
type imageTable struct {
	name    string
	columns []string
	rows    iter.Seq[[]any] // values in the order of the columns
}

// imageTables returns the four tables of a set. NULL columns are left unset, as applications do: no tombstone is written for them.
func imageTables(set *imagegen.Set) []imageTable {
	return []imageTable{
		{imagegen.MetadataTable,
			[]string{"image_id", "object_store", "object_key", "content_hash", "width", "height", "capture_time", "upload_time", "attributes"},
			values(set.Metadata(), func(r imagegen.Metadata) []any {
				row := []any{gocql.UUID(r.ImageID), cell(r.ObjectStore), cell(r.ObjectKey), cell(r.ContentHash), cell(r.Width), cell(r.Height),
					cell(r.CaptureTime), cell(r.UploadTime), gocql.UnsetValue}
				if len(r.Attributes) > 0 {
					row[8] = r.Attributes
				}
				return row
			})},
		{imagegen.DeviceTable,
			[]string{"device_id", "day_bucket", "capture_time", "image_id", "object_store", "object_key", "width", "height", "content_hash"},
			values(set.DeviceImages(), func(r imagegen.DeviceImage) []any {
				return []any{r.DeviceID, r.Day.Time(), r.CaptureTime, gocql.UUID(r.ImageID), cell(r.ObjectStore), cell(r.ObjectKey),
					cell(r.Width), cell(r.Height), cell(r.ContentHash)}
			})},
		{imagegen.TagTable,
			[]string{"tag", "day_bucket", "capture_time", "image_id", "object_store", "object_key", "device_id"},
			values(set.TagImages(), func(r imagegen.TagImage) []any {
				return []any{r.Tag, r.Day.Time(), r.CaptureTime, gocql.UUID(r.ImageID), cell(r.ObjectStore), cell(r.ObjectKey), cell(r.DeviceID)}
			})},
		{imagegen.ReviewTable,
			[]string{"image_id", "status", "reviewed_at", "reviewer"},
			values(set.Reviews(), func(r imagegen.Review) []any {
				return []any{gocql.UUID(r.ImageID), cell(r.Status), cell(r.ReviewedAt), cell(r.Reviewer)}
			})},
	}
}

func values[T any](rows iter.Seq[T], row func(T) []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for r := range rows {
			if !yield(row(r)) {
				return
			}
		}
	}
}

func cell[T any](v *T) any {
	if v == nil {
		return gocql.UnsetValue
	}
	return *v
}

// CreateImageTables creates the keyspace and the four tables unless they exist: rf replicas, in each of the datacentres if any are named.
func CreateImageTables(ctx context.Context, session *gocql.Session, keyspace string, rf int, datacenters ...string) error {
	for _, statement := range append([]string{imagegen.KeyspaceDDL(keyspace, rf, datacenters...)}, imagegen.TableDDL(keyspace)...) {
		if err := session.Query(statement).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("create image tables: %w", err)
		}
	}
	return nil
}

// Load writes the rows of a set into tables that exist. Loading a set again changes nothing. The first error ends it, with some rows written.
func Load(ctx context.Context, session *gocql.Session, set *imagegen.Set, opts LoadOptions) (LoadStats, error) {
	opts.Keyspace = orDefault(opts.Keyspace, imagegen.DefaultKeyspace)
	opts.Concurrency = orDefault(opts.Concurrency, 16)
	opts.BatchRows = orDefault(opts.BatchRows, 40)
	stats := LoadStats{Rows: map[string]int64{}}
	began := time.Now()
	tables := imageTables(set)
	for _, name := range opts.Tables {
		if !slices.ContainsFunc(tables, func(t imageTable) bool { return t.name == name }) {
			return stats, fmt.Errorf("load images: no table %q in the set", name)
		}
	}
	for _, table := range tables {
		if len(opts.Tables) > 0 && !slices.Contains(opts.Tables, table.name) {
			continue
		}
		rows, err := loadTable(ctx, session, table, opts)
		stats.Rows[table.name] = rows
		if err != nil {
			return stats, fmt.Errorf("load %s: %w", table.name, err)
		}
	}
	stats.Elapsed = time.Since(began)
	return stats, nil
}

// loadTable makes rows in this goroutine and writes them in batches from others. It returns the rows whose write was acknowledged.
func loadTable(ctx context.Context, session *gocql.Session, table imageTable, opts LoadOptions) (int64, error) {
	statement := fmt.Sprintf(`INSERT INTO "%s".%s (%s) VALUES (%s)`, strings.ReplaceAll(opts.Keyspace, `"`, `""`), table.name,
		strings.Join(table.columns, ", "), strings.TrimSuffix(strings.Repeat("?, ", len(table.columns)), ", "))
	var written atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	batches := make(chan [][]any)
	for range opts.Concurrency {
		group.Go(func() error {
			for rows := range batches {
				if err := writeBatch(ctx, session, statement, rows); err != nil {
					return err
				}
				written.Add(int64(len(rows)))
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(batches)
		send := func(rows [][]any) bool {
			select {
			case batches <- rows:
				return true
			case <-ctx.Done():
				return false
			}
		}
		rows := make([][]any, 0, opts.BatchRows)
		for row := range table.rows {
			if rows = append(rows, row); len(rows) == opts.BatchRows {
				if !send(rows) {
					return ctx.Err()
				}
				rows = make([][]any, 0, opts.BatchRows)
			}
		}
		if len(rows) > 0 && !send(rows) {
			return ctx.Err()
		}
		return nil
	})
	err := group.Wait()
	return written.Load(), err
}

// writeBatch writes rows of many partitions at once. That is unkind to a production cluster, but here it triples the rate.
func writeBatch(ctx context.Context, session *gocql.Session, statement string, rows [][]any) error {
	batch := session.NewBatch(gocql.UnloggedBatch).WithContext(ctx)
	batch.RetryPolicy(&gocql.SimpleRetryPolicy{NumRetries: 5}) // writing a row again is harmless
	batch.Entries = make([]gocql.BatchEntry, len(rows))
	for i, row := range rows {
		batch.Entries[i] = gocql.BatchEntry{Stmt: statement, Args: row, Idempotent: true}
	}
	return session.ExecuteBatch(batch)
}
