package component

import (
	"context"
	"io"

	"manifest/internal/sstable/fault"
)

// Storage gives the files of one folder. Its methods may be called by many
// goroutines.
type Storage interface {
	// Names lists the files.
	Names(ctx context.Context) ([]string, error)
	// Open opens a file. The error of one that is not there wraps fs.ErrNotExist.
	Open(ctx context.Context, name string) (File, error)
	// Path names a file for people.
	Path(name string) string
}

// File is an open file whose content does not change.
type File interface {
	io.ReaderAt
	io.Closer
	// Size is the length in bytes.
	Size() int64
}

// ReadFile reads a whole open file, which must not be larger than limit.
func ReadFile(f File, path string, limit int64) ([]byte, error) {
	if f.Size() > limit {
		return nil, fault.Corruptf(path, -1, "%d bytes, more than %d", f.Size(), limit)
	}
	b := make([]byte, f.Size())
	if err := ReadAt(f, path, b, 0); err != nil {
		return nil, err
	}
	return b, nil
}

// ReadAt fills b from an offset of a file. A file that ends before is corrupt:
// it was longer when it was opened, or another file says that it is.
func ReadAt(f io.ReaderAt, path string, b []byte, offset int64) error {
	n, err := f.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return fault.Corruptf(path, offset+int64(n), "the file ends, %d bytes early", len(b)-n)
	}
	return &fault.Error{File: path, Offset: offset + int64(n), Err: err}
}
