package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// IncompleteFile marks a directory whose rows are not all that was asked for.
// It has no [SuccessFile].
const IncompleteFile = "INCOMPLETE"

// incompleteSuffix is what the name of such a directory ends in.
const incompleteSuffix = ".INCOMPLETE"

// IncompleteDir is where what could be read is kept, where something could not:
// never under the name of the dataset itself.
func IncompleteDir(dir string) string { return filepath.Clean(dir) + incompleteSuffix }

// FinishIncomplete is [Dataset.Finish] for a run that left something out: the
// name of every file says so.
func (d *Dataset) FinishIncomplete(ctx context.Context, splits []string, dir string) (Result, error) {
	return d.finish(ctx, IncompleteFile+"-part", splits, dir)
}

// PublishIncomplete puts the dataset, of a run that left something out, into
// [IncompleteDir], in the place of that of an earlier run. It is marked as
// incomplete in manifest.json, by its files' names, by a file INCOMPLETE and by
// having no _SUCCESS. The dataset's own place is not touched, and the parts are
// kept, so that the run can be taken up again.
func (t *Target) PublishIncomplete(ctx context.Context, m Manifest) error {
	m.Coverage.Complete = false
	place := IncompleteDir(t.dir)
	if err := checkIncomplete(place); err != nil {
		return fmt.Errorf("keep what was read: %w", err)
	}
	if err := t.verify(ctx, m); err != nil {
		return fmt.Errorf("keep what was read: %w", err)
	}
	if err := t.describe(ctx, m, IncompleteFile); err != nil {
		return fmt.Errorf("keep what was read: %w", err)
	}
	if err := errors.Join(os.RemoveAll(place), os.Rename(t.Dir(), place)); err != nil {
		return fmt.Errorf("keep what was read: %w", err)
	}
	if t.opts.NoSync {
		return nil
	}
	return syncDir(filepath.Dir(place))
}

// checkIncomplete refuses a directory that PublishIncomplete has not made.
func checkIncomplete(place string) error {
	if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range []string{ManifestFile, IncompleteFile} {
		if _, err := os.Stat(filepath.Join(place, name)); err != nil {
			return fmt.Errorf("%s has no %s: %w", place, name, ErrNotDataset)
		}
	}
	return nil
}

// removeIncomplete removes what was kept of this run before it was complete.
func (t *Target) removeIncomplete() error {
	place := IncompleteDir(t.dir)
	m, err := readManifest(place)
	if err != nil || m.RunID != t.opts.RunID || checkIncomplete(place) != nil {
		return nil // there is none, or it is of another run
	}
	return os.RemoveAll(place)
}

// RemoveIncompleteStats removes a directory of statistics of a run that left
// something out: of any run, or of the one named. Anything else is left alone,
// and refused with [ErrNotDataset] where any run was meant.
func RemoveIncompleteStats(dir, runID string) error {
	run, err := readRunRecord(dir)
	switch {
	case errors.Is(err, ErrNotDataset) && emptyOrMissing(dir):
		return nil
	case err != nil && runID == "":
		return fmt.Errorf("replace %s: %w", dir, err)
	case err != nil || run.Coverage.Complete || runID != "" && run.RunID != runID:
		return nil
	}
	return os.RemoveAll(dir)
}

func emptyOrMissing(dir string) bool {
	entries, err := os.ReadDir(dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}
