package queries

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"manifest/queries/internal/partial"
)

// outFile is a part file in the making. It is under a temporary name in its directory until it is published.
type outFile struct {
	*partial.Writer
	file *os.File // nil once it is published or discarded
	// What was written so far; of a published file, the whole.
	size int64
	hash *xxh3.Hasher
}

// counted writes to the file and takes its size and hash.
type counted struct{ *outFile }

func (c counted) Write(p []byte) (int, error) {
	n, err := c.file.Write(p)
	c.size += int64(n)
	_, _ = c.hash.Write(p[:n])
	return n, err
}

func createOut(dir, split string, h partial.Header) (*outFile, error) {
	file, err := os.CreateTemp(dir, split+".part.tmp-*")
	if err != nil {
		return nil, err
	}
	o := &outFile{file: file, hash: xxh3.New()}
	if o.Writer, err = partial.NewWriter(counted{o}, h); err != nil {
		o.discard()
		return nil, err
	}
	return o, nil
}

// publish ends the file, brings it to the disk and renames it.
func (o *outFile) publish(path string) error {
	if err := o.Close(); err != nil {
		return err
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	if err := o.file.Chmod(0o644); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(o.file.Name(), path); err != nil {
		return err
	}
	o.file = nil
	return syncDir(filepath.Dir(path))
}

// discard removes the file unless it is published.
func (o *outFile) discard() {
	if o.file == nil {
		return
	}
	// It may be closed already, and what is left of it has a name that says so.
	_ = o.file.Close()
	_ = os.Remove(o.file.Name())
	o.file = nil
}

// syncDir brings the names in a directory to the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
