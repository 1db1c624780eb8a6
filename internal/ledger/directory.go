package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// lockName is the lock's name in the run directory. It is a file of its own,
// which is never removed: were it removed, a process that waits to lock the old
// file and one that makes a new file would both have a lock.
const lockName = "ledger.lock"

// makeDir makes dir and what is missing above it, durably, for the owner alone.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if err := makeDir(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// syncDir makes the entries of dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
