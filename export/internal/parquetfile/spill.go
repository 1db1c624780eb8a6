package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// spill keeps the compressed pages of the open row group in a file instead of
// in memory. A row group is written column after column, but its pages are made
// all columns abreast, so until it ends they have to wait somewhere: at the
// default size that is some 15 MB for each open file.
//
// All columns share one file without a name, in which each has a list of extents.
type spill struct {
	file *os.File
	end  atomic.Int64
	copy []byte
}

// newSpill makes the file in dir.
func newSpill(dir string) (*spill, error) {
	f, err := os.CreateTemp(dir, ".pages-*")
	if err != nil {
		return nil, fmt.Errorf("make file for pages: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make file for pages: %w", err), f.Close())
	}
	return &spill{file: f, copy: make([]byte, 64<<10)}, nil
}

// reset forgets all pages.
func (s *spill) reset() { s.end.Store(0) }

func (s *spill) close() error { return s.file.Close() }

// keptPages are the data pages of one column chunk. Those of several columns may
// be added at the same time, but are written out one after the other.
type keptPages struct {
	spill   *spill // nil: in memory
	extents []extent
	memory  []byte
}

type extent struct{ offset, length int64 }

func (k *keptPages) reset() { k.extents, k.memory = k.extents[:0], k.memory[:0] }

// add keeps a page.
func (k *keptPages) add(page []byte) error {
	if k.spill == nil {
		k.memory = append(k.memory, page...)
		return nil
	}
	length := int64(len(page))
	offset := k.spill.end.Add(length) - length
	k.extents = append(k.extents, extent{offset, length})
	if _, err := k.spill.file.WriteAt(page, offset); err != nil {
		return fmt.Errorf("keep page: %w", err)
	}
	return nil
}

// writeTo writes the pages to w.
func (k *keptPages) writeTo(w io.Writer) error {
	if k.spill == nil {
		if _, err := w.Write(k.memory); err != nil {
			return fmt.Errorf("write pages: %w", err)
		}
		return nil
	}
	for _, e := range k.extents {
		n, err := io.CopyBuffer(onlyWriter{w}, onlyReader{io.NewSectionReader(k.spill.file, e.offset, e.length)}, k.spill.copy)
		if err == nil && n != e.length {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("write kept pages: %w", err)
		}
	}
	return nil
}

// onlyWriter and onlyReader hide other methods, so that the buffer at hand is
// used for copying.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)
