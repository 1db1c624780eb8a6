package sstable

import (
	"context"
	"encoding/hex"
	"strconv"

	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/data"
	"manifest/internal/sstable/primitive"
	"manifest/internal/sstable/statistics"
)

// Dump gives all that the SSTable holds, before any merge, in lines of text:
//
//	partition KEY TOKEN [deleted AT LOCAL]
//	static [live AT TTL EXPIRES]
//	row CLUSTERING... [live AT TTL EXPIRES] [deleted AT LOCAL [shadowable]]
//	complex COLUMN deleted AT LOCAL
//	cell COLUMN AT TTL LOCAL PATH VALUE
//	marker KIND CLUSTERING... deleted AT LOCAL [deleted AT LOCAL]
//
// Keys, names, paths and values are in hexadecimal or null; times are numbers as
// the file has them, "-" for none. A static row and a row in which nothing is
// written are left out. A line is valid until emit returns.
func (r *Reader) Dump(ctx context.Context, emit func(line []byte) error) error {
	h := r.Header()
	d := &dump{header: h, emit: emit}
	layout := data.NewLayout(h, r.set.Version, r.partitioner, allUses(len(h.Static)), allUses(len(h.Regular)))
	d.cursor = layout.NewCursor(r.file.NewWindow(chunk.WindowOptions{}))
	defer d.cursor.Close()
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ok, err := d.cursor.NextPartition()
		if err != nil || !ok {
			return err
		}
		if err := d.partition(); err != nil {
			return err
		}
	}
}

// allUses keeps all columns and numbers them.
func allUses(n int) []data.Use {
	uses := make([]data.Use, n)
	for i := range uses {
		uses[i] = data.Use{Ordinal: i, DroppedAt: primitive.NoTimestamp}
	}
	return uses
}

type dump struct {
	header *statistics.Header
	cursor *data.Cursor
	emit   func(line []byte) error
	line   []byte
	row    data.Row
}

func (d *dump) partition() error {
	c := d.cursor
	d.begin("partition").value(c.Key()).word(c.Token().String()).deletion(c.PartitionDeletion())
	if err := d.end(); err != nil {
		return err
	}
	if c.HasStatic() {
		if err := c.Static(&d.row); err != nil {
			return err
		}
		d.begin("static")
		if err := d.body(d.header.Static); err != nil {
			return err
		}
	}
	for {
		kind, err := c.Next()
		switch {
		case err != nil || kind == data.End:
			return err
		case kind == data.Marker:
			err = d.marker()
		default:
			if err = c.Row(&d.row); err == nil {
				d.begin("row").position(c.Position())
				err = d.body(d.header.Regular)
			}
		}
		if err != nil {
			return err
		}
	}
}

func (d *dump) marker() error {
	p := d.cursor.Position()
	d.begin("marker").number(int64(p.Bound)).position(p)
	if p.Bound.Ends() {
		d.deletion(d.cursor.Closed())
	}
	if p.Bound.Starts() {
		d.deletion(d.cursor.Open())
	}
	return d.end()
}

// body gives a row whose line has begun.
func (d *dump) body(columns []statistics.Column) error {
	row := &d.row
	if row.Liveness.Timestamp == primitive.NoTimestamp && row.Deletion.IsLive() && len(row.Cells) == 0 && len(row.ComplexDeletions) == 0 {
		return nil
	}
	if l := row.Liveness; l.Timestamp != primitive.NoTimestamp {
		d.word("live").number(l.Timestamp).number(int64(l.TTL)).time(l.Expires)
	}
	d.deletion(row.Deletion)
	if row.Shadowable {
		d.word("shadowable")
	}
	if err := d.end(); err != nil {
		return err
	}
	cells, deletions := row.Cells, row.ComplexDeletions
	for i, c := range columns {
		if len(deletions) > 0 && deletions[0].Column == int32(i) {
			d.begin("complex").value([]byte(c.Name)).deletion(deletions[0].Time)
			if err := d.end(); err != nil {
				return err
			}
			deletions = deletions[1:]
		}
		for len(cells) > 0 && cells[0].Column == int32(i) {
			if err := d.cell(c.Name, &cells[0]); err != nil {
				return err
			}
			cells = cells[1:]
		}
	}
	return nil
}

func (d *dump) cell(name string, c *data.Cell) error {
	d.begin("cell").value([]byte(name)).number(c.Timestamp).number(int64(c.TTL)).time(c.LocalDeletionTime)
	if c.Path == nil {
		d.word("-")
	} else {
		d.value(c.Path)
	}
	return d.value(c.Value).end()
}

func (d *dump) begin(word string) *dump {
	d.line = append(d.line[:0], word...)
	return d
}

func (d *dump) end() error { return d.emit(d.line) }

func (d *dump) word(s string) *dump {
	d.line = append(append(d.line, ' '), s...)
	return d
}

func (d *dump) number(n int64) *dump {
	d.line = strconv.AppendInt(append(d.line, ' '), n, 10)
	return d
}

func (d *dump) value(v []byte) *dump {
	if v == nil {
		return d.word("null")
	}
	d.line = hex.AppendEncode(append(d.line, " 0x"...), v)
	return d
}

func (d *dump) time(t int64) *dump {
	if t == primitive.NoDeletionTime {
		return d.word("-")
	}
	return d.number(t)
}

func (d *dump) deletion(t primitive.DeletionTime) *dump {
	if t.IsLive() {
		return d
	}
	return d.word("deleted").number(t.MarkedForDeleteAt).time(t.LocalDeletionTime)
}

func (d *dump) position(p data.Position) *dump {
	for _, v := range p.Values {
		d.value(v)
	}
	return d
}
