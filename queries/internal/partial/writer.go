package partial

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// Writer writes a file. It belongs to one goroutine; after an error the file is of no use.
type Writer struct {
	w       io.Writer
	raw     []byte // entries of the open block
	stored  []byte // head and payload of a block, reused
	key     []byte // of the last entry of the open block
	entries uint32 // of the open block
	total   uint64
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if _, err := w.Write(h.append(nil)); err != nil {
		return nil, fmt.Errorf("write header: %w", err)
	}
	return &Writer{w: w}, nil
}

// Add writes an entry. In a file ByKey the key is above the one before.
func (w *Writer) Add(key, state []byte) error {
	shared := 0
	for most := min(len(key), len(w.key)); shared < most && key[shared] == w.key[shared]; {
		shared++
	}
	w.raw = binary.AppendUvarint(w.raw, uint64(shared))
	w.raw = binary.AppendUvarint(w.raw, uint64(len(key)-shared))
	w.raw = append(w.raw, key[shared:]...)
	w.raw = binary.AppendUvarint(w.raw, uint64(len(state)))
	w.raw = append(w.raw, state...)
	w.key = append(w.key[:shared], key[shared:]...)
	w.entries++
	if len(w.raw) >= blockTarget {
		return w.flush()
	}
	return nil
}

// flush writes the open block.
func (w *Writer) flush() error {
	if w.entries == 0 {
		return nil
	}
	if need := blockHead + lz4.CompressBlockBound(len(w.raw)); cap(w.stored) < need {
		w.stored = make([]byte, need)
	}
	w.stored = w.stored[:cap(w.stored)]
	n, err := lz4.CompressBlock(w.raw, w.stored[blockHead:], nil)
	if err != nil {
		return fmt.Errorf("compress block: %w", err)
	}
	if n == 0 || n >= len(w.raw) {
		n = copy(w.stored[blockHead:], w.raw)
	}
	if err := w.write(w.stored[:blockHead+n], len(w.raw), w.entries); err != nil {
		return err
	}
	w.total += uint64(w.entries)
	w.raw, w.key, w.entries = w.raw[:0], w.key[:0], 0
	return nil
}

// write fills in the head of a block and writes it.
func (w *Writer) write(block []byte, raw int, entries uint32) error {
	binary.BigEndian.PutUint32(block, uint32(len(block)-blockHead))
	binary.BigEndian.PutUint32(block[4:], uint32(raw))
	binary.BigEndian.PutUint32(block[8:], entries)
	binary.BigEndian.PutUint64(block[12:], checksum(block, block[blockHead:]))
	if _, err := w.w.Write(block); err != nil {
		return fmt.Errorf("write block: %w", err)
	}
	return nil
}

// Close writes the end, without which the file is not complete. It does not close the io.Writer.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	end := make([]byte, blockHead, blockHead+8)
	return w.write(binary.BigEndian.AppendUint64(end, w.total), 0, 0)
}
