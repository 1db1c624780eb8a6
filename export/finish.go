package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// File describes one file of a dataset.
type File struct {
	Path   string `json:"path"` // below the dataset's directory, with slashes
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Result of Finish.
type Result struct {
	Files []File
	Rows  int64            // in the files
	Read  int64            // before the filter
	Unfit map[string]int64 // by column: values clamped or nulled because they did not fit
}

// dataDir is where the files of a dataset are, below its directory.
const dataDir = "data"

// Finish makes the files of the dataset below dir, which exists, from the
// committed parts of the given splits, in that order: that of their tokens. The
// same parts give the same bytes. A dataset without rows has one file, so that
// readers find the columns.
//
// Parts are kept, so that Finish can be called again after an error. It replaces
// what an earlier call made.
func (d *Dataset) Finish(ctx context.Context, splits []string, dir string) (Result, error) {
	return d.finish(ctx, d.opts.FilePrefix, splits, dir)
}

// finish makes files whose names begin with name.
func (d *Dataset) finish(ctx context.Context, name string, splits []string, dir string) (Result, error) {
	res := Result{Unfit: make(map[string]int64)}
	parts := make([]partInfo, len(splits))
	for i, split := range splits {
		info, err := d.readInfo(split)
		if err != nil {
			return Result{}, fmt.Errorf("finish dataset: %w", err)
		}
		parts[i] = info
		res.Rows += info.Rows
		res.Read += info.Read
		for column, n := range info.Unfit {
			res.Unfit[column] += n
		}
	}
	data := filepath.Join(dir, d.opts.Dir)
	if err := errors.Join(removeFiles(data, name), os.MkdirAll(data, 0o755)); err != nil {
		return Result{}, fmt.Errorf("finish dataset: %w", err)
	}
	a := &assembly{dataset: d, name: name, parts: parts, dir: data}
	defer a.abort()
	if err := a.assemble(ctx, res.Rows); err != nil {
		return Result{}, fmt.Errorf("finish dataset: %w", err)
	}
	files, err := a.commit()
	if err != nil {
		return Result{}, fmt.Errorf("finish dataset: %w", err)
	}
	var rows int64
	for _, f := range files {
		rows += f.Rows
	}
	if rows != res.Rows {
		return Result{}, fmt.Errorf("finish dataset: files have %d rows, parts %d: %w", rows, res.Rows, ErrVerify)
	}
	res.Files = files
	return res, nil
}

// removeFiles removes what an earlier call has made in the directory.
func removeFiles(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name+"-") || strings.HasPrefix(e.Name(), "."+name+"-") {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// assembly makes the files of a dataset. Files get their names when all are
// complete, because the names tell how many there are.
type assembly struct {
	dataset *Dataset
	name    string // what the names of the files begin with
	parts   []partInfo
	dir     string
	shards  []shard
}

// shard is a file in the making.
type shard struct {
	file *atomicFile
	rows int64
}

func (a *assembly) assemble(ctx context.Context, rows int64) error {
	switch {
	case rows == 0:
		return a.empty()
	case a.dataset.opts.Format == Parquet:
		return a.parquet(ctx)
	case a.dataset.opts.Format == Arrow:
		return a.arrow(ctx, rows)
	}
	return a.text(ctx)
}

// create starts file i.
func (a *assembly) create(i int) (*atomicFile, error) {
	return createHashed(filepath.Join(a.dir, fmt.Sprintf("%s-%05d", a.name, i)), !a.dataset.opts.NoSync)
}

// empty makes one file without rows.
func (a *assembly) empty() error {
	f, err := a.create(0)
	if err != nil {
		return err
	}
	a.shards = append(a.shards, shard{file: f})
	if err := a.header(f); err != nil {
		return err
	}
	w, err := a.dataset.newPartWriter(f)
	if err != nil {
		return err
	}
	_, err = w.finish()
	return errors.Join(err, f.finish())
}

// commit names the files.
func (a *assembly) commit() ([]File, error) {
	var files []File
	for i, s := range a.shards {
		name := fmt.Sprintf("%s-%05d-of-%05d%s", a.name, i, len(a.shards), a.dataset.opts.Format.extension())
		s.file.name = filepath.Join(a.dir, name)
		if err := s.file.rename(); err != nil {
			return nil, err
		}
		files = append(files, File{Path: a.dataset.opts.Dir + "/" + name, Rows: s.rows, Bytes: s.file.size, SHA256: s.file.sum()})
	}
	a.shards = nil
	return files, nil
}

// abort removes files that were not named.
func (a *assembly) abort() {
	for _, s := range a.shards {
		s.file.abort()
	}
}
