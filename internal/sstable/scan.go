package sstable

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/schema"
	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/data"
	"manifest/internal/sstable/merge"
	"manifest/tokenrange"
)

// Query says what to read.
type Query struct {
	// Range are the tokens to read; the zero Range is the whole ring.
	Range tokenrange.Range
	// Columns are names of columns, writetime(c) and ttl(c); they name the fields
	// of the records. None gives records that only count rows.
	Columns []string
	// Keys tells which partitions to read, by their serialized keys; nil means
	// all. Of partitions that are not asked for only the first chunk is read, with
	// the help of the indexes, so that reading a few of many long ones is cheap. It
	// is called from the scan's goroutine.
	Keys func(key []byte) bool
	// Partition is told each partition that gave rows, behind the last of them,
	// from the scan's goroutine; nil means nobody wants to know.
	Partition func(Partition)
	// Now is the moment of the read in seconds since 1970: what has expired at it
	// is gone. Scans that belong together have the same.
	Now int64
}

// Partition is what a scan gave of a partition.
type Partition struct {
	// Key is its serialized key, valid during the call.
	Key []byte
	// Token is where it lies.
	Token tokenrange.Token
	// Rows counts its rows, Bytes those of the values of them that were asked for.
	Rows, Bytes int64
}

// Options bound what a scan takes. The zero value is good for local files.
type Options struct {
	// RecordRows and RecordBytes are what a record has at most, but for the last
	// row. 0 means 16,384 rows, 4 MiB.
	RecordRows, RecordBytes int
	// ReadBytes is how much of an SSTable's uncompressed data is read at once. 0
	// means 256 KiB, and less where many SSTables are read together.
	ReadBytes int
	// ReadAhead is how many such reads of each SSTable go on while rows are
	// decoded, each on a goroutine. 0 means none: where as many scans run as there
	// are cores, it gains nothing.
	ReadAhead int
	// MaxRowBytes bounds the memory for a single row. 0 means 256 MiB.
	MaxRowBytes int
	// Allocator is that of the records; nil means Go's memory.
	Allocator memory.Allocator

	oneByOne bool // no runs of partitions: for tests, to compare
}

func (o Options) withDefaults(sources int) Options {
	if o.RecordRows == 0 {
		o.RecordRows = 16 << 10
	}
	if o.RecordBytes == 0 {
		o.RecordBytes = 4 << 20
	}
	if o.ReadBytes == 0 {
		const all = 4 << 20
		o.ReadBytes = min(256<<10, all/max(1, sources))
	}
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	return o
}

// Stats say what a scan has read.
type Stats struct {
	// Partitions counts those that some SSTable has, visible or not.
	Partitions int64
	// Rows counts those that were given.
	Rows int64
	// Bytes counts the uncompressed data that was read, more than was needed at
	// the ends of ranges.
	Bytes int64
}

// Scan gives the visible rows of a token range as records: partitions in token
// order, rows of a partition in clustering order. emit is called from the
// calling goroutine; a record is valid until it returns, unless retained. An
// error of emit ends the scan and is returned as it is. After any error, nothing
// that was given counts.
func (t *Table) Scan(ctx context.Context, q Query, opts Options, emit func(arrow.Record) error) (Stats, error) {
	opts = opts.withDefaults(len(t.readers))
	p, err := t.project(q.Columns)
	if err != nil {
		return Stats{}, err
	}
	if q.Range == (tokenrange.Range{}) {
		q.Range = t.partitioner.Ring()
	}
	s := &scan{table: t, query: q, opts: opts, emit: emit}
	if s.records, err = newRecords(p, len(t.schema.Table.OfKind(schema.PartitionKey)), q.Now, opts.Allocator); err != nil {
		return Stats{}, err
	}
	defer s.records.release()
	defer s.close()
	if err = s.open(p); err == nil {
		err = s.run(ctx, p)
	}
	return s.stats, err
}

// scan is one call of Scan.
type scan struct {
	table   *Table
	query   Query
	opts    Options
	emit    func(arrow.Record) error
	records *records
	cursors []*data.Cursor
	sources []merge.Source
	stats   Stats
}

// open puts a cursor on each SSTable.
func (s *scan) open(p *projection) error {
	for _, b := range s.table.bindings {
		ranges := b.reader.within(s.query.Range)
		if len(ranges) == 0 {
			continue
		}
		layout := data.NewLayout(b.header, b.reader.set.Version, b.reader.partitioner, wanted(b.static, p.static), wanted(b.regular, p.regular))
		window := chunk.WindowOptions{Step: s.opts.ReadBytes, Ahead: s.opts.ReadAhead, MaxPiece: s.opts.MaxRowBytes}
		if s.query.Keys != nil {
			window.Step, window.Ahead = seekBytes, 0
		}
		cursor := layout.NewCursor(b.reader.file.NewWindow(window))
		s.cursors = append(s.cursors, cursor)
		if s.query.Keys != nil {
			keys, err := newKeys(b.reader, cursor, s.query.Range)
			if err != nil {
				return err
			}
			s.sources = append(s.sources, &keySource{keys, s.query.Keys})
			continue
		}
		source := &rangeSource{reader: b.reader, cursor: cursor, tokens: ranges[0], later: ranges[1:]}
		if err := source.seek(); err != nil {
			return err
		}
		s.sources = append(s.sources, source)
	}
	return nil
}

// wanted completes the uses of an SSTable's columns by what is selected.
func wanted(uses []data.Use, columns []merge.Column) []data.Use {
	uses = slices.Clone(uses)
	for i := range uses {
		if o := uses[i].Ordinal; o >= 0 {
			uses[i].Wanted = columns[o].Wanted
		}
	}
	return uses
}

func (s *scan) close() {
	for _, c := range s.cursors {
		c.Close()
	}
}

func (s *scan) run(ctx context.Context, p *projection) error {
	m := merge.New(s.sources, merge.Options{
		Static: p.static, Regular: p.regular, Comparators: s.table.comparators, Now: s.query.Now, Strict: s.table.schema.Table.View,
	})
	for n := 0; ; n++ {
		// A context is looked at now and then only: that takes longer than a row.
		if n&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ok, err := m.NextPartition()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		s.stats.Partitions++
		if err := s.partition(ctx, m); err != nil {
			return err
		}
		if s.opts.oneByOne || !s.records.takesRuns {
			continue
		}
		if err := s.runs(ctx, m); err != nil {
			return err
		}
	}
	for _, c := range s.cursors {
		s.stats.Bytes += c.BytesRead()
	}
	return s.flush(false)
}

// partition gives the rows of a partition.
func (s *scan) partition(ctx context.Context, m *merge.Merger) error {
	if err := s.records.partition(m); err != nil {
		return m.Fault(err)
	}
	rows, bytes := s.stats.Rows, s.records.total
	for {
		ok, err := m.Next()
		if err != nil {
			return err
		}
		if !ok {
			if s.query.Partition != nil && s.stats.Rows > rows {
				s.query.Partition(Partition{Key: m.Key(), Token: m.Token(), Rows: s.stats.Rows - rows, Bytes: s.records.total - bytes})
			}
			return nil
		}
		if err := s.records.row(m); err != nil {
			return m.Fault(err)
		}
		s.stats.Rows++
		if err := s.flushFull(ctx); err != nil {
			return err
		}
	}
}

// flushFull gives the rows gathered so far if the record may have no more.
func (s *scan) flushFull(ctx context.Context) error {
	if s.records.rows < s.opts.RecordRows && s.records.bytes() < s.opts.RecordBytes {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.flush(true)
}

// flush gives the rows gathered so far; more tells that others follow.
func (s *scan) flush(more bool) error {
	if s.records.rows == 0 {
		return nil
	}
	rec := s.records.take(more)
	defer rec.Release()
	return s.emit(rec)
}
