package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/tokenrange"
)

// Entry is the place of a partition.
type Entry struct {
	// Key is the serialized partition key; nil where the index does not have it
	// and only Data.db tells. It is valid until the next entry.
	Key []byte
	// path is what the index has instead of the key.
	path []byte
	// Offset is the place in the content of Data.db.
	Offset int64
}

// Is tells whether the index can mean a key, as far as it knows.
func (e Entry) Is(key []byte, token tokenrange.Token) bool {
	if e.Key != nil {
		return bytes.Equal(e.Key, key)
	}
	v, _ := token.Int64()
	var path [9]byte
	path[0] = separator
	binary.BigEndian.PutUint64(path[1:], uint64(v)^1<<63)
	n := min(len(path), len(e.path))
	return bytes.Equal(e.path[:n], path[:n])
}

// Entries gives entries in the order of Data.db, for one goroutine.
type Entries interface {
	// Next returns the next entry, or io.EOF.
	Next() (Entry, error)
}

// Index finds the partitions of one SSTable. It is immutable and may be used by
// many goroutines.
type Index interface {
	// From gives the entries of all partitions whose token is greater than after.
	// Few others may come before them.
	From(after tokenrange.Token) (Entries, error)
	// Bounds are the first and the last key.
	Bounds() (first, last []byte)
	// Close closes the files.
	Close() error
}

// Open opens the index of an SSTable. It returns nil where there is none that
// helps: the tries of another partitioner than Murmur3, and an Index.db without
// the Summary.db that tells how it ends.
func Open(ctx context.Context, set *component.Set, p tokenrange.Partitioner) (Index, error) {
	if set.Format == component.BTI {
		if p != tokenrange.Murmur3 {
			return nil, nil
		}
		return openTrie(ctx, set)
	}
	if !set.Has(component.Index) {
		return nil, fault.Missing(set.Path(component.Index))
	}
	if !set.Has(component.Summary) {
		return nil, nil
	}
	return openBig(ctx, set, p)
}

// stream reads a file from front to back, for one goroutine.
type stream struct {
	file component.File
	path string
	next int64 // offset of what is read from the file next
	buf  []byte
	view []byte // what is read and not taken
}

const streamBuffer = 64 << 10

// offset is that of the view.
func (s *stream) offset() int64 { return s.next - int64(len(s.view)) }

// left counts the bytes not taken.
func (s *stream) left() int64 { return s.file.Size() - s.offset() }

// peek returns n bytes without taking them, fewer at the end of the file.
func (s *stream) peek(n int) ([]byte, error) {
	n = int(min(int64(n), s.left()))
	if n <= len(s.view) {
		return s.view[:n], nil
	}
	size := max(n, streamBuffer)
	if cap(s.buf) < size {
		s.buf = make([]byte, size)
	}
	have := copy(s.buf[:cap(s.buf)], s.view)
	more := int(min(int64(cap(s.buf)-have), s.file.Size()-s.next))
	if err := component.ReadAt(s.file, s.path, s.buf[have:have+more], s.next); err != nil {
		return nil, err
	}
	s.next += int64(more)
	s.view = s.buf[:have+more]
	return s.view[:n], nil
}

// take passes over n bytes.
func (s *stream) take(n int64) {
	if n <= int64(len(s.view)) {
		s.view = s.view[n:]
		return
	}
	s.next += n - int64(len(s.view))
	s.view = nil
}

// eof tells whether everything is taken.
func (s *stream) eof() bool { return s.left() <= 0 }

// ended is for iterators that have nothing to give.
type ended struct{}

func (ended) Next() (Entry, error) { return Entry{}, io.EOF }
