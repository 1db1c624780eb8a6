package sstable

import (
	"context"
	"fmt"
	"slices"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/sstable/data"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/merge"
	"manifest/tokenrange"
)

// runs gives the rows of the partitions that can be read without looking at each
// by itself.
func (s *scan) runs(ctx context.Context, m *merge.Merger) error {
	for {
		run := m.Run(s.opts.RecordRows-s.records.rows, s.opts.RecordBytes-s.records.bytes())
		n := run.Len()
		if n == 0 {
			return nil
		}
		if err := s.records.run(run); err != nil {
			return err
		}
		s.stats.Partitions += int64(n)
		s.stats.Rows += int64(n)
		for i := 0; i < n && s.query.Partition != nil; i++ {
			s.query.Partition(Partition{Key: run.Keys[i].Of(run.View), Token: run.Tokens[i], Rows: 1, Bytes: s.records.sizes[i]})
		}
		if err := s.flushFull(ctx); err != nil {
			return err
		}
	}
}

// run appends the rows of a run, column by column.
func (r *records) run(run *data.Run) error {
	r.sizes = slices.Grow(r.sizes[:0], run.Len())[:run.Len()]
	clear(r.sizes)
	for i := range r.columns {
		o := &r.columns[i]
		if err := r.column(o, run); err != nil {
			return err
		}
	}
	r.rows += run.Len()
	for _, n := range r.sizes {
		r.total += n
	}
	return nil
}

// column appends a column of a run.
func (r *records) column(o *output, run *data.Run) error {
	spans := run.Keys
	switch {
	case o.kind == schema.PartitionKey && r.keyColumns > 1:
		return r.keyColumn(o, run)
	case o.kind == schema.PartitionKey:
	case int(o.ordinal) < len(run.Values) && run.Values[o.ordinal] != nil:
		spans = run.Values[o.ordinal]
	default: // the SSTable does not have it
		for range run.Len() {
			if err := o.appender.Append(nil); err != nil {
				return fmt.Errorf("column %q: %w", o.name, err)
			}
		}
		return nil
	}
	for i, s := range spans {
		r.sizes[i] += int64(s.Len())
	}
	if i, err := cqltype.AppendAll(o.appender, run.View, spans); err != nil {
		return run.Fault(i, fmt.Errorf("column %q: %w", o.name, err))
	}
	return nil
}

// keyColumn appends a column of a partition key that has several.
func (r *records) keyColumn(o *output, run *data.Run) error {
	for i, key := range run.Keys {
		var err error
		if r.key, err = tokenrange.SplitPartitionKey(r.key[:0], key.Of(run.View), r.keyColumns); err != nil {
			return run.Fault(i, fmt.Errorf("%w: %w", fault.ErrCorrupt, err))
		}
		r.sizes[i] += int64(len(r.key[o.ordinal]))
		if err := o.appender.Append(r.key[o.ordinal]); err != nil {
			return run.Fault(i, fmt.Errorf("column %q: %w", o.name, err))
		}
	}
	return nil
}
