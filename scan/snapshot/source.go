package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/recycle"
	"manifest/internal/schema"
	"manifest/internal/sstable"
	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/fault"
	"manifest/internal/throttle"
	"manifest/scan"
	"manifest/tokenrange"
)

// Options of a source. The zero value gives the defaults.
type Options struct {
	// Now is the moment as of which all splits are read. Zero means that of New.
	Now time.Time
	// Partitions says which partitions are wanted; nil means all. Those that are
	// not are passed over with the help of the indexes, where few enough are wanted
	// for that to be worth while: rows of others may come all the same.
	Partitions PartitionFilter
	// Limiter is asked before each record. nil limits nothing.
	Limiter Limiter
	// RecordRows and RecordBytes are what a record has at most, but for its last
	// row. 0 means 8,192 rows, 4 MiB.
	RecordRows, RecordBytes int
	// ReadBytes is how much of an SSTable's content is read at once, and ReadAhead
	// how many such reads go on while rows are decoded. 0 is good for local files;
	// what is slow to answer needs more of both.
	ReadBytes, ReadAhead int
	// Allocator of the records; nil means one of the source's own, which hands
	// released buffers out again.
	Allocator memory.Allocator
}

// PartitionFilter tells by their keys which partitions are wanted. Mask appends
// to dst whether the partition of each row of rec is. It is called from many
// goroutines.
type PartitionFilter interface {
	// Columns are those of the partition key that Mask looks at.
	Columns() []string
	Mask(dst []bool, rec arrow.Record) ([]bool, error)
}

// Limiter decides when the next record may be read. Acquire waits until then, or
// until ctx ends; node is always empty. release is called once, with what the
// record had.
type Limiter interface {
	Acquire(ctx context.Context, node string) (release func(throttle.Outcome), err error)
}

func (o Options) withDefaults() Options {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.RecordRows == 0 {
		o.RecordRows = 8 << 10
	}
	if o.Allocator == nil {
		o.Allocator = recycle.New()
	}
	return o
}

// Validate reports every setting that makes no sense.
func (o Options) Validate() error {
	var errs []error
	if o.RecordRows < 0 {
		errs = append(errs, fmt.Errorf("record of %d rows", o.RecordRows))
	}
	if o.RecordBytes < 0 {
		errs = append(errs, fmt.Errorf("record of %d bytes", o.RecordBytes))
	}
	if o.ReadBytes < 0 || o.ReadAhead < 0 {
		errs = append(errs, fmt.Errorf("reads of %d bytes, %d ahead", o.ReadBytes, o.ReadAhead))
	}
	if !o.Now.IsZero() && o.Now.Unix() < 0 {
		errs = append(errs, fmt.Errorf("moment of the read %v is before 1970", o.Now))
	}
	return errors.Join(errs...)
}

// Source reads splits of one table from its SSTables.
type Source struct {
	table *sstable.Table
	opts  Options
}

var _ scan.Source = (*Source)(nil)

// New makes a source of a table's rows. It starts nothing; the table stays the
// caller's to close, after the last read.
func New(table *sstable.Table, opts Options) (*Source, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("source options: %w", err)
	}
	return &Source{table: table, opts: opts.withDefaults()}, nil
}

// Now is the moment as of which all splits are read.
func (s *Source) Now() time.Time { return s.opts.Now }

// Schema gives the schema of the records that a read of these columns gives,
// or says which of them cannot be read.
func (s *Source) Schema(columns []string) (*arrow.Schema, error) {
	t := s.table.Schema().Table
	selected, err := t.Select(columns)
	if err != nil {
		return nil, err
	}
	return t.Arrow(selected)
}

// Read implements scan.Source.
func (s *Source) Read(ctx context.Context, split tokenrange.Split, columns []string, emit func(arrow.Record) error) (scan.ReadStats, error) {
	fail := func(class scan.Class, err error) (scan.ReadStats, error) {
		if ctx.Err() != nil {
			return scan.ReadStats{}, context.Cause(ctx)
		}
		return scan.ReadStats{}, &scan.ReadError{Range: split.Range, Class: class, Err: err}
	}
	if _, err := s.Schema(columns); err != nil {
		return fail(scan.SchemaChanged, err)
	}
	follow := partitions{columns: s.table.Schema().Table.OfKind(schema.PartitionKey)}
	q := sstable.Query{Range: split.Range, Columns: columns, Partition: follow.add, Now: s.opts.Now.Unix()}
	var chosen *chooser
	if s.opts.Partitions != nil {
		var err error
		if chosen, err = s.choose(ctx, split.Range); err != nil {
			return fail(classOf(err), err)
		}
		defer chosen.release()
		if chosen.few() {
			q.Keys = chosen.wanted
		}
	}
	d := &delivery{ctx: ctx, limiter: s.opts.Limiter, emit: emit}
	if err := d.begin(); err != nil {
		return fail(scan.Other, err)
	}
	read, err := s.table.Scan(ctx, q, sstable.Options{
		RecordRows: s.opts.RecordRows, RecordBytes: s.opts.RecordBytes, Allocator: s.opts.Allocator,
		ReadBytes: s.opts.ReadBytes, ReadAhead: s.opts.ReadAhead,
	}, d.record)
	d.end()
	switch {
	case d.err != nil:
		return scan.ReadStats{}, d.err // the consumer's, as it is
	case err != nil:
		return fail(classOf(err), err)
	case chosen != nil && chosen.err != nil:
		return fail(scan.Protocol, chosen.err)
	}
	stats := scan.ReadStats{Pages: d.records, Bytes: read.Bytes}
	if err := follow.describe(&stats); err != nil {
		return fail(scan.Protocol, err)
	}
	return stats, nil
}

// classOf tells whether reading again may help: it may where the storage failed,
// and not where the files are wrong.
func classOf(err error) scan.Class {
	for _, wrong := range []error{fault.ErrCorrupt, fault.ErrUnsupported, fault.ErrMissing, sstable.ErrSchema, chunk.ErrTooLong} {
		if errors.Is(err, wrong) {
			return scan.Protocol
		}
	}
	return scan.Other
}

// delivery hands the records of one read on, at the pace of the limiter.
type delivery struct {
	ctx     context.Context
	limiter Limiter
	emit    func(arrow.Record) error
	release func(throttle.Outcome)
	records int64
	err     error // of emit
}

// begin waits until the next record may be read.
func (d *delivery) begin() error {
	if d.limiter == nil {
		return nil
	}
	var err error
	d.release, err = d.limiter.Acquire(d.ctx, "")
	return err
}

// end gives back what was granted and not used.
func (d *delivery) end() {
	if d.release != nil {
		d.release(throttle.Outcome{})
		d.release = nil
	}
}

func (d *delivery) record(rec arrow.Record) error {
	if d.release != nil {
		d.release(throttle.Outcome{Rows: rec.NumRows(), Bytes: bytesOf(rec)})
		d.release = nil
	}
	d.records++
	if err := d.emit(rec); err != nil {
		d.err = err
		return err
	}
	return d.begin()
}

// bytesOf is what the values of a record take.
func bytesOf(rec arrow.Record) int64 {
	var n int64
	for _, c := range rec.Columns() {
		n += int64(c.Data().SizeInBytes())
	}
	return n
}
