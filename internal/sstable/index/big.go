package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
	"manifest/tokenrange"
)

// big is Index.db with Summary.db.
type big struct {
	file        component.File
	path        string
	version     component.Version
	partitioner tokenrange.Partitioner
	summary     *summary
}

func openBig(ctx context.Context, set *component.Set, p tokenrange.Partitioner) (*big, error) {
	f, err := set.Open(ctx, component.Index)
	if err != nil {
		return nil, err
	}
	b := &big{file: f, path: set.Path(component.Index), version: set.Version, partitioner: p}
	if b.summary, err = openSummary(ctx, set, p); err != nil {
		f.Close()
		return nil, err
	}
	return b, nil
}

// Close is part of Index.
func (b *big) Close() error {
	err := b.file.Close()
	if e := b.summary.file.Close(); err == nil {
		err = e
	}
	return err
}

// Bounds is part of Index.
func (b *big) Bounds() (first, last []byte) { return b.summary.first, b.summary.last }

// From is part of Index.
func (b *big) From(after tokenrange.Token) (Entries, error) {
	e := &bigEntries{index: b, stream: stream{file: b.file, path: b.path}, last: -1}
	key, position, err := b.summary.before(after)
	if err != nil || key == nil {
		return e, err
	}
	// The entry there must be the one that the summary names.
	if position < 0 || position >= b.file.Size() {
		return nil, fault.Corruptf(b.summary.path, -1, "position %d in an Index.db of %d bytes", position, b.file.Size())
	}
	e.stream.next = position
	first, err := e.peekKey()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(first, key) {
		return nil, fault.Corruptf(b.path, position, "key 0x%x, where Summary.db has 0x%x", first, key)
	}
	return e, nil
}

// bigEntries walks Index.db.
type bigEntries struct {
	index  *big
	stream stream
	key    []byte
	token  tokenrange.Token
	last   int64 // offset in Data.db, -1 before the first entry
}

// peekKey gives the key of the next entry.
func (e *bigEntries) peekKey() ([]byte, error) {
	b, err := e.stream.peek(2)
	if err != nil || len(b) < 2 {
		return nil, e.short(err)
	}
	n := 2 + int(binary.BigEndian.Uint16(b))
	if b, err = e.stream.peek(n); err != nil || len(b) < n {
		return nil, e.short(err)
	}
	return b[2:], nil
}

func (e *bigEntries) short(err error) error {
	if err != nil {
		return err
	}
	return e.corrupt("the file ends inside an entry")
}

func (e *bigEntries) corrupt(format string, args ...any) error {
	return fault.Corruptf(e.index.path, e.stream.offset(), format, args...)
}

// Next is part of Entries.
func (e *bigEntries) Next() (Entry, error) {
	if e.stream.eof() {
		if !bytes.Equal(e.key, e.index.summary.last) {
			return Entry{}, e.corrupt("the last key is 0x%x, in Summary.db 0x%x", e.key, e.index.summary.last)
		}
		return Entry{}, io.EOF
	}
	key, err := e.peekKey()
	if err != nil {
		return Entry{}, err
	}
	token := e.index.partitioner.Token(key)
	if e.last >= 0 {
		if c := e.token.Compare(token); c > 0 || c == 0 && bytes.Compare(e.key, key) >= 0 {
			return Entry{}, e.corrupt("the key does not come after the one before")
		}
	}
	if e.stream.offset() == 0 && !bytes.Equal(key, e.index.summary.first) {
		return Entry{}, e.corrupt("the first key is 0x%x, in Summary.db 0x%x", key, e.index.summary.first)
	}
	e.key, e.token = append(e.key[:0], key...), token

	const most = 2 * 9 // two variable-length integers
	head := 2 + len(key)
	b, err := e.stream.peek(head + most)
	if err != nil {
		return Entry{}, err
	}
	position, n := primitive.Uvint(b[head:])
	size, m := primitive.Uvint(b[head+n:])
	if n == 0 || m == 0 {
		return Entry{}, e.short(nil)
	}
	head += n + m
	if int64(position) <= e.last || e.last < 0 && e.stream.offset() == 0 && position != 0 {
		return Entry{}, e.corrupt("position %d after %d", position, e.last)
	}
	if size > uint64(e.stream.left()-int64(head)) {
		return Entry{}, e.corrupt("a block index of %d bytes where %d are left", size, e.stream.left()-int64(head))
	}
	if size > 0 {
		if err := e.checkBlocks(head, int64(size)); err != nil {
			return Entry{}, err
		}
	}
	e.last = int64(position)
	e.stream.take(int64(head) + int64(size))
	return Entry{Key: e.key, Offset: e.last}, nil
}

// checkBlocks checks the frame of a block index, so that a wrong size cannot
// pass over the entries behind it:
//
//	<header length> deletion <count> block* offset (4 bytes)*
func (e *bigEntries) checkBlocks(head int, size int64) error {
	const most = 9 + 12 + 9
	b, err := e.stream.peek(head + int(min(size, most)))
	if err != nil {
		return err
	}
	b = b[head:]
	_, n := primitive.Uvint(b)
	_, m, err := primitive.PartitionDeletion(b[n:], e.index.version.HasUnsignedDeletionTime())
	if n == 0 || m == 0 || err != nil {
		return e.corrupt("malformed block index of %d bytes", size)
	}
	count, k := primitive.Uvint(b[n+m:])
	blocks := size - int64(n+m+k)
	if k == 0 || count == 0 || count > uint64(blocks)/4 {
		return e.corrupt("malformed block index of %d bytes", size)
	}
	// The first block is at offset 0, the others follow, and the offsets end the entry.
	var first [8]byte
	at := e.stream.offset() + int64(head) + size - 4*int64(count)
	offsets := first[:min(8, 4*count)]
	if err := component.ReadAt(e.index.file, e.index.path, offsets, at); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(offsets) != 0 {
		return e.corrupt("malformed block index of %d bytes", size)
	}
	if len(offsets) == 8 {
		if second := int64(binary.BigEndian.Uint32(offsets[4:])); second <= 0 || second >= blocks-4*int64(count) {
			return e.corrupt("malformed block index of %d bytes", size)
		}
	}
	return nil
}
