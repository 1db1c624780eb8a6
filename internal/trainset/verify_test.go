package trainset

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"manifest/export"
	"manifest/internal/tokensort"
)

// published builds a dataset and writes what manifest.json needs to have for Verify, Diff and Explain.
func published(t testing.TB, spec Spec, images []image, s setup) (string, export.Manifest) {
	dir, w := build(t, spec, images, s, export.Options{Format: export.JSONLines}, nil)
	m := export.Manifest{FormatVersion: export.FormatVersion, Kind: "training", Training: &export.Training{
		Salt: spec.Salt, Order: string(ByHash), Dedupe: "content-hash", Splits: w.Splits, Rejects: w.Rejects, Limit: spec.Limit,
		Proof: export.TrainingProof{Rows: w.Proof.Rows, Groups: w.Proof.Groups, ContentHashes: w.Proof.Hashes, ContentHashesShared: w.Proof.SharedHashes, HashesKnown: true},
	}}
	for _, r := range w.Counts.Rejected {
		m.Training.Rejected = append(m.Training.Rejected, export.StageCount{Stage: r.Name, Rows: r.Images})
	}
	w.Dataset.DescribeTraining(&m, w.Files, nil)
	writeManifest(t, dir, m)
	return dir, m
}

func writeManifest(t testing.TB, dir string, m export.Manifest) {
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, export.ManifestFile), data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// editLines changes the lines of a file.
func editLines(t testing.TB, path string, edit func([]string) []string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := edit(strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"))
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyFindsWhatRowsTell(t *testing.T) {
	images := makeImages(5, 600)
	one := setup{splits: 1, rows: 1000, memory: 1 << 28, work: 1}
	train := "data/train-00000-of-00001.jsonl"
	for _, c := range []struct {
		name string
		do   func(t *testing.T, dir string, m *export.Manifest)
		want string
	}{
		{"nothing", func(*testing.T, string, *export.Manifest) {}, ""},
		{"a row twice", func(t *testing.T, dir string, m *export.Manifest) {
			editLines(t, filepath.Join(dir, train), func(l []string) []string { return slices.Insert(l, 1, l[0]) })
			m.Rows++
			m.Training.Splits[0].Rows++
			m.Training.Proof.Rows++
		}, "is there 2 times"},
		{"a lost row", func(t *testing.T, dir string, m *export.Manifest) {
			editLines(t, filepath.Join(dir, train), func(l []string) []string { return l[1:] })
		}, "split train has"},
		{"a leaked group", func(t *testing.T, dir string, m *export.Manifest) {
			var moved string
			editLines(t, filepath.Join(dir, train), func(l []string) []string { moved = l[0]; return l[1:] })
			editLines(t, filepath.Join(dir, "data/test-00000-of-00001.jsonl"), func(l []string) []string {
				return append([]string{strings.Replace(moved, `"split":"train"`, `"split":"test"`, 1)}, l...)
			})
			m.Training.Splits[0].Rows--
			m.Training.Splits[2].Rows++
		}, "and its group belongs to train"},
		{"a wrong split", func(t *testing.T, dir string, m *export.Manifest) {
			editLines(t, filepath.Join(dir, train), func(l []string) []string {
				l[0] = strings.Replace(l[0], `"split":"train"`, `"split":"test"`, 1)
				return l
			})
		}, "of split test is in " + train},
		{"a wrong count", func(_ *testing.T, _ string, m *export.Manifest) { m.Training.Splits[1].Rows++ }, "split validation has"},
		{"a wrong proof", func(_ *testing.T, _ string, m *export.Manifest) { m.Training.Proof.Groups++ }, "groups, and the manifest says"},
		{"another salt", func(_ *testing.T, _ string, m *export.Manifest) { m.Training.Salt = "x" }, "has the sample hash"},
		{"another order", func(t *testing.T, dir string, _ *export.Manifest) {
			editLines(t, filepath.Join(dir, train), func(l []string) []string { l[0], l[1] = l[1], l[0]; return l })
		}, "not in the order of sample hashes"},
		{"a reject that is kept", func(t *testing.T, dir string, m *export.Manifest) {
			data, err := os.ReadFile(filepath.Join(dir, train))
			if err != nil {
				t.Fatal(err)
			}
			_, id, _ := strings.Cut(string(data), `"image_id":"`)
			editLines(t, filepath.Join(dir, m.Training.Rejects[0].Path), func(l []string) []string {
				_, old, _ := strings.Cut(l[0], `"image_id":"`)
				l[0] = strings.Replace(l[0], old[:36], id[:36], 1)
				return l
			})
		}, "in the dataset and in the rejects"},
		{"a lost reject", func(t *testing.T, dir string, m *export.Manifest) {
			editLines(t, filepath.Join(dir, m.Training.Rejects[0].Path), func(l []string) []string { return l[1:] })
		}, "are rejected as"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, m := published(t, theSpec(t), images, one)
			c.do(t, dir, &m)
			err := Verify(t.Context(), dir, m, tokensort.Options{Dir: t.TempDir()})
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, export.ErrVerify) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A new image of older content takes the place of one; others come and go, and change their status.
func TestDiffAndExplain(t *testing.T) {
	images := makeImages(6, 500)
	spec := theSpec(t)
	spec.Statuses = nil
	one := setup{splits: 1, rows: 1000, memory: 1 << 28, work: 1}
	before, _ := published(t, spec, images, one)
	keptBefore := map[string]string{}
	statusBefore := map[string]string{}
	for _, row := range lines(t, before, "data") {
		keptBefore[row["image_id"].(string)] = row["split"].(string)
		if s, ok := row["review_status"].(string); ok {
			statusBefore[row["image_id"].(string)] = s
		}
	}
	var approved, pending string
	for i := range images {
		name := images[i].name()
		switch {
		case keptBefore[name] == "":
		case approved == "" && images[i].status == "approved":
			approved, images[i].status = name, "rejected"
		case pending == "" && images[i].status == "pending":
			pending, images[i].status = name, "approved"
		}
	}
	spec.Limit = 1 << 40
	after, _ := published(t, spec, images, one)
	keptAfter := map[string]string{}
	for _, row := range lines(t, after, "data") {
		keptAfter[row["image_id"].(string)] = row["split"].(string)
	}
	want := map[Change]bool{{Image: pending, Kind: StatusChanged, From: "pending", To: "approved"}: true}
	for name, split := range keptBefore {
		if s, ok := keptAfter[name]; !ok {
			want[Change{Image: name, Kind: Removed, From: split}] = true
		} else if s != split {
			want[Change{Image: name, Kind: Moved, From: split, To: s}] = true
		}
	}
	for name, split := range keptAfter {
		if keptBefore[name] == "" {
			want[Change{Image: name, Kind: Added, To: split}] = true
		}
	}
	if len(want) < 2 || keptAfter[approved] != "" {
		t.Fatalf("the changes %v test little", want)
	}
	err := Diff(t.Context(), before, after, tokensort.Options{Dir: t.TempDir(), Memory: 1000}, func(c Change) error {
		if !want[c] {
			t.Errorf("unexpected change %+v", c)
		}
		delete(want, c)
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("%v, changes not found: %v", err, want)
	}

	for name, split := range keptBefore {
		e, err := Explain(t.Context(), before, name)
		if err != nil || !e.Kept || e.Split != split || e.Values["device_id"] == "" {
			t.Errorf("%+v %v", e, err)
		}
		break
	}
	if e, err := Explain(t.Context(), after, approved); err != nil || e.Kept || e.Reason != "status_rejected" {
		t.Errorf("%+v %v", e, err)
	}
	if e, err := Explain(t.Context(), after, "00000000-0000-1000-8000-000000000000"); err != nil || e.Kept || e.Rejected || len(e.Because) == 0 {
		t.Errorf("%+v %v", e, err)
	}
}

// A manifest need not have the columns that tell most.
func TestVerifyWithFewColumns(t *testing.T) {
	images := makeImages(11, 300)
	for _, columns := range [][]string{{"object_key"}, {"image_id"}, {"image_id", "split", "width"}, {"group_id", "content_hash"}, {"image_id", "group_id"}} {
		spec := theSpec(t)
		spec.Columns = columns
		dir, m := published(t, spec, images, setup{splits: 1, rows: 1000, memory: 1 << 28, work: 1})
		if err := Verify(t.Context(), dir, m, tokensort.Options{Dir: t.TempDir()}); err != nil {
			t.Errorf("%q: %v", columns, err)
		}
	}
}
