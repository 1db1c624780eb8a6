package sstable

import (
	"sync"

	"manifest/internal/sstable/fault"
	"manifest/tokenrange"
)

// seams notes where in an SSTable's data token ranges meet. No checksum covers
// an index, so a scan that begins in the middle could begin too late; the scan
// of the range before it ends where it must have begun.
type seams struct {
	mu sync.Mutex
	at map[tokenrange.Token]int64
}

// meet notes that the first partition whose token is greater than t is at an
// offset, or that there is none up to the end at that offset. It errs where
// another scan has found another.
func (s *seams) meet(path string, t tokenrange.Token, offset int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other, ok := s.at[t]; ok && other != offset {
		return fault.Corruptf(path, min(offset, other), "one scan has found the first partition behind token %s at %d, another at %d: the index is wrong", t, offset, other)
	}
	if s.at == nil {
		s.at = map[tokenrange.Token]int64{}
	}
	s.at[t] = offset
	return nil
}
