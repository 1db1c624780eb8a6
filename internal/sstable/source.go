package sstable

import (
	"errors"
	"io"

	"manifest/internal/sstable/data"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/index"
	"manifest/tokenrange"
)

// rangeSource gives the partitions of an SSTable that are in some token ranges, by
// reading its data from where a range begins to where it ends.
type rangeSource struct {
	reader *Reader
	cursor *data.Cursor
	tokens tokenrange.Range
	later  []tokenrange.Range // to read then, in token order and apart
	// first is what the index has for the first partition, if anything.
	first index.Entry
	begun bool
	done  bool
	// ahead tells that the cursor is at the first partition behind a range, whose
	// head can't be read again.
	ahead bool
}

// seek moves the cursor to where the range begins. Where the index has no
// partition in the range, nothing of the data is read.
func (s *rangeSource) seek() error {
	r := s.reader
	if r.index == nil || !r.partitioner.Ring().Start.Less(s.tokens.Start) {
		return nil
	}
	entries, err := r.index.From(s.tokens.Start)
	if err != nil {
		return err
	}
	for {
		e, err := entries.Next()
		if err == io.EOF {
			return s.end(r.file.Size())
		}
		if err != nil {
			return err
		}
		if e.Key != nil {
			token := r.partitioner.Token(e.Key)
			if !s.tokens.Start.Less(token) {
				continue
			}
			if s.tokens.End.Less(token) {
				return s.end(e.Offset)
			}
		}
		s.first = e
		return s.cursor.MoveTo(e.Offset)
	}
}

// Cursor is part of merge.Source.
func (s *rangeSource) Cursor() *data.Cursor { return s.cursor }

// NextPartition is part of merge.Source.
func (s *rangeSource) NextPartition() (bool, error) {
	for {
		ok, err := s.next()
		if ok || err != nil || len(s.later) == 0 {
			return ok, err
		}
		if err := s.advance(); err != nil {
			return false, err
		}
	}
}

// advance goes on to the next range.
func (s *rangeSource) advance() error {
	s.tokens, s.later = s.later[0], s.later[1:]
	s.first, s.begun, s.done = index.Entry{}, false, false
	if s.ahead && s.tokens.Start.Less(s.cursor.Token()) {
		return nil
	}
	s.ahead = false
	return s.seek()
}

// next moves to the next partition of the range.
func (s *rangeSource) next() (bool, error) {
	for !s.done {
		if !s.ahead {
			ok, err := s.cursor.NextPartition()
			if err != nil {
				return false, err
			}
			if !ok {
				return false, s.end(s.reader.file.Size())
			}
		}
		s.ahead = false
		token := s.cursor.Token()
		if !s.begun { // later ones are behind the start
			if s.cursor.PartitionOffset() == s.first.Offset && s.first.Offset > 0 {
				if err := expect(s.cursor, s.first); err != nil {
					return false, err
				}
			}
			if !s.tokens.Start.Less(token) {
				continue
			}
			if err := s.start(s.cursor.PartitionOffset()); err != nil {
				return false, err
			}
		}
		if s.tokens.End.Less(token) {
			s.ahead = true
			return false, s.end(s.cursor.PartitionOffset())
		}
		return true, nil
	}
	return false, nil
}

// Below is part of merge.Source: reading on is safe behind the first partition
// of the range.
func (s *rangeSource) Below() (tokenrange.Token, bool) { return s.tokens.End, s.begun && !s.done }

// expect errs where the cursor is at another key than the index has there.
func expect(c *data.Cursor, e index.Entry) error {
	if e.Is(c.Key(), c.Token()) {
		return nil
	}
	return c.Fault(errIndexKey)
}

var errIndexKey = errors.Join(fault.ErrCorrupt, errors.New("the index has another key at this place"))

// start notes where the first partition of the range is.
func (s *rangeSource) start(offset int64) error {
	if s.begun {
		return nil
	}
	s.begun = true
	return s.reader.seams.meet(s.reader.Path(), s.tokens.Start, offset)
}

// end notes where the first partition behind the range is, and lets go of the
// memory: of many SSTables, most have few of a range's partitions.
func (s *rangeSource) end(offset int64) error {
	s.done = true
	if len(s.later) == 0 {
		s.cursor.Close()
	}
	if err := s.start(offset); err != nil {
		return err
	}
	return s.reader.seams.meet(s.reader.Path(), s.tokens.End, offset)
}

// keySource gives the partitions of an SSTable that are in a token range and
// have a key that is asked for, by jumping from one to the next. It looks at the
// head of each: the index alone, which has no checksum, could hide one.
type keySource struct {
	keys   *keys
	wanted func(key []byte) bool
}

// Cursor is part of merge.Source.
func (s *keySource) Cursor() *data.Cursor { return s.keys.cursor }

// Below is part of merge.Source: not all that follows is asked for.
func (s *keySource) Below() (tokenrange.Token, bool) { return tokenrange.Token{}, false }

// NextPartition is part of merge.Source.
func (s *keySource) NextPartition() (bool, error) {
	for {
		ok, err := s.keys.next()
		if !ok || err != nil {
			return false, err
		}
		if err := s.keys.open(); err != nil {
			return false, err
		}
		if s.wanted(s.keys.key) {
			return true, nil
		}
	}
}

// keys walks the partition keys of an SSTable in a token range by its index,
// and by its data where the index does not have them.
type keys struct {
	reader  *Reader
	cursor  *data.Cursor
	entries index.Entries
	tokens  tokenrange.Range

	key    []byte
	token  tokenrange.Token
	entry  index.Entry
	opened bool // the cursor is at the partition
	done   bool
}

func newKeys(r *Reader, c *data.Cursor, tokens tokenrange.Range) (*keys, error) {
	k := &keys{reader: r, cursor: c, tokens: tokens}
	if r.index == nil {
		return k, nil
	}
	var err error
	k.entries, err = r.index.From(tokens.Start)
	return k, err
}

// next moves to the next key.
func (k *keys) next() (bool, error) {
	for !k.done {
		ok, err := k.step()
		if err != nil {
			return false, err
		}
		switch k.token = k.reader.partitioner.Token(k.key); {
		case !ok || k.tokens.End.Less(k.token):
			k.done = true
		case k.tokens.Start.Less(k.token) && k.reader.reads(k.token):
			return true, nil
		}
	}
	return false, nil
}

// step moves to the next partition of the SSTable.
func (k *keys) step() (bool, error) {
	k.opened = false
	if k.entries == nil {
		ok, err := k.cursor.NextPartition()
		k.opened = true
		k.key = append(k.key[:0], k.cursor.Key()...)
		return ok, err
	}
	e, err := k.entries.Next()
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	k.entry = e
	if e.Key != nil {
		k.key = append(k.key[:0], e.Key...)
		return true, nil
	}
	if err := k.read(); err != nil {
		return false, err
	}
	k.key = append(k.key[:0], k.cursor.Key()...)
	return true, nil
}

// open moves the cursor to the partition.
func (k *keys) open() error {
	if k.opened {
		return nil
	}
	return k.read()
}

// read reads the head of the partition at the offset.
func (k *keys) read() error {
	k.opened = true
	if err := k.cursor.MoveTo(k.entry.Offset); err != nil {
		return err
	}
	ok, err := k.cursor.NextPartition()
	if err != nil {
		return err
	}
	if !ok {
		return fault.Corruptf(k.reader.Path(), k.entry.Offset, "no partition where the index has one")
	}
	return expect(k.cursor, k.entry)
}
