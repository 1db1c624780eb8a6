package component

import (
	"context"
	"os"
	"path/filepath"
)

// Dir is the local folder of that name. Reading its files leaves the system's
// page cache as it was, as far as the system allows: a server beside it keeps its
// pages.
type Dir string

// Names lists the plain files of the folder.
func (d Dir) Names(context.Context) ([]string, error) {
	entries, err := os.ReadDir(string(d))
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

// Open opens a file of the folder.
func (d Dir) Open(_ context.Context, name string) (File, error) {
	f, err := os.Open(d.Path(name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &localFile{f, info.Size(), newPageCache(f, info.Size())}, nil
}

// Path joins the folder and the name.
func (d Dir) Path(name string) string { return filepath.Join(string(d), name) }

// localFile leaves the system's page cache as it was.
type localFile struct {
	file  *os.File
	size  int64
	cache *pageCache
}

func (f *localFile) Size() int64 { return f.size }

func (f *localFile) ReadAt(b []byte, offset int64) (int, error) {
	f.cache.reading(offset, len(b))
	return f.file.ReadAt(b, offset)
}

func (f *localFile) Close() error {
	f.cache.close()
	return f.file.Close()
}
