package tokensort

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteRun makes a run at path of the rows that fill adds. After an error there is no file. It is not synced: what is sorted can be
// sorted again.
func WriteRun(path string, fill func(*Writer) error) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return diskError(filepath.Dir(path), err)
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = diskError(filepath.Dir(path), errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path)))
		}
	}()
	buffered := bufio.NewWriterSize(file, 256<<10)
	w, err := NewWriter(buffered)
	if err != nil {
		return err
	}
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}

// MergeRuns gives the rows of runs in order; of equal keys, those of an earlier path come first. More than [Options.FanIn] are merged
// into files of opts.Dir first, which Close of the result removes; the runs themselves stay.
func MergeRuns(opts Options, paths []string) (*Sorter, error) {
	s, err := NewSorter(opts)
	if err != nil {
		return nil, err
	}
	for i := range paths {
		r, err := Open(paths[i])
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.total += r.Rows()
		if err := r.Close(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.runs = append(s.runs, paths...)
	s.kept = len(paths)
	return s, nil
}
