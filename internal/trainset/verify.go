package trainset

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"manifest/export"
	"manifest/internal/sampling"
	"manifest/internal/tokensort"
)

// Verify reads the rows of a published training manifest again, with readers that share nothing with what wrote them, and proves what only
// its rows can tell. The error joins everything that does not hold, each an export.ErrVerify:
//
//   - each row is in a file of its split, and each split has as many rows and files as the manifest says;
//   - no image is there twice, and no image is in rejects too; there are as many rejects of each reason as it says;
//   - no group and no content hash is in two splits, and all of the proof is as it was;
//   - sample hashes are those of the ids, in the order that was asked for, and splits those of the groups.
//
// Columns that the manifest does not have are not looked at. What does not fit opts goes to its Dir.
func Verify(ctx context.Context, dir string, m export.Manifest, opts tokensort.Options) error {
	if m.Training == nil {
		return fmt.Errorf("%s is no training manifest: %w", dir, export.ErrNotDataset)
	}
	v := &verification{manifest: m, rows: map[string]int64{}, files: map[string]int{}}
	if err := v.prepare(opts); err != nil {
		return err
	}
	defer v.close()
	for _, f := range m.Files {
		if err := v.file(ctx, dir, f); err != nil {
			return err
		}
	}
	if err := v.rejects(ctx, dir); err != nil {
		return err
	}
	v.counts()
	if err := v.proof(ctx); err != nil {
		return err
	}
	return errors.Join(v.found...)
}

// maxFaults bounds what is told of one kind: all rows of a file may be wrong in the same way.
const maxFaults = 5

type verification struct {
	manifest export.Manifest
	columns  []string // that are read
	splits   []sampling.Split
	prover   *sampling.Prover
	ids      *tokensort.Sorter // image -> split, or nothing for a reject
	rows     map[string]int64
	files    map[string]int
	found    []error
	told     map[string]int
}

func (v *verification) fault(kind, format string, args ...any) {
	if v.told == nil {
		v.told = map[string]int{}
	}
	if v.told[kind]++; v.told[kind] <= maxFaults {
		v.found = append(v.found, fmt.Errorf(format+": %w", append(args, export.ErrVerify)...))
	}
}

// verifiedColumns are looked at where they are there; the id has to be.
var verifiedColumns = []string{"image_id", "split", "group_id", "content_hash", "sample_hash"}

func (v *verification) prepare(opts tokensort.Options) (err error) {
	for _, c := range v.manifest.Columns {
		if slices.Contains(verifiedColumns, c.Name) {
			v.columns = append(v.columns, c.Name)
		}
	}
	t := v.manifest.Training
	// Where nothing but its group decides the split of a row, it can be computed again.
	if t.PinFrom == "" && t.Dedupe != "none" && len(t.Splits) > 1 {
		var texts []string
		for _, s := range t.Splits {
			texts = append(texts, s.Name+"="+s.Share)
		}
		if v.splits, err = sampling.ParseSplits(strings.Join(texts, ",")); err != nil {
			v.fault("splits", "splits of the manifest: %v", err)
			err = nil
		}
	}
	if v.prover, err = sampling.NewProver(opts); err != nil {
		return err
	}
	v.ids, err = tokensort.NewSorter(opts)
	return err
}

func (v *verification) close() { _ = errors.Join(v.prover.Close(), v.ids.Close()) }

// splitOfFile is the split that a file's name says.
func splitOfFile(name string) string {
	split, _, _ := strings.Cut(path.Base(name), "-")
	return split
}

// file looks at the rows of a data file.
func (v *verification) file(ctx context.Context, dir string, f export.File) error {
	t := v.manifest.Training
	split := splitOfFile(f.Path)
	v.files[split]++
	if !slices.Contains(v.columns, "image_id") { // then rows have nothing that tells one from another
		v.rows[split] += f.Rows
		return nil
	}
	last := int64(-1)
	err := export.ReadRows(ctx, dir, f, v.manifest.Format, v.columns, func(row []export.Value) error {
		v.rows[split]++
		r := verifiedRow{split: split}
		for i, name := range v.columns {
			if err := r.take(name, row[i]); err != nil {
				v.fault("value", "%s: %v", f.Path, err)
				return nil
			}
		}
		if r.split != split {
			v.fault("split", "image %s of split %s is in %s", r.id, r.split, f.Path)
		}
		if r.hasSample {
			if want := sampling.SampleHash(t.Salt, []byte(r.id)); len(r.id) != 16 && r.sample != want {
				v.fault("sample", "image %s has the sample hash %d, not %d", r.id, r.sample, want)
			}
			if t.Order == string(ByHash) && r.sample < last {
				v.fault("order", "%s is not in the order of sample hashes at image %s", f.Path, r.id)
			}
			last = r.sample
		}
		if r.hasGroup && v.splits != nil {
			if want := sampling.SplitOf(t.Salt, v.splits, r.group); want != split {
				v.fault("group", "image %s of group %d is in split %s, and its group belongs to %s", r.id, r.group, split, want)
			}
		}
		if !r.hasGroup { // each image is then a group of its own here
			r.group = sampling.GroupID(sampling.SingleKey(nil, []byte(r.id)))
		}
		if err := v.ids.Add([]byte(r.id), []byte{1}); err != nil {
			return err
		}
		return v.prover.Add([]byte(r.id), r.group, []byte(r.hash), split)
	})
	return v.readFault(f, err)
}

// readFault makes a fault of an error about what a file holds.
func (v *verification) readFault(f export.File, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, tokensort.ErrDiskFull) {
		return err
	}
	v.fault("read "+f.Path, "%s can't be read back: %v", f.Path, err)
	return nil
}

// verifiedRow is a row of which some columns are known.
type verifiedRow struct {
	id, hash, split     string
	group, sample       int64
	hasGroup, hasSample bool
}

func (r *verifiedRow) take(column string, v export.Value) (err error) {
	if v.Null && column != "content_hash" {
		return fmt.Errorf("a row whose %s is NULL", column)
	}
	switch column {
	case "image_id":
		r.id = v.Text
	case "split":
		r.split = v.Text
	case "content_hash":
		r.hash = v.Text
	case "group_id":
		r.hasGroup = true
		r.group, err = strconv.ParseInt(v.Text, 10, 64)
	case "sample_hash":
		r.hasSample = true
		r.sample, err = strconv.ParseInt(v.Text, 10, 64)
	}
	return err
}

// rejects looks at the rows in rejects/.
func (v *verification) rejects(ctx context.Context, dir string) error {
	reasons := map[string]int64{}
	for _, f := range v.manifest.Training.Rejects {
		err := export.ReadRows(ctx, dir, f, v.manifest.Format, []string{"image_id", "reason"}, func(row []export.Value) error {
			reasons[row[1].Text]++
			return v.ids.Add([]byte(row[0].Text), []byte{0})
		})
		if err := v.readFault(f, err); err != nil {
			return err
		}
	}
	for _, r := range v.manifest.Training.Rejected {
		if n := reasons[r.Stage]; n != r.Rows {
			v.fault("reasons", "%d images are rejected as %s, and the manifest says %d", n, r.Stage, r.Rows)
		}
		delete(reasons, r.Stage)
	}
	for reason, n := range reasons {
		v.fault("reasons", "%d images are rejected as %s, and the manifest has none", n, reason)
	}
	return nil
}

// counts compares the splits with the manifest.
func (v *verification) counts() {
	rows, files := int64(0), 0
	for _, s := range v.manifest.Training.Splits {
		if v.rows[s.Name] != s.Rows || v.files[s.Name] != s.Files {
			v.fault("counts", "split %s has %d rows in %d files, and the manifest says %d in %d", s.Name, v.rows[s.Name], v.files[s.Name], s.Rows, s.Files)
		}
		rows, files = rows+s.Rows, files+s.Files
	}
	if rows != v.manifest.Rows || files != len(v.manifest.Files) {
		v.fault("counts", "the splits of the manifest sum up to %d rows in %d files, and it has %d in %d", rows, files, v.manifest.Rows, len(v.manifest.Files))
	}
}

// proof proves again that nothing leaks, and that no image is there twice.
func (v *verification) proof(ctx context.Context) error {
	if err := v.repeated(ctx); err != nil {
		return err
	}
	got, err := v.prover.Prove(ctx)
	if err != nil {
		return err
	}
	for _, example := range got.Examples {
		v.fault("leak", "%s", example)
	}
	want, has := v.manifest.Training.Proof, func(c string) bool { return slices.Contains(v.columns, c) }
	compare := func(what string, got, want int64, known bool) {
		if known && got != want {
			v.fault("proof", "%d %s, and the manifest says %d", got, what, want)
		}
	}
	compare("rows", got.Rows, want.Rows, has("image_id"))
	compare("repeated images", got.Repeated, want.RepeatedImages, has("image_id"))
	compare("groups", got.Groups, want.Groups, has("group_id") && has("image_id"))
	compare("groups in several splits", got.GroupsAcross, want.GroupsAcrossSplits, has("group_id") && has("image_id"))
	known := has("content_hash") && has("image_id") && want.HashesKnown
	compare("content hashes", got.Hashes, want.ContentHashes, known)
	compare("content hashes in several splits", got.HashesAcross, want.HashesAcrossSplits, known)
	compare("content hashes of several images", got.SharedHashes, want.ContentHashesShared, known)
	return nil
}

// repeated finds images that are in the dataset and in the rejects.
func (v *verification) repeated(ctx context.Context) error {
	if err := v.ids.Sort(ctx); err != nil {
		return err
	}
	in, err := v.ids.Open()
	if err != nil {
		return err
	}
	var last []byte
	var kept, rejected bool
	return tokensort.Each(ctx, in, func(key, value []byte) error {
		if string(last) != string(key) {
			last, kept, rejected = append(last[:0], key...), false, false
		}
		kept, rejected = kept || value[0] == 1, rejected || value[0] == 0
		if kept && rejected {
			v.fault("rejects", "image %s is in the dataset and in the rejects", key)
		}
		return nil
	})
}
