package data

import "manifest/internal/sstable/primitive"

// Row is the body of a row, static or not. Reading into it again uses its
// memory again.
type Row struct {
	Liveness Liveness
	// Deletion deletes what was written to the row before it. It stands beside
	// what was written later.
	Deletion primitive.DeletionTime
	// Shadowable tells that a later liveness undoes the deletion: in views.
	Shadowable bool
	// Cells are in the header's order of columns; those of a complex column stand
	// together, in the order of their paths.
	Cells []Cell
	// ComplexDeletions are those that delete something.
	ComplexDeletions []ComplexDeletion
}

func (r *Row) reset() {
	r.Liveness = NoLiveness
	r.Deletion = primitive.Live
	r.Shadowable = false
	r.Cells = r.Cells[:0]
	r.ComplexDeletions = r.ComplexDeletions[:0]
}

// add makes room for one more cell, whose fields are to be set, all of them.
func (r *Row) add() *Cell {
	n := len(r.Cells)
	if n == cap(r.Cells) {
		r.Cells = append(r.Cells, Cell{})
	}
	r.Cells = r.Cells[:n+1]
	return &r.Cells[n]
}

// Liveness is what makes a row exist even if all its cells are null.
type Liveness struct {
	// Timestamp is the write time, in microseconds since 1970.
	Timestamp int64
	// TTL is in seconds; 0 means that it does not expire.
	TTL int32
	// Expires is in seconds since 1970.
	Expires int64
}

// NoLiveness is that of a row that was only updated.
var NoLiveness = Liveness{Timestamp: primitive.NoTimestamp, Expires: primitive.NoDeletionTime}

// Live tells whether there is a liveness and it has not expired at a time in
// seconds since 1970.
func (l Liveness) Live(now int64) bool {
	return l.Timestamp != primitive.NoTimestamp && (l.TTL == 0 || l.TTL != primitive.ExpiredTTL && now < l.Expires)
}

// Cell is a value, or a tombstone, of a column or of an element of one.
type Cell struct {
	// Column is the ordinal that the cursor's user gave the column.
	Column int32
	// TTL is in seconds; 0 means that the cell does not expire.
	TTL int32
	// Timestamp is the write time, in microseconds since 1970.
	Timestamp int64
	// LocalDeletionTime is when the cell was deleted or when it expires, in
	// seconds since 1970; primitive.NoDeletionTime if neither.
	LocalDeletionTime int64
	// Path tells the elements of a complex column apart; nil in a simple one.
	Path []byte
	// Value is empty but not nil where there is none.
	Value []byte
}

// Tombstone tells whether the cell only says that something was deleted.
func (c *Cell) Tombstone() bool {
	return c.TTL == 0 && c.LocalDeletionTime != primitive.NoDeletionTime
}

// Live tells whether the cell shows a value at a time in seconds since 1970.
func (c *Cell) Live(now int64) bool {
	return c.LocalDeletionTime == primitive.NoDeletionTime || c.TTL != 0 && now < c.LocalDeletionTime
}

// ComplexDeletion deletes the elements that a complex column had.
type ComplexDeletion struct {
	Column int32
	Time   primitive.DeletionTime
}
