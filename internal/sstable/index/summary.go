package index

import (
	"context"
	"encoding/binary"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
	"manifest/tokenrange"
)

// summary is Summary.db, which stays in the file: a search reads some dozens of
// its entries.
//
//	minimal interval (4 bytes), count (4), size of offsets and entries (8),
//	sampling level (4), count at full sampling (4)
//	offset of an entry (4 bytes, little-endian) * count
//	(key, position in Index.db (8 bytes, little-endian)) * count
//	first key, last key (4 bytes of length each)
type summary struct {
	file        component.File
	path        string
	partitioner tokenrange.Partitioner
	count       int64
	size        int64  // of offsets and entries
	first, last []byte // keys of Index.db
}

const summaryHead = 24

func openSummary(ctx context.Context, set *component.Set, p tokenrange.Partitioner) (*summary, error) {
	f, err := set.Open(ctx, component.Summary)
	if err != nil {
		return nil, err
	}
	s := &summary{file: f, path: set.Path(component.Summary), partitioner: p}
	if err := s.open(); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func (s *summary) open() error {
	head := make([]byte, summaryHead)
	if err := component.ReadAt(s.file, s.path, head, 0); err != nil {
		return err
	}
	r := primitive.NewReader(head)
	r.Int32()
	s.count, s.size = int64(r.Int32()), r.Int64()
	if s.count < 1 || s.size < s.count*4 || s.size > s.file.Size()-summaryHead {
		return fault.Corruptf(s.path, 0, "%d entries in %d bytes", s.count, s.size)
	}
	at := summaryHead + s.size
	const most = 2 * (4 + 1<<16)
	if s.file.Size()-at > most {
		return fault.Corruptf(s.path, at, "%d bytes after the last entry", s.file.Size()-at)
	}
	tail := make([]byte, s.file.Size()-at)
	if err := component.ReadAt(s.file, s.path, tail, at); err != nil {
		return err
	}
	r = primitive.NewReader(tail)
	if s.first, s.last = r.Bytes32(), r.Bytes32(); r.Err() != nil || r.Len() > 0 {
		return fault.Corruptf(s.path, at, "the first and last key do not end the file")
	}
	return nil
}

// entry reads the i-th key and its position in Index.db.
func (s *summary) entry(i int64) (key []byte, position int64, err error) {
	var bounds [8]byte
	n := 8
	if i+1 == s.count {
		n = 4
	}
	if err := component.ReadAt(s.file, s.path, bounds[:n], summaryHead+4*i); err != nil {
		return nil, 0, err
	}
	from, to := int64(binary.LittleEndian.Uint32(bounds[:])), s.size
	if n == 8 {
		to = int64(binary.LittleEndian.Uint32(bounds[4:]))
	}
	if from < 4*s.count || to > s.size || to < from+8 || to-from > 8+1<<16 || i == 0 && from != 4*s.count {
		return nil, 0, fault.Corruptf(s.path, summaryHead+4*i, "entry from %d to %d", from, to)
	}
	b := make([]byte, to-from)
	if err := component.ReadAt(s.file, s.path, b, summaryHead+from); err != nil {
		return nil, 0, err
	}
	key = b[:len(b)-8]
	return key, int64(binary.LittleEndian.Uint64(b[len(b)-8:])), nil
}

// before gives the last entry whose token is not greater than after, nil if
// there is none.
func (s *summary) before(after tokenrange.Token) (key []byte, position int64, err error) {
	low, high := int64(-1), s.count // entry low is not greater, entry high is
	for low+1 < high {
		middle := low + (high-low)/2
		k, p, err := s.entry(middle)
		if err != nil {
			return nil, 0, err
		}
		if after.Less(s.partitioner.Token(k)) {
			high = middle
		} else {
			low, key, position = middle, k, p
		}
	}
	return key, position, nil
}
