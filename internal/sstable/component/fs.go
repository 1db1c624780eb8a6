package component

import (
	"context"
	"fmt"
	"io"
	"io/fs"
)

// FS gives the files at the root of a file system whose files can be read at an
// offset, such as those embedded in a program.
func FS(fsys fs.FS) Storage { return fsStorage{fsys} }

type fsStorage struct{ fsys fs.FS }

func (s fsStorage) Names(context.Context) ([]string, error) {
	entries, err := fs.ReadDir(s.fsys, ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (s fsStorage) Path(name string) string { return name }

func (s fsStorage) Open(_ context.Context, name string) (File, error) {
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		f.Close()
		return nil, fmt.Errorf("open %s: %T cannot be read at an offset", name, f)
	}
	return fsFile{r, f, info.Size()}, nil
}

type fsFile struct {
	io.ReaderAt
	io.Closer
	size int64
}

func (f fsFile) Size() int64 { return f.size }
