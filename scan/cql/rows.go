package cql

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/gocql/gocql"

	"manifest/internal/cqltype"
)

// rows decodes the rows of one read into records. It is used by one goroutine.
type rows struct {
	projection *projection
	builder    *array.RecordBuilder
	// dest are the driver's destinations for one row.
	dest []any
	// tuples are put together after each row, from their elements.
	tuples []*tupleColumn
	// bytes counts the serialized bytes of the values decoded.
	bytes int64
	// partitions are followed; nil where the key is not.
	partitions *partitions
	// clustering are the values of the row at hand, and last copies of those of
	// the last row of a page.
	clustering []*keyValue
	last       [][]byte
	// rooms are what the columns of the page before took.
	rooms []room
}

func newRows(p *projection, alloc memory.Allocator) (*rows, error) {
	r := &rows{projection: p, builder: array.NewRecordBuilder(alloc, p.schema)}
	keys := map[int]*keyValue{}
	if len(p.keys) > 0 {
		row := make([]*keyValue, len(p.keyAt))
		for i, at := range p.keyAt {
			row[i] = &keyValue{}
			keys[at] = row[i]
		}
		r.partitions = newPartitions(p.keys, p.partitioner, row)
	}
	for _, at := range p.clusteringAt {
		keys[at] = &keyValue{}
		r.clustering = append(r.clustering, keys[at])
	}
	r.last = make([][]byte, len(r.clustering))
	present := map[int]*presenceColumn{}
	for _, at := range p.presence {
		present[at] = &presenceColumn{}
	}
	for i, s := range p.selected {
		appender, err := cqltype.NewAppender(s.Type, r.builder.Field(i))
		if err != nil {
			r.builder.Release()
			return nil, fmt.Errorf("column %q: %w", s.Name, err)
		}
		if s.Type.Kind != cqltype.Tuple {
			plain := plainColumn{appender: appender, bytes: &r.bytes}
			if key := keys[i]; key != nil {
				r.dest = append(r.dest, &keyColumn{plain, key})
			} else {
				r.dest = append(r.dest, &plain)
			}
			continue
		}
		t := &tupleColumn{appender: appender, bytes: &r.bytes, elements: make([]tupleElement, len(s.Type.Elems))}
		if at, ok := p.presence[i]; ok {
			t.present = present[at]
		}
		for e := range t.elements {
			r.dest = append(r.dest, &t.elements[e])
		}
		r.tuples = append(r.tuples, t)
	}
	for at := len(p.selected); at < len(p.expected); at++ {
		if key := keys[at]; key != nil {
			r.dest = append(r.dest, key)
		} else {
			r.dest = append(r.dest, present[at])
		}
	}
	return r, nil
}

// read decodes all rows of a page.
func (r *rows) read(iter *gocql.Iter) (n int, err error) {
	r.prepare(iter.NumRows())
	for before := r.bytes; iter.Scan(r.dest...); before = r.bytes {
		for _, t := range r.tuples {
			if err := t.finish(); err != nil {
				return n, err
			}
		}
		if r.partitions != nil {
			r.partitions.add(r.bytes - before)
		}
		n++
	}
	if n > 0 {
		r.keep()
	}
	return n, iter.Close()
}

// prepare makes the builders ready for a page of n rows.
func (r *rows) prepare(n int) {
	r.builder.Reserve(n)
	for i, room := range r.rooms {
		room.scaled(n).reserve(r.builder.Field(i))
	}
}

// record gives the rows read since the record before. The caller releases it.
func (r *rows) record() arrow.Record {
	rec := r.builder.NewRecord()
	r.rooms = r.rooms[:0]
	for _, column := range rec.Columns() {
		r.rooms = append(r.rooms, roomOf(column))
	}
	return rec
}

func (r *rows) release() { r.builder.Release() }

// plainColumn receives one column's values.
type plainColumn struct {
	appender cqltype.Appender
	bytes    *int64
}

// UnmarshalCQL takes the serialized value; nil is NULL.
func (c *plainColumn) UnmarshalCQL(_ gocql.TypeInfo, value []byte) error {
	*c.bytes += int64(len(value))
	return c.appender.Append(value)
}

// presenceColumn remembers whether the row had a value.
type presenceColumn struct{ present bool }

// UnmarshalCQL takes the write time of the value.
func (c *presenceColumn) UnmarshalCQL(_ gocql.TypeInfo, value []byte) error {
	c.present = value != nil
	return nil
}

// tupleColumn puts the elements of a tuple together again.
type tupleColumn struct {
	appender cqltype.Appender
	bytes    *int64
	elements []tupleElement
	present  *presenceColumn // nil for key columns, which are NULL only as a whole
	scratch  []byte
}

// tupleElement receives one element; the bytes live as long as the page.
type tupleElement struct{ value []byte }

// UnmarshalCQL takes the serialized element; nil is NULL.
func (e *tupleElement) UnmarshalCQL(_ gocql.TypeInfo, value []byte) error {
	e.value = value
	return nil
}

func (c *tupleColumn) finish() error {
	c.scratch = c.scratch[:0]
	some := false
	for _, e := range c.elements {
		if e.value == nil {
			c.scratch = binary.BigEndian.AppendUint32(c.scratch, 0xffffffff)
			continue
		}
		some = true
		c.scratch = binary.BigEndian.AppendUint32(c.scratch, uint32(len(e.value)))
		c.scratch = append(c.scratch, e.value...)
	}
	if c.present != nil {
		some = c.present.present
	}
	if !some {
		return c.appender.Append(nil)
	}
	*c.bytes += int64(len(c.scratch))
	return c.appender.Append(c.scratch)
}
