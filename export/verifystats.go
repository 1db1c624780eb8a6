package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// VerifyStats reads the files that the last run wrote into a directory of
// statistics again, and gives what run.json says. The error joins everything
// that does not hold, each an [ErrVerify] that names the file: files that are
// missing or have changed, and rows that are others than run.json counts. Files
// of earlier runs have no record any more and are passed over.
//
// A directory without run.json is [ErrNotDataset].
func VerifyStats(ctx context.Context, dir string) (RunRecord, error) {
	run, err := readRunRecord(dir)
	if err != nil {
		return run, err
	}
	v := verification{dir: dir, manifest: Manifest{Format: Parquet, Coverage: run.Coverage}}
	if _, err := os.Stat(filepath.Join(dir, journalFile)); err == nil {
		v.fault("%s: a run was broken off as it published; the next one completes it", journalFile)
	}
	if !run.Coverage.Complete {
		v.fault("%s says that the run is incomplete", RunFile)
	}
	for _, s := range run.Statistics {
		if err := ctx.Err(); err != nil {
			return run, context.Cause(ctx)
		}
		v.statistic(s.File)
	}
	for _, l := range run.Ledgers {
		v.unchanged(l) // what they say is for those who know ledgers
	}
	return run, errors.Join(v.found...)
}

func readRunRecord(dir string) (run RunRecord, err error) {
	data, err := os.ReadFile(filepath.Join(dir, RunFile))
	if errors.Is(err, fs.ErrNotExist) {
		return run, fmt.Errorf("%s has no %s: %w", dir, RunFile, ErrNotDataset)
	}
	if err != nil {
		return run, err
	}
	if err := json.Unmarshal(data, &run); err != nil {
		return run, fmt.Errorf("%s: %w: %w", filepath.Join(dir, RunFile), ErrVerify, err)
	}
	if run.FormatVersion != FormatVersion {
		return run, fmt.Errorf("%s is of format %d, and this program knows %d: %w", filepath.Join(dir, RunFile), run.FormatVersion, FormatVersion, ErrVerify)
	}
	return run, nil
}

// unchanged checks size and sum of a file that run.json names, and gives its
// path if it is there.
func (v *verification) unchanged(f File) (path string, ok bool) {
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
		v.fault("%s names the file %q, which is not inside of the directory", RunFile, f.Path)
		return "", false
	}
	path = filepath.Join(v.dir, filepath.FromSlash(f.Path))
	size, sum, err := hashFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.fault("%s is missing", f.Path)
		return "", false
	case err != nil:
		v.fault("%s can't be read: %v", f.Path, err)
		return "", false
	case size != f.Bytes || sum != f.SHA256:
		v.fault("%s has changed: %d bytes with the sum %s, not %d with %s", f.Path, size, sum, f.Bytes, f.SHA256)
	}
	return path, true
}

// statistic checks one file of statistics.
func (v *verification) statistic(f File) {
	path, ok := v.unchanged(f)
	if !ok {
		return
	}
	rows, _, _, err := countRows(path, Parquet, nil)
	if err != nil {
		v.fault("%s can't be read back: %v", f.Path, err)
		return
	}
	if rows != f.Rows {
		v.fault("%s holds %d rows, not %d", f.Path, rows, f.Rows)
	}
}
