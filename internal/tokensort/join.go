package tokensort

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Join goes through the rows of a left stream, and finds for each of them the row of each right stream that has the same key, or tells
// that it is missing there. Many left rows may have one key; of a right stream, the last row of a key counts, so that of two reads of
// the same partition the later one does. Right rows without a left one are passed over.
//
//	left   [k1 a][k1 b][k2 c]      right 0  [k0 V][k1 W]     right 1  [k2 X]
//	Next:  k1 a  W  missing        k1 b  W  missing          k2 c  missing  X
type Join struct {
	left   Stream
	rights []*rightSide
	prefix func(key []byte) (int, error)
	join   []byte // the part of the left key by which rows join
	begun  bool
}

// rightSide holds the row of one right stream that may match: the stream itself stands behind it.
type rightSide struct {
	stream     Stream
	key, value []byte
	found      bool // key and value are a row
	ended      bool
	begun      bool
	match      bool
}

// NewJoin joins streams. prefix gives the length of the beginning of a left key that is the key of right rows, such as [KeyLen] where
// left keys have more behind that of a partition; nil stands for the whole key. Closing the join closes all streams.
func NewJoin(left Stream, prefix func(key []byte) (int, error), rights ...Stream) *Join {
	j := &Join{left: left, prefix: prefix}
	for _, r := range rights {
		j.rights = append(j.rights, &rightSide{stream: r})
	}
	return j
}

// Next goes to the next left row. It returns io.EOF behind the last one, and an error that wraps [ErrOrder] where a stream is not in order.
func (j *Join) Next() error {
	if err := j.left.Next(); err != nil {
		return err
	}
	key := j.left.Key()
	n := len(key)
	if j.prefix != nil {
		var err error
		if n, err = j.prefix(key); err != nil {
			return err
		}
	}
	switch c := bytes.Compare(key[:n], j.join); {
	case j.begun && c < 0:
		return fmt.Errorf("join: left %w", ErrOrder)
	case !j.begun || c > 0:
		j.begun = true
		j.join = append(j.join[:0], key[:n]...)
		for i, r := range j.rights {
			if err := r.find(j.join); err != nil {
				return fmt.Errorf("join: stream %d: %w", i+1, err)
			}
		}
	}
	return nil
}

// find goes to the last row of that key.
func (r *rightSide) find(key []byte) error {
	if !r.begun {
		r.begun = true
		if err := r.advance(); err != nil {
			return err
		}
	}
	r.match = false
	for !r.ended {
		c := bytes.Compare(r.stream.Key(), key)
		if c > 0 {
			break
		}
		if c == 0 {
			r.match = true
			r.value = append(r.value[:0], r.stream.Value()...)
		}
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (r *rightSide) advance() error {
	if !r.ended && r.found {
		r.key = append(r.key[:0], r.stream.Key()...)
	}
	err := r.stream.Next()
	if errors.Is(err, io.EOF) {
		r.ended = true
		return nil
	}
	if err != nil {
		return err
	}
	if r.found && bytes.Compare(r.stream.Key(), r.key) < 0 {
		return ErrOrder
	}
	r.found = true
	return nil
}

// Key and Value are those of the left row, valid until Next.
func (j *Join) Key() []byte   { return j.left.Key() }
func (j *Join) Value() []byte { return j.left.Value() }

// Right is the value of the row of right stream i, valid until Next; ok is false where it is missing.
func (j *Join) Right(i int) (value []byte, ok bool) {
	r := j.rights[i]
	if !r.match {
		return nil, false
	}
	return r.value, true
}

// Has tells whether right stream i, if there is one, has a row.
func (j *Join) Has(i int) bool { return i < len(j.rights) && j.rights[i].match }

// Close closes all streams.
func (j *Join) Close() error {
	errs := []error{j.left.Close()}
	for _, r := range j.rights {
		errs = append(errs, r.stream.Close())
	}
	return errors.Join(errs...)
}
