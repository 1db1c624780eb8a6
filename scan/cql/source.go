package cql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/gocql/gocql"

	"manifest/internal/cassandra"
	"manifest/internal/recycle"
	"manifest/internal/schema"
	"manifest/internal/throttle"
	"manifest/scan"
	"manifest/tokenrange"
)

// Options of a source. The zero value gives the defaults.
type Options struct {
	// PageSize is the most rows in a page. 0 means 5000.
	PageSize int
	// PageBytes is about the most bytes in a page; pages of wide rows hold
	// fewer rows. 0 means 4 MiB.
	PageBytes int64
	// PageAttempts is how often a page is asked for before the read fails. 0 means 3.
	PageAttempts int
	// Backoff is the pause before a page is asked for again. 0 means 100 ms.
	Backoff time.Duration
	// Partitioner of the table, which gives partitions their tokens. The zero
	// value is the Murmur3Partitioner.
	Partitioner tokenrange.Partitioner
	// Distinct reads each partition key once, and nothing else: columns are then
	// those of the partition key, all of them.
	Distinct bool
	// Limiter is asked before each page. nil limits nothing.
	Limiter Limiter
	// Allocator of the records; nil means one of the source's own, which hands
	// released buffers out again.
	Allocator memory.Allocator
	// Logger gets pages asked for again; nil discards them.
	Logger *slog.Logger
}

// Limiter decides when a page may be asked of a node. Acquire waits until then,
// or until ctx ends. release is called once, when the rows of the page have
// been decoded or the request has failed.
type Limiter interface {
	Acquire(ctx context.Context, node string) (release func(throttle.Outcome), err error)
}

// noLimit lets every page pass.
type noLimit struct{}

func (noLimit) Acquire(context.Context, string) (func(throttle.Outcome), error) {
	return func(throttle.Outcome) {}, nil
}

func (o Options) withDefaults() Options {
	if o.Limiter == nil {
		o.Limiter = noLimit{}
	}
	if o.PageSize == 0 {
		o.PageSize = 5000
	}
	if o.PageBytes == 0 {
		o.PageBytes = 4 << 20
	}
	if o.PageAttempts == 0 {
		o.PageAttempts = 3
	}
	if o.Backoff == 0 {
		o.Backoff = 100 * time.Millisecond
	}
	if o.Allocator == nil {
		o.Allocator = recycle.New()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate reports every setting that makes no sense.
func (o Options) Validate() error {
	var errs []error
	if o.PageSize < 0 {
		errs = append(errs, fmt.Errorf("page size %d is negative", o.PageSize))
	}
	if o.PageBytes < 0 {
		errs = append(errs, fmt.Errorf("page bytes %d is negative", o.PageBytes))
	}
	if o.PageAttempts < 0 {
		errs = append(errs, fmt.Errorf("page attempts %d is negative", o.PageAttempts))
	}
	if o.Backoff < 0 {
		errs = append(errs, fmt.Errorf("page back-off %v is negative", o.Backoff))
	}
	return errors.Join(errs...)
}

// Source reads splits of one table from live nodes.
type Source struct {
	cluster *cassandra.Cluster
	nodes   nodes
	table   *schema.Table
	opts    Options

	// rowBytes is the size of recent rows, for the first page of a split; 0
	// until a page has been read.
	rowBytes atomic.Int64
	// wide is set once a partition of more than some pages has been met: from
	// then on reads take what it needs to go on within one, the clustering key,
	// though it may not be wanted.
	wide atomic.Bool

	mu          sync.Mutex
	projections map[string]*projection
}

var _ scan.Source = (*Source)(nil)

// nodes answer statements.
type nodes interface {
	Select(ctx context.Context, statement string, page cassandra.Page, args ...any) (*gocql.Iter, error)
}

// New makes a source of a table's rows. It starts nothing; the cluster stays
// the caller's to close, after the last read.
func New(cluster *cassandra.Cluster, table *schema.Table, opts Options) (*Source, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("source options: %w", err)
	}
	return &Source{cluster: cluster, nodes: cluster, table: table, opts: opts.withDefaults(), projections: map[string]*projection{}}, nil
}

// Schema gives the schema of the records that a read of these columns gives,
// or says which of them cannot be read.
func (s *Source) Schema(columns []string) (*arrow.Schema, error) {
	p, err := s.project(columns)
	if err != nil {
		return nil, err
	}
	return p.schema, nil
}

// project gives the shared projection of these columns.
func (s *Source) project(columns []string) (*projection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	positions := s.wide.Load()
	key := fmt.Sprintf("%q %t", columns, positions)
	if p := s.projections[key]; p != nil {
		return p, nil
	}
	p, err := newProjection(s.table, columns, s.opts.Partitioner, positions, s.opts.Distinct)
	if err != nil {
		return nil, err
	}
	s.projections[key] = p
	return p, nil
}

// Read implements scan.Source.
func (s *Source) Read(ctx context.Context, split tokenrange.Split, columns []string, emit func(arrow.Record) error) (scan.ReadStats, error) {
	p, err := s.project(columns)
	if err != nil {
		return scan.ReadStats{}, &scan.ReadError{Range: split.Range, Class: scan.SchemaChanged, Err: err}
	}
	rows, err := newRows(p, s.opts.Allocator)
	if err != nil {
		return scan.ReadStats{}, &scan.ReadError{Range: split.Range, Class: scan.Protocol, Err: err}
	}
	defer rows.release()

	r := &read{source: s, rows: rows, split: split, projection: p, nodes: slices.Clone(split.Replicas)}
	r.stats.Consistency = s.cluster.Consistency()
	err = r.all(ctx, emit)
	rows.partitions.describe(&r.stats)
	return r.stats, err
}

// deliver hands the rows of a page on.
func deliver(rows *rows, emit func(arrow.Record) error) error {
	rec := rows.record()
	defer rec.Release()
	return emit(rec)
}

// firstPageSize is the number of rows to ask for where a split begins.
func (s *Source) firstPageSize() int {
	if b := s.rowBytes.Load(); b > 0 {
		return s.pageSize(b)
	}
	return min(s.opts.PageSize, 500) // of rows whose size is not known yet
}

// pageSize is the number of rows of that size that make a page.
func (s *Source) pageSize(rowBytes int64) int {
	return int(max(1, min(int64(s.opts.PageSize), s.opts.PageBytes/max(1, rowBytes))))
}
