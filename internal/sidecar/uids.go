package sidecar

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"manifest/export"
	"manifest/internal/tokensort"
)

// UIDsFile is where the ids are, below the dataset.
const UIDsFile = "index/uids.npy"

// ErrColumn reports that the rows have not what a file needs.
var ErrColumn = errors.New("column is not fit for this file")

// WriteUIDs writes the ids of all rows, sorted, each as two unsigned integers of 64
// bits: what DataComp takes for a subset, and what numpy finds by searchsorted.
// column holds UUIDs. What does not fit in memory (bytes) goes below work.
func WriteUIDs(ctx context.Context, dir string, m export.Manifest, column, work string, mem int64) (err error) {
	sorter, err := tokensort.NewSorter(tokensort.Options{Dir: work, Memory: mem})
	if err != nil {
		return fmt.Errorf("sort ids: %w", err)
	}
	defer func() { err = errors.Join(err, sorter.Close()) }()
	for _, f := range m.Files {
		err := export.ReadRows(ctx, dir, f, m.Format, []string{column}, func(row []export.Value) error {
			id, err := uuidOf(row[0])
			if err != nil {
				return fmt.Errorf("column %s: %w", column, err)
			}
			return sorter.Add(id[:], nil)
		})
		if err != nil {
			return fmt.Errorf("read ids: %w", err)
		}
	}
	if err := sorter.Sort(ctx); err != nil {
		return fmt.Errorf("sort ids: %w", err)
	}
	return create(dir, UIDsFile, func(w *bufio.Writer) error {
		if _, err := w.Write(npyHeader(m.Rows)); err != nil {
			return err
		}
		in, err := sorter.Open()
		if err != nil {
			return err
		}
		return tokensort.Each(ctx, in, func(key, _ []byte) error {
			var item [16]byte
			binary.LittleEndian.PutUint64(item[:8], binary.BigEndian.Uint64(key[:8]))
			binary.LittleEndian.PutUint64(item[8:], binary.BigEndian.Uint64(key[8:]))
			_, err := w.Write(item[:])
			return err
		})
	})
}

// uuidOf reads a UUID of 16 bytes or of 36 characters.
func uuidOf(v export.Value) (id [16]byte, err error) {
	if len(v.Text) == len(id) {
		copy(id[:], v.Text)
		return id, nil
	}
	digits := strings.ReplaceAll(v.Text, "-", "")
	if len(v.Text) != 36 || len(digits) != 32 || v.Null {
		return id, fmt.Errorf("%q is not a UUID: %w", v.Text, ErrColumn)
	}
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
		return id, fmt.Errorf("%q is not a UUID: %w", v.Text, ErrColumn)
	}
	return id, nil
}

// npyHeader is that of an array of so many pairs. With it, data begins at a
// multiple of 64 bytes.
func npyHeader(rows int64) []byte {
	text := fmt.Sprintf("{'descr': [('f0', '<u8'), ('f1', '<u8')], 'fortran_order': False, 'shape': (%d,), }", rows)
	const fixed = 10 // magic, version, length
	padding := 64 - (fixed+len(text)+1)%64
	text += strings.Repeat(" ", padding%64) + "\n"
	header := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(header[8:], uint16(len(text)))
	return append(header, text...)
}

// create writes a file of the dataset.
func create(dir, name string, write func(w *bufio.Writer) error) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	err = write(w)
	if err == nil {
		err = errors.Join(w.Flush(), file.Sync())
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
