package sstable

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/sstable/data"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/merge"
	"manifest/internal/sstable/primitive"
	"manifest/tokenrange"
)

// records fills Arrow records with rows, for one goroutine.
type records struct {
	projection *projection
	builder    *array.RecordBuilder
	columns    []output
	now        int64

	keyColumns int
	key        [][]byte // values of the partition key
	static     cellIndex
	regular    cellIndex

	takesRuns bool    // of partitions
	sizes     []int64 // bytes of the values of each row of a run

	rows int // in the record

	total int64 // bytes of the values of all records
	taken int64 // of those before this one
}

// bytes are those of the values in the record.
func (r *records) bytes() int { return int(r.total - r.taken) }

// output is one column of the records.
type output struct {
	name     string
	kind     schema.Kind
	ordinal  int32
	appender cqltype.Appender

	typ   *cqltype.Type
	multi bool // the value is put together from cells
	// Of writetime and ttl, which have no appender.
	writetime *array.Int64Builder
	ttl       *array.Int32Builder

	scratch []byte
}

// cellIndex finds the cells of a column among those of a row.
type cellIndex struct {
	cells []data.Cell
	// first is by column one more than the place of its first cell; 0 if none.
	first []int32
}

func (x *cellIndex) set(cells []data.Cell) {
	clear(x.first)
	x.cells = cells
	for i := len(cells) - 1; i >= 0; i-- {
		x.first[cells[i].Column] = int32(i + 1)
	}
}

// one is the cell of a simple column, nil if there is none.
func (x *cellIndex) one(column int32) *data.Cell {
	if i := x.first[column]; i > 0 {
		return &x.cells[i-1]
	}
	return nil
}

// all are the cells of a complex column.
func (x *cellIndex) all(column int32) []data.Cell {
	from := int(x.first[column]) - 1
	if from < 0 {
		return nil
	}
	to := from + 1
	for to < len(x.cells) && x.cells[to].Column == column {
		to++
	}
	return x.cells[from:to]
}

func newRecords(p *projection, keyColumns int, now int64, alloc memory.Allocator) (*records, error) {
	r := &records{
		projection: p, builder: array.NewRecordBuilder(alloc, p.schema), now: now, keyColumns: keyColumns, takesRuns: true,
		static: cellIndex{first: make([]int32, len(p.static))}, regular: cellIndex{first: make([]int32, len(p.regular))},
	}
	for i, s := range p.selected {
		o := output{name: s.Name, kind: s.Column.Kind, ordinal: int32(p.ordinals[i]), typ: s.Column.Type}
		field := r.builder.Field(i)
		var err error
		switch s.Func {
		case "writetime":
			o.writetime = field.(*array.Int64Builder)
		case "ttl":
			o.ttl = field.(*array.Int32Builder)
		default:
			o.multi = o.kind != schema.Clustering && multiCell(s.Type)
			o.appender, err = cqltype.NewAppender(s.Type, field)
		}
		if err != nil {
			r.builder.Release()
			return nil, fmt.Errorf("column %q: %w", s.Name, err)
		}
		r.columns = append(r.columns, o)
		r.takesRuns = r.takesRuns && o.appender != nil && !o.multi
	}
	return r, nil
}

func (r *records) release() { r.builder.Release() }

// take gives the record of the rows so far; the caller releases it. more tells
// that more rows follow.
func (r *records) take(more bool) arrow.Record {
	var extents []extent
	if more {
		for _, b := range r.builder.Fields() {
			extents = append(extents, measure(b))
		}
	}
	rec := r.builder.NewRecord()
	for i, e := range extents {
		// A little more than before, so that it is enough more often than not.
		e.bytes += e.bytes / 16
		e.reserve(r.builder.Field(i))
	}
	// A record of no columns has its rows all the same.
	if len(r.columns) == 0 {
		rec.Release()
		rec = array.NewRecord(r.projection.schema, nil, int64(r.rows))
	}
	r.rows, r.taken = 0, r.total
	return rec
}

// partition begins a partition.
func (r *records) partition(m *merge.Merger) error {
	if len(r.static.first) > 0 {
		r.static.set(m.Static())
	}
	if !r.projection.key {
		return nil
	}
	var err error
	if r.key, err = tokenrange.SplitPartitionKey(r.key[:0], m.Key(), r.keyColumns); err != nil {
		return fmt.Errorf("%w: %w", fault.ErrCorrupt, err)
	}
	return nil
}

// row appends a row.
func (r *records) row(m *merge.Merger) error {
	r.regular.set(m.Cells())
	clustering := m.Clustering()
	r.rows++
	for i := range r.columns {
		o := &r.columns[i]
		var err error
		switch o.kind {
		case schema.PartitionKey:
			err = r.value(o, r.key[o.ordinal])
		case schema.Clustering:
			err = r.value(o, clustering[o.ordinal])
		case schema.Static:
			err = r.cell(o, &r.static)
		default:
			err = r.cell(o, &r.regular)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", o.name, err)
		}
	}
	return nil
}

func (r *records) value(o *output, v []byte) error {
	r.total += int64(len(v))
	return o.appender.Append(v)
}

// cell appends what a column's cells show.
func (r *records) cell(o *output, x *cellIndex) error {
	if o.multi {
		return r.collection(o, x.all(o.ordinal))
	}
	c := x.one(o.ordinal)
	switch {
	case o.writetime != nil:
		if c == nil {
			o.writetime.AppendNull()
		} else {
			o.writetime.Append(c.Timestamp)
		}
		return nil
	case o.ttl != nil:
		if c == nil || c.LocalDeletionTime == primitive.NoDeletionTime {
			o.ttl.AppendNull()
		} else {
			o.ttl.Append(int32(c.LocalDeletionTime - r.now))
		}
		return nil
	case c == nil:
		return o.appender.Append(nil)
	}
	return r.value(o, c.Value)
}

var errField = errors.New("a cell of a field that the type does not have")

// collection appends the value that the cells of a complex column make, in the
// form that it has where it is one cell.
func (r *records) collection(o *output, cells []data.Cell) error {
	if len(cells) == 0 {
		return o.appender.Append(nil)
	}
	b := o.scratch[:0]
	if o.typ.Kind == cqltype.UDT {
		at := 0
		for i := range cells {
			path := cells[i].Path
			if len(path) != 2 {
				return errField
			}
			field := int(binary.BigEndian.Uint16(path))
			if field < at || field >= len(o.typ.Elems) {
				return errField
			}
			for ; at < field; at++ {
				b = append(b, 0xff, 0xff, 0xff, 0xff)
			}
			b = appendValue(b, cells[i].Value)
			at++
		}
	} else {
		b = binary.BigEndian.AppendUint32(b, uint32(len(cells)))
		for i := range cells {
			c := &cells[i]
			if o.typ.Kind != cqltype.List {
				b = appendValue(b, c.Path)
			}
			if o.typ.Kind != cqltype.Set {
				b = appendValue(b, c.Value)
			}
		}
	}
	o.scratch = b
	return r.value(o, b)
}

func appendValue(b, v []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
	return append(b, v...)
}
