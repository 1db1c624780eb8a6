package export

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// keepIncomplete publishes ten rows as all that could be read.
func keepIncomplete(t *testing.T, target *Target) error {
	t.Helper()
	d := newDataset(t, imageSchema(), Options{WorkDir: target.PartsDir()})
	writePart(t, t.Context(), d, "a", imageRecord(0, 10))
	res, err := d.FinishIncomplete(t.Context(), []string{"a"}, target.Dir())
	if err != nil {
		t.Fatal(err)
	}
	m := Manifest{Kind: "table", RunID: target.opts.RunID, CreatedAt: time.Unix(1_748_736_000, 0).UTC(), Coverage: Coverage{Complete: true}}
	d.Describe(&m, res)
	return target.PublishIncomplete(t.Context(), m)
}

func TestIncompleteDatasetsSaySo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for range 2 { // the second replaces the first
		if err := keepIncomplete(t, prepare(t, dir, "r1", false)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the dataset's own place was touched: %v", err)
	}
	place := dir + ".INCOMPLETE"
	want := []string{"INCOMPLETE", "SHA256SUMS", "data/INCOMPLETE-part-00000-of-00001.parquet", "manifest.json"}
	if diff := cmp.Diff(want, listing(t, place)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	_, err := Verify(t.Context(), place)
	for _, says := range []string{"_SUCCESS is missing", "incomplete"} {
		if !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), says) {
			t.Errorf("verification says %v, not %q", err, says)
		}
	}

	// The same run, now complete, takes it away.
	target := prepare(t, dir, "r1", false)
	if err := target.Publish(t.Context(), fill(t, target, 20)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(place); !os.IsNotExist(err) {
		t.Errorf("what the run kept when it was incomplete is left: %v", err)
	}
}

func TestWhatIsNotIncompleteIsNotReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	mine := filepath.Join(IncompleteDir(dir), "notes.txt")
	if err := errors.Join(os.Mkdir(IncompleteDir(dir), 0o755), os.WriteFile(mine, []byte("keep"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := keepIncomplete(t, prepare(t, dir, "r1", false)); !errors.Is(err, ErrNotDataset) {
		t.Errorf("a directory of somebody else is replaced: %v", err)
	}
	if err := RemoveIncompleteStats(IncompleteDir(dir), ""); !errors.Is(err, ErrNotDataset) {
		t.Errorf("a directory of somebody else is replaced: %v", err)
	}
	if err := RemoveIncompleteStats(IncompleteDir(dir), "r1"); err != nil {
		t.Errorf("a directory of somebody else: %v", err)
	}
	if data, err := os.ReadFile(mine); err != nil || string(data) != "keep" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestIncompleteStatisticsAreReplacedByTheirRun(t *testing.T) {
	for run, left := range map[string]bool{"r1": false, "r2": true, "": false} {
		dir := t.TempDir()
		tree := openTree(t, dir, "r1")
		write(t, tree, "sizes", "2025-06-01", counts(20240, 5))
		if err := tree.Commit(t.Context(), RunRecord{}); err != nil {
			t.Fatal(err)
		}
		if err := RemoveIncompleteStats(dir, run); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, RunFile)); (err == nil) != left {
			t.Errorf("incomplete statistics of r1 with run %q: left is %v, want %v", run, err == nil, left)
		}
	}
}
