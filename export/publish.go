package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"manifest/export/internal/parquetfile"
)

// Publish verifies the dataset, writes manifest.json, SHA256SUMS and _SUCCESS,
// and puts it in its place by renaming its directory. Until then, and after any
// error, nothing has changed there. What is incomplete goes through PublishIncomplete.
//
// With Overwrite the dataset in its place is moved aside first and removed
// afterwards. Renaming can't do both at once: a process that ends in between
// leaves the old one under a hidden name, and the next Prepare puts it back.
func (t *Target) Publish(ctx context.Context, m Manifest) error {
	if err := t.verify(ctx, m); err != nil {
		return fmt.Errorf("publish %s: %w", t.dir, err)
	}
	if err := t.describe(ctx, m, SuccessFile); err != nil {
		return fmt.Errorf("publish %s: %w", t.dir, err)
	}
	if err := t.swap(); err != nil {
		return fmt.Errorf("publish %s: %w", t.dir, err)
	}
	if err := t.removeIncomplete(); err != nil {
		return fmt.Errorf("published, but what was kept of the incomplete run is left: %w", err)
	}
	if err := os.RemoveAll(t.PartsDir()); err != nil {
		return fmt.Errorf("published, but work files are left: %w", err)
	}
	_ = os.Remove(t.run) // unless the caller has files of its own there
	return nil
}

// verify reads back what can be read quickly: that the files are there with
// their sizes, that those of Parquet have the rows they should have, and that
// the sums are right.
func (t *Target) verify(ctx context.Context, m Manifest) error {
	if len(m.Files) == 0 {
		return fmt.Errorf("no files: %w", ErrVerify)
	}
	var errs []error
	var rows, bytes int64
	for _, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows += f.Rows
		bytes += f.Bytes
		errs = append(errs, t.verifyFile(f))
	}
	if rows != m.Rows || bytes != m.Bytes {
		errs = append(errs, fmt.Errorf("files have %d rows and %d bytes, the manifest says %d and %d: %w", rows, bytes, m.Rows, m.Bytes, ErrVerify))
	}
	return errors.Join(errs...)
}

func (t *Target) verifyFile(f File) error {
	path, err := t.inside(f.Path)
	if err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, errors.Join(ErrVerify, err))
	}
	if st.Size() != f.Bytes {
		return fmt.Errorf("%s has %d bytes, not %d: %w", f.Path, st.Size(), f.Bytes, ErrVerify)
	}
	if filepath.Ext(path) != Parquet.extension() {
		return nil
	}
	p, err := parquetfile.OpenFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, errors.Join(ErrVerify, err))
	}
	if p.Rows() != f.Rows {
		err = fmt.Errorf("%s has %d rows, not %d: %w", f.Path, p.Rows(), f.Rows, ErrVerify)
	}
	return errors.Join(err, p.Close())
}

// describe writes the files that are about the others, and mark last.
func (t *Target) describe(ctx context.Context, m Manifest, mark string) error {
	m.FormatVersion = FormatVersion
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", ManifestFile, err)
	}
	if err := t.WriteFile(ManifestFile, append(data, '\n')); err != nil {
		return err
	}
	sums, err := t.checksums(ctx, m.Files)
	if err != nil {
		return err
	}
	if err := t.WriteFile(ChecksumsFile, sums); err != nil {
		return err
	}
	if err := t.syncDirs(); err != nil {
		return err
	}
	if err := t.WriteFile(mark, nil); err != nil {
		return err
	}
	return t.syncDirs()
}

// checksums makes the file that sha256sum -c reads, of all files in the dataset,
// by name. The sums of data files are known.
func (t *Target) checksums(ctx context.Context, known []File) ([]byte, error) {
	sums := make(map[string]string)
	for _, f := range known {
		sums[f.Path] = f.SHA256
	}
	err := filepath.WalkDir(t.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(t.Dir(), path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if _, ok := sums[name]; ok || name == ChecksumsFile || name == SuccessFile {
			return nil
		}
		_, sums[name], err = hashFile(path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list files of the dataset: %w", err)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s  %s\n", sums[name], name)
	}
	return []byte(b.String()), nil
}

// syncDirs makes the names in all directories of the dataset last.
func (t *Target) syncDirs() error {
	if t.opts.NoSync {
		return nil
	}
	return filepath.WalkDir(t.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return syncDir(path)
	})
}

// swap renames the dataset to its place.
func (t *Target) swap() error {
	if err := t.check(); err != nil { // it may have come into being meanwhile
		return err
	}
	if err := os.Rename(t.dir, t.oldDir()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("move the earlier dataset aside: %w", err)
	}
	if err := os.Rename(t.Dir(), t.dir); err != nil {
		err = fmt.Errorf("put the dataset in its place: %w", err)
		if back := os.Rename(t.oldDir(), t.dir); back != nil && !errors.Is(back, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("put the earlier dataset back: %w", back))
		}
		return err
	}
	if !t.opts.NoSync {
		if err := syncDir(filepath.Dir(t.dir)); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(t.oldDir()); err != nil {
		return fmt.Errorf("published, but the earlier dataset is left as %s: %w", t.oldDir(), err)
	}
	return nil
}

// Published tells whether the run has published its dataset at dir, whole, and
// gives what it says: for a run that is taken up again because its process ended
// before it could clean up.
func Published(dir, runID string) (Manifest, bool) {
	m, err := readManifest(dir)
	if err != nil || m.RunID != runID || len(m.Counts) == 0 {
		return Manifest{}, false
	}
	_, err = os.Stat(filepath.Join(dir, SuccessFile))
	return m, err == nil
}
