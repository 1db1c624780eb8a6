package export

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func prepare(t *testing.T, dir, run string, overwrite bool) *Target {
	t.Helper()
	target, err := Prepare(dir, TargetOptions{RunID: run, Overwrite: overwrite, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// fill makes a dataset of rows in the target and gives its manifest.
func fill(t *testing.T, target *Target, rows int) Manifest {
	t.Helper()
	d := newDataset(t, imageSchema(), Options{WorkDir: target.PartsDir()})
	writePart(t, t.Context(), d, "a", imageRecord(0, rows))
	res, err := d.Finish(t.Context(), []string{"a"}, target.Dir())
	if err != nil {
		t.Fatal(err)
	}
	m := Manifest{Kind: "table", RunID: "r1", CreatedAt: time.Unix(1_748_736_000, 0).UTC(), Source: Source{Kind: "cql", Keyspace: "k", Table: "t"}}
	d.Describe(&m, res)
	return m
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	names := []string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestPublish(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "deep", "out")
	target := prepare(t, dir, "r1", false)
	m := fill(t, target, 10)
	if err := target.WriteFile("notes/README.md", []byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("something is there before publishing: %v", err)
	}
	if err := target.Publish(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	want := []string{"SHA256SUMS", "_SUCCESS", "data/part-00000-of-00001.parquet", "manifest.json", "notes/README.md"}
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if left := listing(t, filepath.Dir(dir)); len(left) != len(want) {
		t.Errorf("beside the dataset lie %v", left)
	}

	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = dir
	if out, err := check.CombinedOutput(); err != nil || strings.Count(string(out), ": OK") != 3 {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}

	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back Manifest
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	m.FormatVersion = 1
	if len(m.Unfit) == 0 {
		m.Unfit = nil
	}
	if diff := cmp.Diff(m, back); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	if back.Rows != 10 || len(back.SchemaHash) != 64 || back.Files[0].Rows != 10 {
		t.Errorf("manifest is %+v", back)
	}
}

func TestTargetsThatAreRefused(t *testing.T) {
	parent := t.TempDir()
	full := filepath.Join(parent, "full")
	file := filepath.Join(parent, "file")
	empty := filepath.Join(parent, "empty")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(full, "precious"), 0o755), os.WriteFile(file, []byte("x"), 0o644), os.Mkdir(empty, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		dir  string
		opts TargetOptions
		want error
	}{
		{"existing", full, TargetOptions{RunID: "r"}, ErrExists},
		{"existing, not ours", full, TargetOptions{RunID: "r", Overwrite: true}, ErrNotDataset},
		{"a file", file, TargetOptions{RunID: "r", Overwrite: true}, ErrExists},
		{"below a file", filepath.Join(file, "out"), TargetOptions{RunID: "r"}, errAny},
		{"root", "/", TargetOptions{RunID: "r"}, ErrExists},
		{"run id that leads out", filepath.Join(parent, "out"), TargetOptions{RunID: "../../x"}, errAny},
		{"empty directory", empty, TargetOptions{RunID: "r"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Prepare(tt.dir, tt.opts)
			if tt.want == errAny && err == nil || tt.want != errAny && !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
		})
	}
	if diff := cmp.Diff([]string{"file"}, listing(t, parent)); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
}

// errAny stands for whatever error.
var errAny = errors.New("any")

func TestUnwritableParentIsFoundOutAtOnce(t *testing.T) {
	if os.Getuid() == 0 {
		// The superuser may write everywhere, except where nobody can.
		if _, err := Prepare("/proc/self/out", TargetOptions{RunID: "r"}); err == nil {
			t.Error("no error")
		}
		return
	}
	parent := t.TempDir()
	if err := os.Chmod(parent, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(filepath.Join(parent, "out"), TargetOptions{RunID: "r"}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("error is %v", err)
	}
}

func TestOverwriteReplacesAtOnce(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	target := prepare(t, dir, "r1", false)
	if err := target.WriteFile("old.txt", nil); err != nil {
		t.Fatal(err)
	}
	if err := target.Publish(t.Context(), fill(t, target, 5)); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(dir, TargetOptions{RunID: "r2"}); !errors.Is(err, ErrExists) {
		t.Errorf("second run gives %v", err)
	}
	target = prepare(t, dir, "r2", true)
	m := fill(t, target, 6)
	if _, err := os.Stat(filepath.Join(dir, "old.txt")); err != nil {
		t.Fatalf("the old dataset was touched early: %v", err)
	}
	if err := target.Publish(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "old.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old dataset is still there: %v", err)
	}
	if entries, _ := os.ReadDir(parent); len(entries) != 1 {
		t.Errorf("left beside it: %v", entries)
	}
}

// A dataset that was moved aside by a process that then ended comes back.
func TestInterruptedSwapIsUndone(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	target := prepare(t, dir, "r1", false)
	if err := target.Publish(t.Context(), fill(t, target, 5)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, target.oldDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(dir, TargetOptions{RunID: "r2"}); !errors.Is(err, ErrExists) {
		t.Errorf("the old dataset did not come back: %v", err)
	}
	if !slices.Contains(listing(t, dir), "_SUCCESS") {
		t.Error("what came back is not the dataset")
	}
}

// Whatever is wrong with the files, nothing is published.
func TestDamageIsNotPublished(t *testing.T) {
	for name, damage := range map[string]func(*testing.T, *Target, *Manifest){
		"no files":        func(t *testing.T, _ *Target, m *Manifest) { m.Files = nil },
		"wrong sum":       func(t *testing.T, _ *Target, m *Manifest) { m.Rows++ },
		"wrong rows":      func(t *testing.T, _ *Target, m *Manifest) { m.Files[0].Rows--; m.Rows-- },
		"wrong size":      func(t *testing.T, _ *Target, m *Manifest) { m.Files[0].Bytes++; m.Bytes++ },
		"name leads out":  func(t *testing.T, _ *Target, m *Manifest) { m.Files[0].Path = "../" + m.Files[0].Path },
		"absolute name":   func(t *testing.T, _ *Target, m *Manifest) { m.Files[0].Path = "/etc/passwd" },
		"lost file":       func(t *testing.T, g *Target, m *Manifest) { remove(t, filepath.Join(g.Dir(), m.Files[0].Path)) },
		"no Parquet file": func(t *testing.T, g *Target, m *Manifest) { zero(t, filepath.Join(g.Dir(), m.Files[0].Path)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			target := prepare(t, dir, "r1", false)
			m := fill(t, target, 10)
			damage(t, target, &m)
			if err := target.Publish(t.Context(), m); !errors.Is(err, ErrVerify) {
				t.Errorf("error is %v", err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("something was published: %v", err)
			}
		})
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

// zero overwrites a file with as many zeros.
func zero(t *testing.T, name string) {
	t.Helper()
	st, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, make([]byte, st.Size()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTargetThatComesIntoBeingMeanwhile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	target := prepare(t, dir, "r1", false)
	m := fill(t, target, 3)
	if err := os.MkdirAll(filepath.Join(dir, "precious"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := target.Publish(t.Context(), m); !errors.Is(err, ErrExists) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "precious")); err != nil {
		t.Error(err)
	}
}

// A run that goes on keeps its parts, and nothing that was half done.
func TestPrepareAgainGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	target := prepare(t, dir, "r1", false)
	fill(t, target, 3)
	if err := os.WriteFile(filepath.Join(target.PartsDir(), ".b.parquet.123.tmp"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(target.RunDir(), "ledger.jsonl"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := prepare(t, dir, "r1", false)
	if diff := cmp.Diff([]string{"ledger.jsonl", "parts/a.parquet", "parts/a.part.json"}, listing(t, again.RunDir())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d := newDataset(t, imageSchema(), Options{WorkDir: again.PartsDir()})
	res, err := d.Finish(t.Context(), []string{"a"}, again.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var m Manifest
	d.Describe(&m, res)
	if err := again.Publish(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ledger.jsonl"}, listing(t, again.RunDir())); diff != "" {
		t.Errorf("of the run is left (-want +got):\n%s", diff)
	}
}

func TestDiscard(t *testing.T) {
	parent := t.TempDir()
	target := prepare(t, filepath.Join(parent, "out"), "r1", false)
	fill(t, target, 3)
	if err := target.Discard(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestWriteFileStaysInside(t *testing.T) {
	target := prepare(t, filepath.Join(t.TempDir(), "out"), "r1", false)
	for _, name := range []string{"../x", "/x", "a/../../x", "", `a\b`} {
		if err := target.WriteFile(name, nil); !errors.Is(err, ErrVerify) {
			t.Errorf("%q gives %v", name, err)
		}
	}
}
