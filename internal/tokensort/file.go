package tokensort

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"
)

// WriteRun makes a run at path of the rows that fill adds. After an error there is no file. It is not synced: what is sorted can be
// sorted again.
func WriteRun(path string, fill func(*Writer) error) error {
	_, _, err := writeFile(path, false, fill)
	return err
}

// writeFile makes a run. Of one that is to last, which it syncs, it gives the XXH3 of 128 bits too.
func writeFile(path string, lasting bool, fill func(*Writer) error) (size int64, digest string, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, "", diskError(filepath.Dir(path), err)
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = diskError(filepath.Dir(path), errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path)))
		}
	}()
	hash, to := xxh3.New(), io.Writer(file)
	if lasting {
		to = io.MultiWriter(hash, file)
	}
	buffered := bufio.NewWriterSize(to, 256<<10)
	w, err := NewWriter(buffered)
	if err != nil {
		return 0, "", err
	}
	if err := fill(w); err != nil {
		return 0, "", err
	}
	if err := w.Close(); err != nil {
		return 0, "", err
	}
	if err := buffered.Flush(); err != nil || !lasting {
		return w.offset, "", err
	}
	sum := hash.Sum128()
	return w.offset, fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo), file.Sync()
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
