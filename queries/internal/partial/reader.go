package partial

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pierrec/lz4/v4"
	"github.com/zeebo/xxh3"
)

// Reader reads a file from its start to its end. It belongs to one goroutine.
type Reader struct {
	Header

	file   *os.File
	r      *bufio.Reader
	left   int64 // bytes of the file not read
	stored []byte
	raw    []byte
	block  []byte // what is left of raw
	rows   uint32 // entries left in block
	total  uint64
	key    []byte
	state  []byte
	first  bool // no entry was read yet
	done   bool // the end was read
}

// Open opens a file and reads its header.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file, r: bufio.NewReader(file), first: true}
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, errors.Join(err, file.Close()))
	}
	return r, nil
}

func (r *Reader) open() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.left = info.Size()
	head := make([]byte, fixedHeader)
	if err := r.fill(head); err != nil {
		return err
	}
	h, query, split, err := parseFixed(head)
	if err != nil {
		return err
	}
	head = append(head, make([]byte, query+split+checksumBytes)...)
	if err := r.fill(head[fixedHeader:]); err != nil {
		return err
	}
	end := len(head) - checksumBytes
	if binary.BigEndian.Uint64(head[end:]) != xxh3.Hash(head[:end]) {
		return fmt.Errorf("%w: checksum of the header", ErrCorrupt)
	}
	h.Query, h.Split = string(head[fixedHeader:fixedHeader+query]), string(head[fixedHeader+query:end])
	r.Header = h
	return nil
}

// fill reads as many bytes as dst has.
func (r *Reader) fill(dst []byte) error {
	if int64(len(dst)) > r.left {
		return fmt.Errorf("%w: ends early", ErrCorrupt)
	}
	r.left -= int64(len(dst))
	_, err := io.ReadFull(r.r, dst)
	return err
}

// Next goes to the next entry. It returns io.EOF behind the last one.
func (r *Reader) Next() error {
	for r.rows == 0 {
		if r.done {
			return io.EOF
		}
		if err := r.nextBlock(); err != nil {
			if err == io.EOF {
				return err
			}
			return fmt.Errorf("read %s: %w", r.file.Name(), err)
		}
	}
	if err := r.entry(); err != nil {
		return fmt.Errorf("read %s: %w", r.file.Name(), err)
	}
	return nil
}

// Key returns the key of the entry, valid until Next.
func (r *Reader) Key() []byte { return r.key }

// State returns the state of the entry, valid until Next.
func (r *Reader) State() []byte { return r.state }

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// nextBlock reads a block, or the end, for which it returns io.EOF.
func (r *Reader) nextBlock() error {
	if len(r.block) > 0 {
		return fmt.Errorf("%w: %d bytes behind the entries of a block", ErrCorrupt, len(r.block))
	}
	var head [blockHead]byte
	if err := r.fill(head[:]); err != nil {
		return err
	}
	stored, raw := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	r.rows = binary.BigEndian.Uint32(head[8:])
	if int64(stored) > r.left {
		return fmt.Errorf("%w: ends early", ErrCorrupt)
	}
	if cap(r.stored) < int(stored) {
		r.stored = make([]byte, stored)
	}
	r.stored = r.stored[:stored]
	if err := r.fill(r.stored); err != nil {
		return err
	}
	if binary.BigEndian.Uint64(head[12:]) != checksum(head[:], r.stored) {
		return fmt.Errorf("%w: checksum of a block", ErrCorrupt)
	}
	if r.rows == 0 {
		return r.end()
	}
	r.total += uint64(r.rows)
	// The key of a block's first entry is whole; the order goes on from block to block.
	return r.expand(int(raw))
}

// end checks that what was read last is the end, and that it is the end of the file.
func (r *Reader) end() error {
	if len(r.stored) != 8 || binary.BigEndian.Uint64(r.stored) != r.total || r.left > 0 {
		return fmt.Errorf("%w: end", ErrCorrupt)
	}
	r.done = true
	return io.EOF
}

// expand sets r.block to the raw bytes of a block.
func (r *Reader) expand(raw int) error {
	if raw == len(r.stored) {
		r.block = r.stored
		return nil
	}
	if raw/maxExpansion > len(r.stored)+1 {
		return fmt.Errorf("%w: %d bytes in %d", ErrCorrupt, raw, len(r.stored))
	}
	if cap(r.raw) < raw {
		r.raw = make([]byte, raw)
	}
	r.raw = r.raw[:raw]
	n, err := lz4.UncompressBlock(r.stored, r.raw)
	if err != nil || n != raw {
		return fmt.Errorf("%w: %d of %d bytes: %v", ErrCorrupt, n, raw, err)
	}
	r.block = r.raw
	return nil
}

// entry reads an entry of the block.
func (r *Reader) entry() error {
	shared, n := binary.Uvarint(r.block)
	if n <= 0 || shared > uint64(len(r.key)) {
		return fmt.Errorf("%w: entry", ErrCorrupt)
	}
	suffix, src, err := takeLength(r.block[n:])
	if err != nil {
		return err
	}
	if r.Order == ByKey && !r.first && bytes.Compare(src[:suffix], r.key[shared:]) <= 0 {
		return fmt.Errorf("%w: keys are out of order", ErrCorrupt)
	}
	r.first = false
	r.key = append(r.key[:shared], src[:suffix]...)
	length, src, err := takeLength(src[suffix:])
	if err != nil {
		return err
	}
	r.state, r.block = src[:length], src[length:]
	r.rows--
	return nil
}
