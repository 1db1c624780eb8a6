package data

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"manifest/internal/cqltype"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
	"manifest/tokenrange"
)

// Run is partitions that follow one another, each of one plain row, as tables
// without a clustering key have them: read at once, and laid out by column. It
// has what Plain gives of them, and is valid until the cursor is moved.
type Run struct {
	// View has all keys and values.
	View []byte
	// Keys are the serialized partition keys, Tokens theirs.
	Keys   []cqltype.Span
	Tokens []tokenrange.Token
	// Values have by ordinal the values of the wanted columns. Of a column that the
	// SSTable does not have they are nil.
	Values [][]cqltype.Span
	// Bytes counts keys and values.
	Bytes int

	path   string
	offset int64 // of the view
	ends   []uint32
	memory []*[longestRun]cqltype.Span
}

// longestRun bounds the memory of a run. It is enough for what is done once for
// each of them not to count.
const longestRun = 1024

// Len is the number of partitions, each of which has one row.
func (r *Run) Len() int { return len(r.Keys) }

// Fault says where row i is, for an error that the run's user found in it.
func (r *Run) Fault(i int, err error) error {
	return &fault.Error{File: r.path, Offset: r.offset + int64(r.ends[i]), Key: bytes.Clone(r.Keys[i].Of(r.View)), Err: err}
}

// begin empties the run for a cursor.
func (r *Run) begin(c *Cursor) {
	r.View, r.Keys, r.Tokens, r.ends, r.Bytes = c.view, r.Keys[:0], r.Tokens[:0], r.ends[:0], 0
	r.path, r.offset = c.window.Path(), c.window.Offset()
	for i := range c.layout.regular.plain {
		if o := int(c.layout.regular.plain[i].ordinal); o >= 0 {
			for len(r.memory) <= o {
				r.memory = append(r.memory, nil)
			}
			if r.memory[o] == nil {
				r.memory[o] = new([longestRun]cqltype.Span)
			}
		}
	}
}

// end cuts the columns to the rows that there are.
func (r *Run) end(c *Cursor) {
	r.Values = r.Values[:0]
	for range r.memory {
		r.Values = append(r.Values, nil)
	}
	for i := range c.layout.regular.plain {
		if o := c.layout.regular.plain[i].ordinal; o >= 0 {
			r.Values[o] = r.memory[o][:len(r.Keys)]
		}
	}
}

// runs tells whether partitions of such an SSTable can form runs: rows have no
// clustering key, and only simple columns are wanted.
func (l *Layout) runs() bool {
	if len(l.clustering) > 0 || len(l.static.all) > 0 || len(l.regular.all) >= 64 {
		return false
	}
	for i := range l.regular.plain {
		if l.regular.plain[i].complex {
			return false
		}
	}
	return true
}

// ReadRun reads the partitions that follow into run, up to so many rows and bytes
// and as long as their tokens are below a token. It stops in front of whatever is
// unusual, and at the end of the view: that is left to NextPartition, which reads
// it or says what is wrong with it. The partition before must have been read to
// its end.
func (c *Cursor) ReadRun(run *Run, below tokenrange.Token, rows, bytes int) {
	run.begin(c)
	if c.layout.runnable && !c.inPartition && c.partitions > 0 && len(c.view) <= math.MaxInt32 {
		c.readRun(run, below, min(rows, longestRun), bytes)
	}
	run.end(c)
}

func (c *Cursor) readRun(run *Run, below tokenrange.Token, rows, bytes int) {
	b, from := c.view, c.pos
	for len(run.Keys) < rows && run.Bytes < bytes {
		p, ok := c.plainPartition(b, from)
		if !ok {
			break
		}
		// Two keys of one token are left to NextPartition too.
		key := b[from+2 : p.key]
		token := c.layout.partitioner.Token(key)
		if !c.token.Less(token) || !token.Less(below) || !c.plainRow(run, b[:p.end], p.body, p.flags) {
			break
		}
		run.Keys = append(run.Keys, cqltype.Span{From: uint32(from + 2), To: uint32(p.key)})
		run.Tokens, run.ends = append(run.Tokens, token), append(run.ends, uint32(p.end))
		run.Bytes += len(key)
		c.token = token
		from = p.end + 1
	}
	if n := len(run.Keys); n > 0 {
		last := run.Keys[n-1]
		c.start, c.pos = run.offset+int64(last.From)-2, from
		c.partitions += int64(n)
		c.key, c.deletion = append(c.key[:0], last.Of(b)...), primitive.Live
	}
}

// plainPartition is where in the view the parts of a partition of one row end.
type plainPartition struct {
	key, body, end int // of the key; of the row's head, of the row
	flags          byte
}

// longestHead is what stands between the key and the row's body at most: the
// partition's deletion, the row's flags and sizes.
const longestHead = 12 + 1 + 2*9

// plainPartition takes the partition apart that begins at a place of the view. It
// is plain if it has no deletion, and nothing but a row that has a time and no
// more of its own.
func (c *Cursor) plainPartition(b []byte, from int) (p plainPartition, ok bool) {
	if len(b)-from < 2 {
		return p, false
	}
	at := from + 2 + int(binary.BigEndian.Uint16(b[from:]))
	if len(b)-at < longestHead {
		return p, false
	}
	p.key = at
	switch {
	case !c.layout.unsigned:
		if binary.BigEndian.Uint64(b[at+4:]) != 1<<63 { // primitive.NoTimestamp
			return p, false
		}
		at += 12
	case b[at] == 0x80:
		at++
	default:
		return p, false
	}
	if p.flags = b[at]; p.flags&^(hasAllColumns|hasComplexDeletion) != hasTimestamp {
		return p, false
	}
	size, n := primitive.Uvint(b[at+1:])
	at += 1 + n
	n = 1 + bits.LeadingZeros8(^b[at]) // length of the size of the one before
	at += n
	if size < uint64(n) || size-uint64(n) >= uint64(len(b)-at) {
		return p, false
	}
	p.body, p.end = at, at+int(size)-n
	return p, b[p.end] == endOfPartition
}

// plainRow adds the row of which b[at:] is the body to the run. It returns false
// if its cells are not all what an INSERT writes: live, and of the row's time.
func (c *Cursor) plainRow(run *Run, b []byte, at int, flags byte) bool {
	delta, n := primitive.Uvint(b[at:])
	if n == 0 || int64(delta+uint64(c.layout.header.MinTimestamp)) <= c.layout.droppedAt {
		return false
	}
	at += n
	missing := uint64(0)
	if flags&hasAllColumns == 0 {
		v, n := primitive.Uvint(b[at:])
		if n == 0 || v>>len(c.layout.regular.all) != 0 {
			return false
		}
		missing = v
		at += n
	}
	row := len(run.Keys) % longestRun
	cols := c.layout.regular.plain
	for i := range cols {
		col := &cols[i]
		if missing>>(i%64)&1 != 0 {
			if col.ordinal >= 0 {
				run.memory[col.ordinal][row] = cqltype.NullSpan
			}
			continue
		}
		if at >= len(b) || b[at] != cellUseRowTimestamp {
			return false
		}
		at++
		length := col.fixed
		if length < 0 {
			if at < len(b) && b[at] < 0x80 {
				length = int(b[at])
				at++
			} else {
				v, n := primitive.Uvint(b[at:])
				if n == 0 || v > uint64(len(b)) {
					return false
				}
				length = int(v)
				at += n
			}
		}
		if length > len(b)-at {
			return false
		}
		if col.ordinal >= 0 {
			run.memory[col.ordinal][row] = cqltype.Span{From: uint32(at), To: uint32(at + length)}
			run.Bytes += length
		}
		at += length
	}
	return true
}

// droppedAt is the latest time at which a wanted column was dropped, and
// primitive.NoTimestamp if none was.
func (cs *columns) droppedAt() int64 {
	at := int64(primitive.NoTimestamp)
	for i := range cs.plain {
		if cs.plain[i].ordinal >= 0 {
			at = max(at, cs.plain[i].droppedAt)
		}
	}
	return at
}
