package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Verify reads a published dataset again, all of it, and gives what it says
// about itself. The error joins everything that does not hold, each an
// [ErrVerify] that names the file:
//
//   - _SUCCESS is there, and manifest.json is of a known format;
//   - the files are those of SHA256SUMS and no others, with these sums;
//   - the data files of the manifest are in there with their sizes, and hold as
//     many rows as it says, counted by reading every one;
//   - their columns are those of the manifest, in order, its hash is theirs, and
//     in Parquet their types too;
//   - the sums of rows and bytes, and the counts of stages, agree.
//
// A directory that can't be read is another error; one that was never a dataset
// is [ErrNotDataset].
func Verify(ctx context.Context, dir string) (Manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return m, err
	}
	v := verification{dir: dir, manifest: m}
	v.marks()
	if err := v.checksums(ctx); err != nil {
		return m, err
	}
	v.totals()
	for _, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return m, context.Cause(ctx)
		}
		v.data(f)
	}
	return m, errors.Join(v.found...)
}

func readManifest(dir string) (Manifest, error) {
	var m Manifest
	data, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s has no %s: %w", dir, ManifestFile, ErrNotDataset)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w: %w", filepath.Join(dir, ManifestFile), ErrVerify, err)
	}
	if m.FormatVersion != FormatVersion {
		return m, fmt.Errorf("%s is of format %d, and this program knows %d: %w", filepath.Join(dir, ManifestFile), m.FormatVersion, FormatVersion, ErrVerify)
	}
	return m, nil
}

// verification gathers what does not hold.
type verification struct {
	dir      string
	manifest Manifest
	found    []error
}

func (v *verification) fault(format string, args ...any) {
	v.found = append(v.found, fmt.Errorf(format+": %w", append(args, ErrVerify)...))
}

// marks checks that the dataset was published, and complete.
func (v *verification) marks() {
	if _, err := os.Stat(filepath.Join(v.dir, SuccessFile)); err != nil {
		v.fault("%s is missing", SuccessFile)
	}
	if !v.manifest.Coverage.Complete {
		v.fault("%s says that the dataset is incomplete", ManifestFile)
	}
}

var sumLine = regexp.MustCompile(`^([0-9a-f]{64})  (.+)$`)

// checksums compares every file with SHA256SUMS.
func (v *verification) checksums(ctx context.Context) error {
	data, err := os.ReadFile(filepath.Join(v.dir, ChecksumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		v.fault("%s is missing", ChecksumsFile)
		return nil
	}
	if err != nil {
		return err
	}
	sums := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		parts := sumLine.FindStringSubmatch(line)
		if parts == nil || !filepath.IsLocal(filepath.FromSlash(parts[2])) {
			v.fault("%s: line %d is not a sum and the name of a file", ChecksumsFile, i+1)
			continue
		}
		sums[parts[2]] = parts[1]
	}
	for _, f := range v.manifest.Files {
		if sums[f.Path] != f.SHA256 {
			v.fault("%s has another sum in %s than in %s", f.Path, ManifestFile, ChecksumsFile)
		}
	}
	err = filepath.WalkDir(v.dir, func(path string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(v.dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		want, ok := sums[name]
		delete(sums, name)
		switch {
		case name == ChecksumsFile || name == SuccessFile:
		case !ok:
			v.fault("%s does not belong to the dataset", name)
		default:
			if _, sum, err := hashFile(path); err != nil {
				return err
			} else if sum != want {
				v.fault("%s has changed: its sum is %s, not %s", name, sum, want)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the dataset again: %w", err)
	}
	for name := range sums {
		v.fault("%s is missing", name)
	}
	return nil
}

// totals compares the figures of the manifest with each other.
func (v *verification) totals() {
	m := v.manifest
	var rows, bytes int64
	for _, f := range m.Files {
		rows, bytes = rows+f.Rows, bytes+f.Bytes
	}
	if rows != m.Rows || bytes != m.Bytes {
		v.fault("%s says %d rows and %d bytes, and its files sum up to %d and %d", ManifestFile, m.Rows, m.Bytes, rows, bytes)
	}
	for _, c := range m.Counts {
		if c.Stage == "written" && c.Rows != m.Rows {
			v.fault("%s counts %d rows written, and %d in the files", ManifestFile, c.Rows, m.Rows)
		}
		if c.Rows < m.Rows {
			v.fault("%s counts %d rows %s, fewer than the %d in the files", ManifestFile, c.Rows, c.Stage, m.Rows)
		}
	}
	if hash := schemaHash(m.Columns); hash != m.SchemaHash {
		v.fault("%s has another hash of its columns, %s, than they give, %s", ManifestFile, m.SchemaHash, hash)
	}
}

// data reads a file of rows to its end.
func (v *verification) data(f File) {
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
		v.fault("%s names the file %q, which is not inside of the dataset", ManifestFile, f.Path)
		return
	}
	path := filepath.Join(v.dir, filepath.FromSlash(f.Path))
	st, err := os.Stat(path)
	if err != nil {
		return // missing: SHA256SUMS has told
	}
	if st.Size() != f.Bytes {
		v.fault("%s has %d bytes, not %d", f.Path, st.Size(), f.Bytes)
	}
	rows, columns, differ, err := countRows(path, v.manifest.Format, v.manifest.Columns)
	if err != nil {
		v.fault("%s can't be read back: %v", f.Path, err)
		return
	}
	for _, what := range differ {
		v.fault("%s: %s", f.Path, what)
	}
	if rows != f.Rows {
		v.fault("%s holds %d rows, not %d", f.Path, rows, f.Rows)
	}
	var want []string
	for _, c := range v.manifest.Columns {
		want = append(want, c.Name)
	}
	if columns != nil && !slices.Equal(columns, want) {
		v.fault("%s has the columns %q, not %q", f.Path, columns, want)
	}
}
