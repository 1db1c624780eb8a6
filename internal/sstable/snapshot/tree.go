package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"manifest/internal/sstable/component"
)

// Tree is a tree of folders with SSTables.
type Tree struct {
	// Path is the place of its root, with slashes, for people and for what stands
	// in front of the folders in it.
	Path string
	Files
}

// Files gives the folders and files of a tree, by their paths in it with slashes;
// "." is the root.
type Files interface {
	// ReadDir lists a folder: the names of the files and of the folders in it.
	ReadDir(ctx context.Context, folder string) (files, folders []string, err error)
	// ReadFile reads a small file. The error of one that is not there wraps
	// fs.ErrNotExist.
	ReadFile(ctx context.Context, file string) ([]byte, error)
	// Folder gives a folder for reading its SSTables.
	Folder(folder string) component.Storage
}

// Local is the tree of a local folder.
func Local(dir string) (Tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Tree{}, err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return Tree{}, err
	}
	if !info.IsDir() {
		return Tree{}, fmt.Errorf("%s: not a folder", dir)
	}
	return Tree{filepath.ToSlash(abs), localFiles(abs)}, nil
}

type localFiles string

func (l localFiles) at(p string) string { return filepath.Join(string(l), filepath.FromSlash(p)) }

// ReadDir is part of Files. Links are followed.
func (l localFiles) ReadDir(_ context.Context, folder string) (files, folders []string, err error) {
	entries, err := os.ReadDir(l.at(folder))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(l.at(folder), e.Name()))
			if err != nil {
				return nil, nil, err
			}
			isDir = info.IsDir()
		}
		if isDir {
			folders = append(folders, e.Name())
		} else {
			files = append(files, e.Name())
		}
	}
	return files, folders, nil
}

// ReadFile is part of Files.
func (l localFiles) ReadFile(_ context.Context, file string) ([]byte, error) {
	return os.ReadFile(l.at(file))
}

// Folder is part of Files.
func (l localFiles) Folder(folder string) component.Storage { return component.Dir(l.at(folder)) }

// FromFS is the tree of a file system whose files can be read at an offset, such
// as one that is embedded in a program.
func FromFS(name string, fsys fs.FS) Tree { return Tree{name, fsFiles{fsys}} }

type fsFiles struct{ fsys fs.FS }

// ReadDir is part of Files.
func (f fsFiles) ReadDir(_ context.Context, folder string) (files, folders []string, err error) {
	entries, err := fs.ReadDir(f.fsys, folder)
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, e.Name())
		} else {
			files = append(files, e.Name())
		}
	}
	return files, folders, err
}

// ReadFile is part of Files.
func (f fsFiles) ReadFile(_ context.Context, file string) ([]byte, error) {
	return fs.ReadFile(f.fsys, file)
}

// Folder is part of Files.
func (f fsFiles) Folder(folder string) component.Storage {
	sub, err := fs.Sub(f.fsys, folder)
	if err != nil {
		sub = f.fsys // the path is one that ReadDir gave
	}
	return component.FS(sub)
}

// maxDepth bounds how deep a tree is looked through: links may go in circles.
const maxDepth = 32

// walk lists the folders of a tree that have SSTables or a schema, in order. A
// server may meanwhile remove tables and snapshots other than the one of that tag:
// what is gone when it is looked at is passed over.
func (t *Tree) walk(ctx context.Context, tag string) ([]Folder, error) {
	var found []Folder
	var visit func(p string, depth int) error
	visit = func(p string, depth int) error {
		if depth > maxDepth {
			return fmt.Errorf("%s: folders inside of each other, %d deep", p, depth)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		files, folders, err := t.ReadDir(ctx, p)
		var f Folder
		if err == nil {
			f, err = t.examine(ctx, p, files, folders)
		}
		if of := parsePath(path.Join(t.Path, p)).Tag; errors.Is(err, fs.ErrNotExist) && p != "." && (of == "" || tag != "" && of != tag) {
			return nil
		}
		if err != nil {
			return err
		}
		// A snapshot of a table without rows has a schema and no SSTables.
		if f.some || f.Schema {
			found = append(found, f)
		}
		slices.Sort(folders)
		for _, name := range folders {
			if name[0] == '.' {
				continue // of an index
			}
			if err := visit(path.Join(p, name), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return found, visit(".", 0)
}
