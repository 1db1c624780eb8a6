package data

import (
	"encoding/binary"

	"manifest/internal/sstable/primitive"
)

// Flags of rows and markers.
const (
	endOfPartition     = 0x01
	isMarker           = 0x02
	hasTimestamp       = 0x04
	hasTTL             = 0x08
	hasDeletion        = 0x10
	hasAllColumns      = 0x20
	hasComplexDeletion = 0x40 // every complex column of the row has a deletion, maybe one of nothing
	hasExtension       = 0x80 // more flags follow

	isStatic                   = 0x01
	hasShadowableDeletion      = 0x02
	unknownExtension      byte = ^byte(isStatic | hasShadowableDeletion)
)

// Next passes over the body of the row before, and over the static row, unless
// they were read, and reads the head of the next row or marker.
func (c *Cursor) Next() (Kind, error) {
	if c.body > 0 {
		if err := c.skip(c.body); err != nil {
			return 0, err
		}
		c.body = 0
	}
	c.static = false
	c.column = ""
	for {
		if c.pos < len(c.view) {
			c.flags = c.view[c.pos]
			switch {
			case c.flags == endOfPartition:
				if c.isOpen {
					return 0, c.corrupt(c.pos, "the partition ends inside a range tombstone")
				}
				c.pos++
				c.inPartition = false
				return End, nil
			case c.flags&endOfPartition != 0, c.flags&isMarker != 0 && c.flags != isMarker,
				c.flags&(hasTTL|hasTimestamp) == hasTTL:
				return 0, c.corrupt(c.pos, "unknown flags %#x of a row", c.flags)
			case c.flags == isMarker:
				ok, err := c.marker()
				if ok || err != nil {
					return Marker, err
				}
			default:
				ok, err := c.rowHead()
				if ok || err != nil {
					return RowKind, err
				}
			}
		}
		if err := c.more(); err != nil {
			return 0, err
		}
	}
}

// rowHead reads a row's head. It returns false where it is cut off by the end
// of the view; so do the functions below.
func (c *Cursor) rowHead() (bool, error) {
	p := c.pos + 1
	c.extended = 0
	if c.flags&hasExtension != 0 {
		if p == len(c.view) {
			return false, nil
		}
		c.extended = c.view[p]
		if c.extended&unknownExtension != 0 || c.extended&isStatic != 0 {
			return false, c.corrupt(p, "unknown flags %#x %#x of a row", c.flags, c.extended)
		}
		p++
	}
	p, ok, err := c.clusteringAt(p, len(c.layout.clustering))
	if !ok || err != nil {
		return false, err
	}
	if ok, err := c.size(p); !ok || err != nil {
		return false, err
	}
	return true, c.advance(RowBound)
}

// advance makes the clustering that was read the present position.
func (c *Cursor) advance(b Bound) error {
	c.upcoming.Bound = b
	if c.positions > 0 && c.layout.comparators.Compare(c.current.Position, c.upcoming.Position) >= 0 {
		return c.corrupt(c.pos, "a row or marker does not come after the one before")
	}
	c.positions++
	c.upcoming, c.current = c.current, c.upcoming
	return nil
}

// Position is the place of the row or marker. Its values stay valid while the
// next but one is not read.
func (c *Cursor) Position() Position { return c.current.Position }

// clusteringAt reads n clustering values at p and returns the place behind them.
func (c *Cursor) clusteringAt(p, n int) (int, bool, error) {
	if n == 0 {
		c.upcoming.Values = c.upcoming.Values[:0]
		return p, true, nil
	}
	start := p
	var absent uint64
	for i := range n {
		if i%32 == 0 {
			v, k := primitive.Uvint(c.view[p:])
			if k == 0 {
				return 0, false, nil
			}
			absent = v
			p += k
		}
		if absent>>(2*(i%32))&3 != 0 {
			continue
		}
		length := c.layout.clustering[i]
		if length < 0 {
			v, k := primitive.Uvint(c.view[p:])
			if k == 0 {
				return 0, false, nil
			}
			p += k
			if v > uint64(c.window.Size()) {
				return 0, false, c.corrupt(p, "a clustering value of %d bytes", v)
			}
			length = int(v)
		}
		if length > len(c.view)-p {
			return 0, false, nil
		}
		p += length
	}
	return p, true, c.keep(start, p, n)
}

// keep copies n clustering values, which were found to be whole, out of the view.
func (c *Cursor) keep(start, end, n int) error {
	to := c.upcoming
	to.bytes = append(to.bytes[:0], c.view[start:end]...)
	to.Values = to.Values[:0]
	b := to.bytes
	var absent uint64
	for i := range n {
		if i%32 == 0 {
			v, k := primitive.Uvint(b)
			absent = v
			b = b[k:]
		}
		switch absent >> (2 * (i % 32)) & 3 {
		case 1:
			to.Values = append(to.Values, b[:0:0])
			continue
		case 2:
			to.Values = append(to.Values, nil)
			continue
		case 3:
			return c.corrupt(start, "a clustering value is both empty and null")
		}
		length := c.layout.clustering[i]
		if length < 0 {
			v, k := primitive.Uvint(b)
			length = int(v)
			b = b[k:]
		}
		to.Values = append(to.Values, b[:length:length])
		b = b[length:]
	}
	return nil
}

// marker reads a whole marker.
func (c *Cursor) marker() (bool, error) {
	p := c.pos + 1
	if len(c.view)-p < 3 {
		return false, nil
	}
	bound := Bound(c.view[p])
	n := int(binary.BigEndian.Uint16(c.view[p+1:]))
	if !bound.marker() || n > len(c.layout.clustering) {
		return false, c.corrupt(p, "a marker of kind %d with %d values", bound, n)
	}
	p, ok, err := c.clusteringAt(p+3, n)
	if !ok || err != nil {
		return false, err
	}
	// The size is not relied on: it has been computed wrongly.
	for range 2 {
		_, k := primitive.Uvint(c.view[p:])
		if k == 0 {
			return false, nil
		}
		p += k
	}
	var times [2]primitive.DeletionTime
	count := 1
	if bound.boundary() {
		count = 2
	}
	for i := range count {
		if times[i], p, ok = c.deletionAt(c.view, p); !ok {
			return false, nil
		}
	}
	at := c.pos
	c.pos = p
	return true, c.turn(at, bound, times[0], times[count-1])
}

// turn follows the range tombstones that are open.
func (c *Cursor) turn(at int, b Bound, closing, opening primitive.DeletionTime) error {
	switch {
	case b.Ends() != c.isOpen:
		return c.corrupt(at, "a range tombstone opens inside another or closes outside")
	case b.Ends() && closing.MarkedForDeleteAt != c.open.MarkedForDeleteAt:
		return c.corrupt(at, "a range tombstone of time %d closes as one of %d", c.open.MarkedForDeleteAt, closing.MarkedForDeleteAt)
	}
	c.closed, c.open, c.isOpen = closing, primitive.Live, b.Starts()
	if c.isOpen {
		c.open = opening
	}
	return c.advance(b)
}

// Open is the range tombstone that covers what follows the last marker, or Live.
func (c *Cursor) Open() primitive.DeletionTime { return c.open }

// Closed is the range tombstone that ends at the last marker, if one does.
func (c *Cursor) Closed() primitive.DeletionTime { return c.closed }

// deletionAt reads a deletion time inside a partition.
func (c *Cursor) deletionAt(b []byte, p int) (d primitive.DeletionTime, next int, ok bool) {
	at, n := primitive.Uvint(b[p:])
	if n == 0 {
		return d, 0, false
	}
	local, m := primitive.Uvint(b[p+n:])
	if m == 0 {
		return d, 0, false
	}
	d.MarkedForDeleteAt = int64(at + uint64(c.layout.header.MinTimestamp))
	d.LocalDeletionTime = c.localDeletionTime(local)
	if d.IsLive() {
		d = primitive.Live
	}
	return d, p + n + m, true
}

// localDeletionTime is the time that is so much after the header's.
func (c *Cursor) localDeletionTime(delta uint64) int64 {
	v := uint32(delta) + c.layout.header.MinLocalDeletionTime
	if c.layout.unsigned {
		return primitive.UnsignedDeletionTime(v)
	}
	return primitive.LegacyDeletionTime(int32(v))
}
