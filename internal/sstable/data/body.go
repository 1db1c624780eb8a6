package data

import (
	"errors"
	"fmt"
	"math"

	"manifest/internal/sstable/primitive"
)

// Flags of cells.
const (
	cellDeleted         = 0x01
	cellExpiring        = 0x02
	cellEmptyValue      = 0x04
	cellUseRowTimestamp = 0x08
	cellUseRowTTL       = 0x10
	unknownCell         = 0xe0
)

var (
	errRowEnds  = errors.New("the row ends inside a value")
	emptyValue  = []byte{}
	errNoValues = errors.New("more columns are missing than there are")
)

// HasStatic tells that the static row's body can be read now.
func (c *Cursor) HasStatic() bool { return c.static }

// Static reads the body of the static row.
func (c *Cursor) Static(row *Row) error {
	return c.read(row, &c.layout.static, c.layout.static.all, true)
}

// Row reads the body of the row, with all columns that have an ordinal.
func (c *Cursor) Row(row *Row) error {
	return c.read(row, &c.layout.regular, c.layout.regular.all, true)
}

// CanPlain tells that the row has a liveness that never expires and no deletion
// of its own. Unless something from elsewhere deletes it, the row is visible
// whatever is in its cells.
func (c *Cursor) CanPlain() bool {
	return c.flags&(hasTimestamp|hasTTL|hasDeletion) == hasTimestamp
}

// Plain reads of the body of the row only the wanted columns, and nothing
// behind the last of them.
func (c *Cursor) Plain(row *Row) error {
	return c.read(row, &c.layout.regular, c.layout.regular.plain, false)
}

// read reads the body with some columns of the list; toEnd says that the body
// must end behind the last of them.
func (c *Cursor) read(row *Row, list *columns, cols []column, toEnd bool) error {
	row.reset()
	if err := c.fill(c.body); err != nil {
		return err
	}
	b := c.view[c.pos : c.pos+c.body]
	p, err := c.readBody(row, b, list, cols)
	if err == nil && toEnd && p != len(b) {
		err = fmt.Errorf("%d bytes after the row's last column", len(b)-p)
	}
	if err != nil {
		return c.corrupt(c.pos+p, "%w", err)
	}
	c.pos += len(b)
	c.body = 0
	c.static = false
	return nil
}

// readBody returns the place up to which it read, also with an error.
func (c *Cursor) readBody(row *Row, b []byte, list *columns, cols []column) (int, error) {
	p := 0
	if c.flags&hasTimestamp != 0 {
		v, n := primitive.Uvint(b)
		if n == 0 {
			return p, errRowEnds
		}
		p += n
		row.Liveness.Timestamp = int64(v + uint64(c.layout.header.MinTimestamp))
		if c.flags&hasTTL != 0 {
			var ok bool
			if p, ok = c.livenessExpiry(row, b, p); !ok {
				return p, errRowEnds
			}
			if row.Liveness.TTL < 0 {
				return p, errors.New("negative TTL")
			}
		}
	}
	if c.flags&hasDeletion != 0 {
		d, next, ok := c.deletionAt(b, p)
		if !ok {
			return p, errRowEnds
		}
		row.Deletion, row.Shadowable = d, c.extended&hasShadowableDeletion != 0
		p = next
	}
	missing := c.noneMissing
	if c.flags&hasAllColumns == 0 {
		next, err := c.subset(b, p, len(list.all))
		if err != nil {
			return p, err
		}
		p, missing = next, c.missing
	}
	return c.cells(row, b, p, cols, missing)
}

func (c *Cursor) livenessExpiry(row *Row, b []byte, p int) (int, bool) {
	ttl, n := primitive.Uvint(b[p:])
	if n == 0 {
		return p, false
	}
	expires, m := primitive.Uvint(b[p+n:])
	if m == 0 {
		return p, false
	}
	row.Liveness.TTL = c.ttl(ttl)
	row.Liveness.Expires = expiry(c.localDeletionTime(expires), row.Liveness.TTL)
	return p + n + m, true
}

// ttl is the time to live that is so much more than the header's.
func (c *Cursor) ttl(delta uint64) int32 { return int32(uint32(delta) + c.layout.header.MinTTL) }

// expiry corrects the time of an expiration that lies before the write it
// belongs to would: it was computed past what a number could hold
// (CASSANDRA-14092), and Cassandra 5.0 takes it for the latest there is.
func expiry(t int64, ttl int32) int64 {
	if t < int64(ttl) && ttl != primitive.ExpiredTTL {
		return primitive.InvalidDeletionTime
	}
	return t
}

// subset reads which of n columns a row lacks into c.missing.
func (c *Cursor) subset(b []byte, p, n int) (int, error) {
	v, k := primitive.Uvint(b[p:])
	if k == 0 {
		return p, errRowEnds
	}
	p += k
	clear(c.missing)
	if n < 64 {
		if v>>n != 0 {
			return p, errNoValues
		}
		c.missing[0] = v
		return p, nil
	}
	if v == 0 {
		return p, nil
	}
	if v > uint64(n) {
		return p, errNoValues
	}
	// What is listed is the shorter of what is there and what is missing.
	listed, present := int(v), n-int(v)
	ofPresent := present < n/2
	if ofPresent {
		listed = present
		for i := range n {
			c.missing[i/64] |= 1 << (i % 64)
		}
	}
	last := -1
	for range listed {
		v, k := primitive.Uvint(b[p:])
		if k == 0 {
			return p, errRowEnds
		}
		if v >= uint64(n) || int(v) <= last {
			return p, fmt.Errorf("column number %d after %d of %d", v, last, n)
		}
		last = int(v)
		c.missing[last/64] ^= 1 << (last % 64)
		p += k
	}
	return p, nil
}

// cells reads the columns that are not missing.
func (c *Cursor) cells(row *Row, b []byte, p int, cols []column, missing []uint64) (int, error) {
	// The cell of an INSERT has no more than this flag: it is live, and of the
	// row's time.
	common := byte(cellUseRowTimestamp)
	if c.flags&hasTimestamp == 0 {
		common = unknownCell
	}
	var word uint64
	for i := range cols {
		if i%64 == 0 {
			word = missing[i/64]
		}
		if word>>(i%64)&1 != 0 {
			continue
		}
		col := &cols[i]
		if col.complex {
			next, err := c.complexColumn(row, b, p, col)
			if err != nil {
				c.column = col.name
				return next, err
			}
			p = next
			continue
		}
		if p < len(b) && b[p] == common {
			n := col.fixed
			at := p + 1
			if n < 0 {
				if at < len(b) && b[at] < 0x80 {
					n = int(b[at])
					at++
				} else {
					v, k := primitive.Uvint(b[at:])
					if k == 0 || v > uint64(len(b)) {
						c.column = col.name
						return p, errRowEnds
					}
					n = int(v)
					at += k
				}
			}
			if n > len(b)-at {
				c.column = col.name
				return p, errRowEnds
			}
			p = at + n
			if col.ordinal >= 0 && row.Liveness.Timestamp > col.droppedAt {
				cell := row.add()
				cell.Column, cell.TTL = col.ordinal, 0
				cell.Timestamp, cell.LocalDeletionTime = row.Liveness.Timestamp, primitive.NoDeletionTime
				cell.Path, cell.Value = nil, b[at:p:p]
			}
			continue
		}
		next, err := c.cell(row, b, p, col)
		if err != nil {
			c.column = col.name
			return p, err
		}
		p = next
	}
	return p, nil
}

// complexColumn reads the deletion and the cells of a complex column.
func (c *Cursor) complexColumn(row *Row, b []byte, p int, col *column) (int, error) {
	if c.flags&hasComplexDeletion != 0 {
		d, next, ok := c.deletionAt(b, p)
		if !ok {
			return p, errRowEnds
		}
		p = next
		if col.ordinal >= 0 && !d.IsLive() && d.MarkedForDeleteAt > col.droppedAt {
			row.ComplexDeletions = append(row.ComplexDeletions, ComplexDeletion{col.ordinal, d})
		}
	}
	n, k := primitive.Uvint(b[p:])
	if k == 0 {
		return p, errRowEnds
	}
	p += k
	if n > uint64(len(b)-p) {
		return p, fmt.Errorf("%d cells in %d bytes", n, len(b)-p)
	}
	for range n {
		next, err := c.cell(row, b, p, col)
		if err != nil {
			return p, err
		}
		p = next
	}
	return p, nil
}

// cell reads a cell of any kind, and keeps it if the column has an ordinal.
func (c *Cursor) cell(row *Row, b []byte, p int, col *column) (int, error) {
	if p >= len(b) {
		return p, errRowEnds
	}
	flags := b[p]
	p++
	cell := Cell{Column: col.ordinal, LocalDeletionTime: primitive.NoDeletionTime, Value: emptyValue}
	switch {
	case flags&unknownCell != 0, flags&(cellDeleted|cellExpiring) == cellDeleted|cellExpiring,
		flags&(cellUseRowTTL|cellExpiring) == cellUseRowTTL,
		flags&cellUseRowTTL != 0 && row.Liveness.TTL == 0,
		flags&cellUseRowTimestamp != 0 && c.flags&hasTimestamp == 0:
		return p, fmt.Errorf("unknown flags %#x of a cell in a row of flags %#x", flags, c.flags)
	}
	if flags&cellUseRowTimestamp != 0 {
		cell.Timestamp = row.Liveness.Timestamp
	} else {
		v, n := primitive.Uvint(b[p:])
		if n == 0 {
			return p, errRowEnds
		}
		p += n
		cell.Timestamp = int64(v + uint64(c.layout.header.MinTimestamp))
	}
	switch {
	case flags&cellUseRowTTL != 0:
		cell.TTL, cell.LocalDeletionTime = row.Liveness.TTL, row.Liveness.Expires
	case flags&(cellDeleted|cellExpiring) != 0:
		next, err := c.cellExpiry(&cell, b, p, flags)
		if err != nil {
			return p, err
		}
		p = next
	}
	if col.complex {
		n, k := primitive.Uvint(b[p:])
		if k == 0 || n > uint64(len(b)-p-k) {
			return p, errRowEnds
		}
		p += k
		cell.Path = b[p : p+int(n) : p+int(n)]
		p += int(n)
	}
	if flags&cellEmptyValue == 0 {
		n := col.fixed
		if n < 0 {
			v, k := primitive.Uvint(b[p:])
			if k == 0 || v > math.MaxInt32 {
				return p, errRowEnds
			}
			p += k
			n = int(v)
		}
		if n > len(b)-p {
			return p, errRowEnds
		}
		cell.Value = b[p : p+n : p+n]
		p += n
	}
	if col.ordinal >= 0 && cell.Timestamp > col.droppedAt {
		*row.add() = cell
	}
	return p, nil
}

// cellExpiry reads when a cell was deleted, or when it expires and after how long.
func (c *Cursor) cellExpiry(cell *Cell, b []byte, p int, flags byte) (int, error) {
	v, n := primitive.Uvint(b[p:])
	if n == 0 {
		return p, errRowEnds
	}
	p += n
	cell.LocalDeletionTime = c.localDeletionTime(v)
	if flags&cellExpiring == 0 {
		return p, nil
	}
	ttl, n := primitive.Uvint(b[p:])
	if n == 0 {
		return p, errRowEnds
	}
	if cell.TTL = c.ttl(ttl); cell.TTL <= 0 {
		return p, fmt.Errorf("TTL of %d", cell.TTL)
	}
	cell.LocalDeletionTime = expiry(cell.LocalDeletionTime, cell.TTL)
	return p + n, nil
}
