package tokensort

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

// Writer writes a run. It belongs to one goroutine; after an error what it wrote is of no use.
type Writer struct {
	w       io.Writer
	offset  int64
	raw     []byte // rows of the open block
	stored  []byte // a block as it is written
	key     []byte // of the row before
	rows    uint32 // in the open block
	total   int64
	index   []byte
	started bool
}

// NewWriter writes the beginning of a run to w.
func NewWriter(w io.Writer) (*Writer, error) {
	if _, err := io.WriteString(w, magic); err != nil {
		return nil, fmt.Errorf("write run: %w", err)
	}
	return &Writer{w: w, offset: int64(len(magic))}, nil
}

// Add writes a row, whose key is not below the one before. Key and value are not kept.
func (w *Writer) Add(key, value []byte) error {
	if w.started && bytes.Compare(key, w.key) < 0 {
		return fmt.Errorf("write run: %w", ErrOrder)
	}
	common := 0
	if w.rows > 0 {
		for most := min(len(key), len(w.key)); common < most && key[common] == w.key[common]; {
			common++
		}
	} else {
		w.index = binary.BigEndian.AppendUint64(w.index, uint64(w.offset))
		w.index = binary.BigEndian.AppendUint32(w.index, uint32(len(key)))
		w.index = append(w.index, key...)
	}
	w.raw = binary.AppendUvarint(w.raw, uint64(common))
	w.raw = binary.AppendUvarint(w.raw, uint64(len(key)-common))
	w.raw = append(w.raw, key[common:]...)
	w.raw = binary.AppendUvarint(w.raw, uint64(len(value)))
	w.raw = append(w.raw, value...)
	w.key = append(w.key[:common], key[common:]...)
	w.started = true
	w.rows++
	if len(w.raw) >= blockTarget {
		return w.flush()
	}
	return nil
}

func (w *Writer) flush() error {
	if len(w.raw) > maxBlock {
		return fmt.Errorf("write run: a row of %d bytes", len(w.raw))
	}
	var err error
	if w.stored, err = appendBlock(w.stored[:0], w.raw, w.rows); err != nil {
		return err
	}
	if err := w.write(w.stored); err != nil {
		return err
	}
	w.total += int64(w.rows)
	w.raw, w.rows = w.raw[:0], 0
	return nil
}

func (w *Writer) write(p []byte) error {
	n, err := w.w.Write(p)
	w.offset += int64(n)
	if err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	return nil
}

// Close writes the end, without which the run is not complete. It does not close the io.Writer.
func (w *Writer) Close() error {
	if w.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	end := w.offset
	block, err := appendBlock(w.stored[:0], w.index, 0)
	if err != nil {
		return err
	}
	at := len(block)
	block = binary.BigEndian.AppendUint64(block, uint64(end))
	block = binary.BigEndian.AppendUint64(block, uint64(w.total))
	block = binary.BigEndian.AppendUint64(block, xxh3.Hash(block[at:]))
	return w.write(block)
}
