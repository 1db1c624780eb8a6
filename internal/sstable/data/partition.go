package data

import (
	"bytes"
	"encoding/binary"

	"manifest/internal/sstable/primitive"
)

// NextPartition passes over what is left of the partition and reads the head of
// the next one. It returns false at the end of the file.
func (c *Cursor) NextPartition() (bool, error) {
	for c.inPartition {
		if _, err := c.Next(); err != nil {
			return false, err
		}
	}
	if len(c.view) == c.pos && c.Offset() == c.window.Size() {
		return false, nil
	}
	if err := c.partitionHead(); err != nil {
		return false, err
	}
	if len(c.layout.static.all) > 0 {
		return true, c.staticHead()
	}
	return true, nil
}

func (c *Cursor) partitionHead() error {
	c.start = c.Offset()
	if err := c.fill(2); err != nil {
		return err
	}
	length := int(binary.BigEndian.Uint16(c.view[c.pos:]))
	if err := c.fill(2 + length + 1); err != nil {
		return err
	}
	c.previousKey, c.key = c.key, append(c.previousKey[:0], c.view[c.pos+2:c.pos+2+length]...)
	c.previousToken, c.token = c.token, c.layout.partitioner.Token(c.key)
	c.inPartition = true
	c.column = ""
	if c.partitions > 0 {
		if d := c.previousToken.Compare(c.token); d > 0 || d == 0 && bytes.Compare(c.previousKey, c.key) >= 0 {
			return c.corrupt(c.pos, "the partition's token %s and key do not come after token %s and key 0x%x", c.token, c.previousToken, c.previousKey)
		}
	}
	c.partitions++
	c.positions, c.body, c.static = 0, 0, false
	c.open, c.closed, c.isOpen = primitive.Live, primitive.Live, false
	return c.partitionDeletion(2 + length)
}

// partitionDeletion reads the deletion that stands so far behind pos, and leaves
// pos behind it.
func (c *Cursor) partitionDeletion(behind int) error {
	unsigned := c.layout.unsigned
	for {
		at := c.pos + behind
		d, n, err := primitive.PartitionDeletion(c.view[at:], unsigned)
		if err != nil {
			return c.corrupt(at, "%w", err)
		}
		if n > 0 {
			c.deletion = d
			c.pos = at + n
			return nil
		}
		if err := c.more(); err != nil {
			return err
		}
	}
}

// staticHead reads the head of the static row, which has no clustering.
func (c *Cursor) staticHead() error {
	for {
		p := c.pos
		if len(c.view)-p >= 2 {
			c.flags, c.extended = c.view[p], c.view[p+1]
			if c.flags&(endOfPartition|isMarker) != 0 || c.flags&hasExtension == 0 || c.extended&isStatic == 0 {
				return c.corrupt(p, "no static row where there must be one: flags %#x %#x", c.flags, c.extended)
			}
			ok, err := c.size(p + 2)
			if err != nil {
				return err
			}
			if ok {
				c.static = true
				return nil
			}
		}
		if err := c.more(); err != nil {
			return err
		}
	}
}

// size reads the sizes that stand between a row's clustering and its body, and
// leaves pos at the body. It returns false where they are cut off by the end of
// the view.
func (c *Cursor) size(p int) (bool, error) {
	size, n := primitive.Uvint(c.view[p:])
	if n == 0 {
		return false, nil
	}
	_, m := primitive.Uvint(c.view[p+n:])
	if m == 0 {
		return false, nil
	}
	if size < uint64(m) || size > uint64(c.window.Size()) {
		return false, c.corrupt(p, "a row of %d bytes", size)
	}
	c.pos = p + n + m
	c.body = int(size) - m
	return true, nil
}

// MoveTo continues at an offset of the content where a partition begins, behind
// the last one read. It errs where no partition ends in front of it.
func (c *Cursor) MoveTo(offset int64) error {
	c.inPartition = false
	c.view, c.pos = nil, 0
	if offset == 0 {
		return c.window.MoveTo(0)
	}
	if err := c.window.MoveTo(offset - 1); err != nil {
		return err
	}
	view, err := c.window.Next(0, 1)
	if err != nil {
		return err
	}
	c.view = view
	if c.view[0] != endOfPartition {
		return c.corrupt(0, "no partition ends here, where the index has the next one begin")
	}
	c.pos = 1
	return nil
}
