package queries

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/vector"
)

// A record of a result has at most recordRows rows, and is ended when it has about recordBytes bytes.
const (
	recordRows  = 65_536
	recordBytes = 16 << 20
)

// resultWriter makes rows of groups and records of rows, and gives these to a sink.
type resultWriter struct {
	query    *Query
	sink     Sink
	combiner combiner
	builders []*array.RecordBuilder // of the tables
	rows     []int                  // in the builders
	bytes    []int                  // about, in the builders
	row      row
	day      *arrow.Date32 // of the rows in the builders
	groups   int           // so far
}

func newResultWriter(q *Query, sink Sink) *resultWriter {
	w := &resultWriter{query: q, sink: sink, combiner: combiner{query: q}, rows: make([]int, len(q.tables)), bytes: make([]int, len(q.tables))}
	for _, t := range q.tables {
		w.builders = append(w.builders, array.NewRecordBuilder(memory.DefaultAllocator, t.Schema))
	}
	return w
}

func (w *resultWriter) release() error {
	for _, b := range w.builders {
		b.Release()
	}
	return nil
}

// add makes rows of a group.
func (w *resultWriter) add(_ context.Context, key, state []byte) error {
	g, states, err := w.combiner.grouping(key)
	if err != nil {
		return err
	}
	states.Grow(1)
	if err := states.Merge(0, state); err != nil {
		return w.query.stateError(key, err)
	}
	return w.write(g, key, states)
}

// write makes rows of a group with its states.
func (w *resultWriter) write(g *grouping, key []byte, states accumulate.States) error {
	for len(w.row.keys) < len(g.keys) {
		w.row.keys = append(w.row.keys, vector.Value{})
	}
	w.row.keys = w.row.keys[:len(g.keys)]
	if err := g.shape.Decode(key, w.row.keys); err != nil {
		return fmt.Errorf("%w: key %x", ErrCorrupt, key)
	}
	if w.query.byDay {
		if err := w.enterDay(w.row.keys[0]); err != nil {
			return err
		}
	}
	w.groups++
	w.row.states = states
	if g.when != nil && !g.when(&w.row) {
		return nil
	}
	for w.row.number = range g.rows {
		if err := w.appendRow(g.table, g.fields, &w.row); err != nil {
			return fmt.Errorf("group %s: %w", w.query.groupName(key), err)
		}
	}
	w.bytes[g.table] += g.rows * len(key)
	return nil
}

// appendRow appends a row to a table.
func (w *resultWriter) appendRow(table int, fields []field, r *row) error {
	if w.rows[table] == recordRows || w.bytes[table] >= recordBytes {
		if err := w.flush(table); err != nil {
			return err
		}
	}
	for i, f := range fields {
		v, err := f.value(r)
		if err == nil {
			err = appendResult(w.builders[table].Field(i), f.kind, v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	w.rows[table]++
	return nil
}

// enterDay gives the rows of the day before to the sink if day is another one.
func (w *resultWriter) enterDay(day vector.Value) error {
	var next *arrow.Date32
	if !day.Null {
		d := arrow.Date32(day.Int)
		next = &d
	}
	same := (w.day == nil) == (next == nil) && (next == nil || *next == *w.day)
	if same {
		return nil
	}
	if err := w.flushAll(); err != nil {
		return err
	}
	w.day = next
	return nil
}

// dayValue returns the day of the rows in the builders.
func (w *resultWriter) dayValue() vector.Value {
	if w.day == nil {
		return vector.Value{Null: true}
	}
	return vector.Value{Int: int64(*w.day)}
}

func (w *resultWriter) flushAll() error {
	for table := range w.rows {
		if err := w.flush(table); err != nil {
			return err
		}
	}
	return nil
}

// flush gives the rows of a table to the sink.
func (w *resultWriter) flush(table int) error {
	if w.rows[table] == 0 {
		return nil
	}
	w.rows[table], w.bytes[table] = 0, 0
	rec := w.builders[table].NewRecord()
	defer rec.Release()
	return w.sink(w.query.tables[table].Name, w.day, rec)
}

// end gives the last rows to the sink. A grouping without keys has a group even if there was no row.
func (w *resultWriter) end(context.Context) error {
	if g := &w.query.groupings[0]; w.groups == 0 && len(g.keys) == 0 {
		key := g.shape.Append(nil, nil, 0)
		_, states, err := w.combiner.grouping(key)
		if err != nil {
			return err
		}
		states.Grow(1)
		if err := w.write(g, key, states); err != nil {
			return err
		}
	}
	return w.flushAll()
}
