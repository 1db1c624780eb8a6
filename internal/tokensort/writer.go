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
	block   []byte // the open one: room for its head, then its rows
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
	return &Writer{w: w, offset: int64(len(magic)), block: make([]byte, blockHead, blockTarget+blockTarget/4)}, nil
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
	w.block = binary.AppendUvarint(w.block, uint64(common))
	w.block = binary.AppendUvarint(w.block, uint64(len(key)-common))
	w.block = append(w.block, key[common:]...)
	w.block = binary.AppendUvarint(w.block, uint64(len(value)))
	w.block = append(w.block, value...)
	w.key = append(w.key[:common], key[common:]...)
	w.started = true
	w.rows++
	if len(w.block)-blockHead >= blockTarget {
		return w.flush()
	}
	return nil
}

func (w *Writer) flush() error {
	if len(w.block)-blockHead > maxBlock {
		return fmt.Errorf("write run: a row of %d bytes", len(w.block))
	}
	sealBlock(w.block, w.rows)
	if err := w.write(w.block); err != nil {
		return err
	}
	w.total += int64(w.rows)
	w.block, w.rows = w.block[:blockHead], 0
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
	block := append(w.block[:blockHead], w.index...)
	sealBlock(block, 0)
	at := len(block)
	block = binary.BigEndian.AppendUint64(block, uint64(end))
	block = binary.BigEndian.AppendUint64(block, uint64(w.total))
	block = binary.BigEndian.AppendUint64(block, xxh3.Hash(block[at:]))
	return w.write(block)
}
