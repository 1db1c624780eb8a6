package export

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Target is the place of a dataset that is being made. Nothing is to be seen
// there until Publish, which puts the whole dataset there at once.
type Target struct {
	dir  string // of the dataset
	run  string // beside it: what is being made
	opts TargetOptions
}

// TargetOptions of Prepare.
type TargetOptions struct {
	// RunID names the run. Preparing again with the same one goes on with what
	// is there. It consists of letters, digits, '-', '_' and '.'.
	RunID string
	// Overwrite lets Publish replace a dataset of this program.
	Overwrite bool
	// NoSync leaves out waiting for the disk. For tests.
	NoSync bool
}

var runIDPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)

// Prepare checks that a dataset can be put at dir, before anything is read, and
// makes the directories of the run beside it. Parents of dir are made.
//
// A directory that has entries is refused with ErrExists; with Overwrite, one
// that does not look like a dataset of this program with ErrNotDataset.
func Prepare(dir string, opts TargetOptions) (*Target, error) {
	if !runIDPattern.MatchString(opts.RunID) {
		return nil, fmt.Errorf("run id %q can't be part of a file's name", opts.RunID)
	}
	abs, err := resolve(dir)
	if err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	parent, base := filepath.Split(abs)
	if base == "" {
		return nil, fmt.Errorf("output directory %s can't be made there: %w", dir, ErrExists)
	}
	t := &Target{dir: abs, run: runDir(abs, opts.RunID), opts: opts}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("make parent of output directory: %w", err)
	}
	if err := t.recover(); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	if err := t.clean(); err != nil {
		return nil, err
	}
	for _, d := range []string{t.PartsDir(), t.Dir()} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, fmt.Errorf("make work directory beside the output: %w", err)
		}
	}
	return t, nil
}

// Check tells whether [Prepare] would refuse to make a dataset at dir, and changes nothing: for whoever has much to do before.
func Check(dir string, overwrite bool) error {
	abs, err := resolve(dir)
	if err != nil {
		return fmt.Errorf("output directory: %w", err)
	}
	return (&Target{dir: abs, opts: TargetOptions{Overwrite: overwrite}}).check()
}

// resolve gives the absolute path of a dataset, behind any link: or the rename
// would replace the link.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}

// RunDir is the directory that [Prepare] uses for a run of a dataset at dir.
// Those of all its runs begin with that of the empty id.
func RunDir(dir, runID string) string {
	abs, err := resolve(dir)
	if err != nil {
		abs = filepath.Clean(dir) // no working directory: Prepare will say so
	}
	return runDir(abs, runID)
}

func runDir(abs, runID string) string {
	return filepath.Join(filepath.Dir(abs), "."+filepath.Base(abs)+".run-"+runID)
}

// clean removes what a process of the same run left half done. Committed parts stay.
func (t *Target) clean() error {
	if err := os.RemoveAll(t.Dir()); err != nil {
		return fmt.Errorf("remove unfinished files: %w", err)
	}
	entries, err := os.ReadDir(t.PartsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("find unfinished parts: %w", err)
	}
	for _, e := range entries {
		if !isTemporary(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(t.PartsDir(), e.Name())); err != nil {
			return fmt.Errorf("remove unfinished part: %w", err)
		}
	}
	return nil
}

// RunDir is the directory of the run. Callers may keep files of their own in it,
// such as a ledger; Publish leaves them there.
func (t *Target) RunDir() string { return t.run }

// PartsDir is the work directory for the parts of a Dataset.
func (t *Target) PartsDir() string { return filepath.Join(t.run, "parts") }

// Dir is where the dataset is made: the dir of Dataset.Finish.
func (t *Target) Dir() string { return filepath.Join(t.run, "dataset") }

// check refuses a target that may not be replaced.
func (t *Target) check() error {
	entries, err := os.ReadDir(t.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("output directory: %w", errors.Join(err, notADirectory(t.dir)))
	case len(entries) == 0:
		return nil // made by hand, to be filled
	case !t.opts.Overwrite:
		return fmt.Errorf("output directory %s: %w", t.dir, ErrExists)
	}
	for _, name := range []string{ManifestFile, SuccessFile} {
		if _, err := os.Stat(filepath.Join(t.dir, name)); err != nil {
			return fmt.Errorf("overwrite %s, which has no %s: %w", t.dir, name, ErrNotDataset)
		}
	}
	return nil
}

// notADirectory is ErrExists when something else is in the place of a directory.
func notADirectory(name string) error {
	if st, err := os.Lstat(name); err == nil && !st.IsDir() {
		return ErrExists
	}
	return nil
}

// oldDir is where a dataset waits while another takes its place.
func (t *Target) oldDir() string {
	parent, base := filepath.Split(t.dir)
	return filepath.Join(parent, "."+base+".old")
}

// recover puts a dataset back that a run had moved away when it was ended
// before it could put its own in the place, and removes one that has been replaced.
func (t *Target) recover() error {
	if _, err := os.Lstat(t.oldDir()); err != nil {
		return nil
	}
	if _, err := os.Lstat(t.dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(t.oldDir(), t.dir); err != nil {
			return fmt.Errorf("put the earlier dataset back: %w", err)
		}
		return nil
	}
	if err := os.RemoveAll(t.oldDir()); err != nil {
		return fmt.Errorf("remove a replaced dataset: %w", err)
	}
	return nil
}

// WriteFile writes a further file of the dataset, before Publish. name is below
// the dataset's directory, with slashes.
func (t *Target) WriteFile(name string, data []byte) error {
	path, err := t.inside(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return writeFileAtomic(path, data, !t.opts.NoSync)
}

// inside gives the path of a name that does not lead out of the dataset.
func (t *Target) inside(name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) || strings.Contains(name, `\`) {
		return "", fmt.Errorf("file name %q leads out of the dataset: %w", name, ErrVerify)
	}
	return filepath.Join(t.Dir(), local), nil
}

// Discard removes everything of the run, instead of Publish.
func (t *Target) Discard() error {
	if err := os.RemoveAll(t.run); err != nil {
		return fmt.Errorf("remove work directory: %w", err)
	}
	return nil
}
