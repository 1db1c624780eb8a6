package export

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
)

// atomicFile is a file that is written under another name in its directory and
// gets its own name when it is complete. It is hashed on the way.
type atomicFile struct {
	name string // its path when complete
	file *os.File
	buf  *bufio.Writer
	hash *sideHash    // SHA-256; nil without
	xxh  *xxh3.Hasher // of files that are not hashed otherwise
	size int64
	sync bool

	early  errgroup.Group // syncs while it is being written, one at a time
	synced int64          // bytes that such a sync was begun after
}

// earlySync is how many bytes are written before they are sent to the disk,
// beside the writing: finish has less to wait for then.
const earlySync = 32 << 20

// createAtomic starts a file. An old file of that name stays until commit.
func createAtomic(name string, sync bool) (*atomicFile, error) {
	// Not os.CreateTemp, whose files nobody else may read.
	temp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%08x.tmp", filepath.Base(name), rand.Uint32()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("create file for %s: %w", name, err)
	}
	a := &atomicFile{name: name, file: f, sync: sync}
	a.early.SetLimit(1)
	a.buf = bufio.NewWriterSize(fileAndHash{a}, 128<<10)
	return a, nil
}

// createHashed starts a file whose SHA-256 is taken, beside the writing: it takes
// longer than that.
func createHashed(name string, sync bool) (*atomicFile, error) {
	a, err := createAtomic(name, sync)
	if err == nil {
		a.hash = &sideHash{hash: sha256.New()}
	}
	return a, err
}

// createDigested starts a file whose XXH3 hash is taken.
func createDigested(name string, sync bool) (*atomicFile, error) {
	a, err := createAtomic(name, sync)
	if err == nil {
		a.xxh = xxh3.New()
	}
	return a, err
}

// isTemporary says whether a name is one that createAtomic gives.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
}

// fileAndHash writes to the file and its hash.
type fileAndHash struct{ *atomicFile }

func (f fileAndHash) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	if f.hash != nil {
		f.hash.write(p[:n])
	}
	if f.xxh != nil {
		_, _ = f.xxh.Write(p[:n])
	}
	f.size += int64(n)
	if f.sync && f.size-f.synced >= earlySync && f.early.TryGo(f.file.Sync) {
		f.synced = f.size
	}
	return n, err
}

func (a *atomicFile) Write(p []byte) (int, error) { return a.buf.Write(p) }

// finish writes and syncs all bytes and closes the file, which keeps its
// temporary name until rename.
func (a *atomicFile) finish() error {
	err := a.buf.Flush()
	a.endHash()
	// What an early sync has failed at, a later one may say nothing of.
	err = errors.Join(err, a.early.Wait())
	if err == nil && a.sync {
		err = a.file.Sync()
	}
	if err := errors.Join(err, a.file.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", a.name, err), os.Remove(a.file.Name()))
	}
	return nil
}

// rename gives a finished file its name.
func (a *atomicFile) rename() error {
	if err := os.Rename(a.file.Name(), a.name); err != nil {
		return fmt.Errorf("name file: %w", err)
	}
	return nil
}

// commit finishes the file and gives it its name. The directory is not synced.
func (a *atomicFile) commit() error {
	if err := a.finish(); err != nil {
		return err
	}
	return a.rename()
}

// abort removes the file, as far as that is possible.
func (a *atomicFile) abort() {
	a.endHash()
	_ = a.early.Wait()
	_ = a.file.Close()
	_ = os.Remove(a.file.Name())
}

func (a *atomicFile) endHash() {
	if a.hash != nil {
		a.hash.end()
	}
}

// sum is the SHA-256 of a finished file that was hashed, in hex.
func (a *atomicFile) sum() string { return hex.EncodeToString(a.hash.hash.Sum(nil)) }

// digest is the XXH3 hash of 128 bits of a finished file that was digested, in hex.
// It is taken of what was handed to the disk, at a small fraction of the cost of
// SHA-256.
func (a *atomicFile) digest() string {
	sum := a.xxh.Sum128()
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
}

// writeFileAtomic writes a whole file.
func writeFileAtomic(name string, data []byte, sync bool) error {
	a, err := createAtomic(name, sync)
	if err != nil {
		return err
	}
	if _, err := a.Write(data); err != nil {
		a.abort()
		return fmt.Errorf("write %s: %w", name, err)
	}
	return a.commit()
}

// syncDir makes the names in a directory last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

// hashFile gives size and SHA-256 of a file.
func hashFile(name string) (size int64, sum string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, "", fmt.Errorf("hash %s: %w", name, err)
	}
	return size, hex.EncodeToString(h.Sum(nil)), nil
}
