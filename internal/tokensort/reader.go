package tokensort

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/zeebo/xxh3"
)

// Reader reads a run from where it is sought to its end. It belongs to one goroutine.
type Reader struct {
	file  *os.File
	r     *bufio.Reader
	index []blockInfo
	next  int // block to read next
	rows  int64

	payload    []byte // of the block at hand
	block      []byte // what is left of it
	left       uint32 // rows left in it
	key, value []byte
}

// Open opens a run and reads its index.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file}
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
	size := info.Size()
	if size < int64(len(magic))+blockHead+trailerSize {
		return fmt.Errorf("%w: ends early", ErrCorrupt)
	}
	begin := make([]byte, len(magic))
	trailer := make([]byte, trailerSize)
	if _, err := r.file.ReadAt(begin, 0); err != nil {
		return err
	}
	if _, err := r.file.ReadAt(trailer, size-trailerSize); err != nil {
		return err
	}
	if string(begin) != magic || xxh3.Hash(trailer[:16]) != binary.BigEndian.Uint64(trailer[16:]) {
		return fmt.Errorf("%w: no whole run", ErrCorrupt)
	}
	end := int64(binary.BigEndian.Uint64(trailer))
	r.rows = int64(binary.BigEndian.Uint64(trailer[8:]))
	if end < int64(len(magic)) || end > size-trailerSize-blockHead {
		return fmt.Errorf("%w: its end lies outside of it", ErrCorrupt)
	}
	r.r = bufio.NewReaderSize(io.NewSectionReader(r.file, end, size-trailerSize-end), 4096)
	index, rows, err := r.readBlock()
	if err != nil {
		return err
	}
	if rows != 0 {
		return fmt.Errorf("%w: its index is none", ErrCorrupt)
	}
	if err := r.parseIndex(bytes.Clone(index), end); err != nil {
		return err
	}
	r.r = bufio.NewReaderSize(nil, 128<<10)
	r.goTo(0)
	return nil
}

func (r *Reader) parseIndex(index []byte, end int64) error {
	before := int64(len(magic)) - 1
	for len(index) > 0 {
		if len(index) < 12 {
			return fmt.Errorf("%w: index", ErrCorrupt)
		}
		offset, n := int64(binary.BigEndian.Uint64(index)), int64(binary.BigEndian.Uint32(index[8:]))
		if offset <= before || offset >= end || n > int64(len(index)-12) {
			return fmt.Errorf("%w: index", ErrCorrupt)
		}
		r.index = append(r.index, blockInfo{offset, index[12 : 12+n]})
		index, before = index[12+n:], offset
	}
	return nil
}

// goTo makes the block of that number the next one.
func (r *Reader) goTo(block int) {
	r.next, r.block, r.left, r.key = block, nil, 0, r.key[:0]
	if block < len(r.index) {
		at := r.index[block].offset
		r.r.Reset(io.NewSectionReader(r.file, at, 1<<62-at))
	}
}

// readBlock reads a block where the file stands. Its payload is valid until the next call.
func (r *Reader) readBlock() (payload []byte, rows uint32, err error) {
	var head [blockHead]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return nil, 0, early(err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxBlock {
		return nil, 0, fmt.Errorf("%w: a block of %d bytes", ErrCorrupt, n)
	}
	if r.payload, err = readExactly(r.r, r.payload, int(n)); err != nil {
		return nil, 0, early(err)
	}
	if binary.BigEndian.Uint64(head[8:]) != checksum(head[:], r.payload) {
		return nil, 0, fmt.Errorf("%w: checksum of a block", ErrCorrupt)
	}
	return r.payload, binary.BigEndian.Uint32(head[4:]), nil
}

// readExactly reads n bytes into buf, growing it as bytes arrive so that a damaged length takes no memory.
func readExactly(r io.Reader, buf []byte, n int) ([]byte, error) {
	const step = 1 << 20
	buf = buf[:0]
	for len(buf) < n {
		at := len(buf)
		more := min(step, n-at)
		if cap(buf) < at+more {
			buf = append(buf, make([]byte, more)...)
		}
		buf = buf[:at+more]
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// early says that a file that ended did so too early.
func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: ends early", ErrCorrupt)
	}
	return err
}

// Rows is the number of rows of the run.
func (r *Reader) Rows() int64 { return r.rows }

// Seek goes to before the first row whose key is not below key; Next reads that row.
func (r *Reader) Seek(key []byte) error {
	// The rows wanted may begin inside of the last block that begins below the key.
	block := sort.Search(len(r.index), func(i int) bool { return bytes.Compare(r.index[i].first, key) >= 0 })
	r.goTo(max(0, block-1))
	for {
		before, left := r.block, r.left
		kept := bytes.Clone(r.key)
		block := r.next
		err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if bytes.Compare(r.key, key) >= 0 {
			if left == 0 {
				r.goTo(block)
				return nil
			}
			r.block, r.left, r.key = before, left, append(r.key[:0], kept...)
			return nil
		}
	}
}

// Next goes to the next row. It returns io.EOF behind the last one.
func (r *Reader) Next() error {
	for r.left == 0 {
		if len(r.block) > 0 {
			return r.corrupt("bytes behind the rows of a block")
		}
		if r.next >= len(r.index) {
			return io.EOF
		}
		block, rows, err := r.readBlock()
		if err != nil {
			return fmt.Errorf("read %s: %w", r.file.Name(), err)
		}
		if rows == 0 {
			return r.corrupt("ends early")
		}
		r.block, r.left, r.key = block, rows, r.key[:0]
		r.next++
	}
	shared, n := binary.Uvarint(r.block)
	if n <= 0 || shared > uint64(len(r.key)) {
		return r.corrupt("row")
	}
	suffix, rest, err := takeBytes(r.block[n:])
	if err != nil {
		return fmt.Errorf("read %s: %w", r.file.Name(), err)
	}
	r.key = append(r.key[:shared], suffix...)
	if r.value, r.block, err = takeBytes(rest); err != nil {
		return fmt.Errorf("read %s: %w", r.file.Name(), err)
	}
	r.left--
	return nil
}

func (r *Reader) corrupt(what string) error {
	return fmt.Errorf("read %s: %w: %s", r.file.Name(), ErrCorrupt, what)
}

// Key returns the key of the row, valid until Next, Seek or Close.
func (r *Reader) Key() []byte { return r.key }

// Value returns the value of the row, valid as long as its key.
func (r *Reader) Value() []byte { return r.value }

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }
