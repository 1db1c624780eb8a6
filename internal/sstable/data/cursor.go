package data

import (
	"bytes"
	"fmt"

	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/order"
	"manifest/internal/sstable/primitive"
	"manifest/internal/sstable/statistics"
	"manifest/tokenrange"
)

// Layout is how the rows of an SSTable are to be read: what all cursors over it
// share. It is immutable.
type Layout struct {
	header      *statistics.Header
	unsigned    bool // deletion times are
	partitioner tokenrange.Partitioner
	comparators Comparators
	clustering  []int // length of a clustering value, -1 if it varies

	static, regular columns
	runnable        bool  // see ReadRun
	droppedAt       int64 // the latest time at which a wanted regular column was dropped
}

// Use is what becomes of a column's cells.
type Use struct {
	// Ordinal is the caller's number for the column; cells carry it. Negative
	// means that cells of the column are passed over.
	Ordinal int
	// Wanted tells that Plain gives the column too.
	Wanted bool
	// DroppedAt is the time, in microseconds since 1970, at which the column was
	// dropped: what was written up to then is passed over. Of a column never
	// dropped it is primitive.NoTimestamp.
	DroppedAt int64
}

// columns is one of the header's two lists.
type columns struct {
	all []column
	// plain is all up to the last wanted one; others have no ordinal there.
	plain []column
}

type column struct {
	name      string
	ordinal   int32
	droppedAt int64
	// fixed is the length of a simple column's value, -1 if it varies. Values in
	// cells of complex columns always have their lengths with them.
	fixed   int
	complex bool
}

// NewLayout prepares reading with the uses of the header's static and regular
// columns.
func NewLayout(h *statistics.Header, v component.Version, p tokenrange.Partitioner, static, regular []Use) *Layout {
	l := &Layout{
		header: h, unsigned: v.HasUnsignedDeletionTime(), partitioner: p,
		static: newColumns(h.Static, static), regular: newColumns(h.Regular, regular),
	}
	for _, t := range h.Clustering {
		c := order.Of(t.Type)
		if t.Descending {
			c = order.Reverse(c)
		}
		l.comparators = append(l.comparators, c)
		l.clustering = append(l.clustering, fixedLen(t.Type.FixedLen()))
	}
	l.runnable, l.droppedAt = l.runs(), l.regular.droppedAt()
	return l
}

func fixedLen(n int, ok bool) int {
	if !ok {
		return -1
	}
	return n
}

func newColumns(list []statistics.Column, uses []Use) columns {
	var cs columns
	last := 0
	for i, c := range list {
		u := uses[i]
		col := column{name: c.Name, ordinal: int32(u.Ordinal), droppedAt: u.DroppedAt, fixed: -1, complex: c.Complex()}
		if !col.complex {
			col.fixed = fixedLen(c.Type.FixedLen())
		}
		cs.all = append(cs.all, col)
		if u.Wanted {
			last = i + 1
		} else {
			col.ordinal = -1
		}
		cs.plain = append(cs.plain, col)
	}
	cs.plain = cs.plain[:last]
	return cs
}

// Comparators are those of the clustering key.
func (l *Layout) Comparators() Comparators { return l.comparators }

// Kind is what Next found.
type Kind uint8

// The kinds.
const (
	End Kind = iota // of the partition
	RowKind
	Marker
)

// Cursor walks one Data.db, for one goroutine. After an error it is of no use.
type Cursor struct {
	layout *Layout
	window *chunk.Window
	view   []byte
	pos    int // in view

	// Of the partition.
	key, previousKey     []byte
	token, previousToken tokenrange.Token
	partitions           int64 // begun
	start                int64 // offset
	deletion             primitive.DeletionTime
	inPartition          bool

	// Of the row or marker whose head was read last.
	flags, extended   byte
	static            bool // it is the static row
	body              int  // bytes of the row's body that are still to come
	current, upcoming *clustering
	positions         int // read in this partition
	open, closed      primitive.DeletionTime
	isOpen            bool
	missing           []uint64
	noneMissing       []uint64
	column            string // being read, for errors
}

// NewCursor returns a cursor in front of the first partition of the window.
// The window is the cursor's from now on, until Close.
func (l *Layout) NewCursor(w *chunk.Window) *Cursor {
	words := max(len(l.static.all), len(l.regular.all))/64 + 1
	return &Cursor{
		layout: l, window: w, current: &clustering{}, upcoming: &clustering{},
		missing: make([]uint64, words), noneMissing: make([]uint64, words),
	}
}

// Close closes the window.
func (c *Cursor) Close() { c.window.Close() }

// Key is the serialized key of the partition.
func (c *Cursor) Key() []byte { return c.key }

// Token is that of the partition.
func (c *Cursor) Token() tokenrange.Token { return c.token }

// PartitionDeletion is the partition's own.
func (c *Cursor) PartitionDeletion() primitive.DeletionTime { return c.deletion }

// PartitionOffset is the place of the partition in the content of Data.db.
func (c *Cursor) PartitionOffset() int64 { return c.start }

// Offset is the place behind what was read last.
func (c *Cursor) Offset() int64 { return c.window.Offset() + int64(c.pos) }

// BytesRead counts the content that was decompressed.
func (c *Cursor) BytesRead() int64 { return c.window.BytesRead() }

// corrupt reports corruption at a place in the view.
func (c *Cursor) corrupt(pos int, format string, args ...any) error {
	err := &fault.Error{
		File: c.window.Path(), Offset: c.window.Offset() + int64(pos), Column: c.column,
		Err: fmt.Errorf("%w: %w", fault.ErrCorrupt, fmt.Errorf(format, args...)),
	}
	if c.inPartition {
		err.Key = bytes.Clone(c.key)
	}
	return err
}

// Fault says where the cursor is, for an error that its user found in a row.
func (c *Cursor) Fault(err error) error {
	return &fault.Error{File: c.window.Path(), Offset: c.Offset(), Key: bytes.Clone(c.key), Err: err}
}

// fill makes at least n bytes from pos on visible. It moves the view.
func (c *Cursor) fill(n int) error {
	if len(c.view)-c.pos >= n {
		return nil
	}
	return c.refill(n)
}

func (c *Cursor) refill(n int) error {
	view, err := c.window.Next(c.pos, n)
	if err != nil {
		if c.inPartition {
			if e, ok := err.(*fault.Error); ok {
				e.Key = bytes.Clone(c.key)
			}
		}
		return err
	}
	c.view, c.pos = view, 0
	return nil
}

// more makes at least one byte more visible than there is.
func (c *Cursor) more() error { return c.fill(len(c.view) - c.pos + 1) }

// skip passes over n bytes, which may be more than fit the memory.
func (c *Cursor) skip(n int) error {
	if n < 0 || int64(n) > c.window.Size()-c.Offset() {
		return c.corrupt(c.pos, "a row of %d more bytes where the content ends after %d", n, c.window.Size()-c.Offset())
	}
	for n > len(c.view)-c.pos {
		n -= len(c.view) - c.pos
		c.pos = len(c.view)
		if err := c.fill(1); err != nil {
			return err
		}
	}
	c.pos += n
	return nil
}
