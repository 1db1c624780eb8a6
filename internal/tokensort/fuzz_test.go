package tokensort

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file that no Writer wrote is an error that wraps ErrCorrupt, and never a panic.
func FuzzOpen(f *testing.F) {
	var whole bytes.Buffer
	w, err := NewWriter(&whole)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 20 {
		if err := w.Add([]byte{byte(i)}, bytes.Repeat([]byte("v"), i)); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes(), []byte{3})
	f.Add([]byte(magic), []byte{})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data, key []byte) {
		path := filepath.Join(dir, "run")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err == nil {
			if err = r.Seek(key); err == nil {
				for err == nil {
					err = r.Next()
				}
			}
			if closed := r.Close(); closed != nil {
				t.Fatal(closed)
			}
		}
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	})
}
