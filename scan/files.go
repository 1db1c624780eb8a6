package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"manifest/tokenrange"
)

// PartFile is the file of a committed part, as a receipt names it.
type PartFile struct {
	// Name is the file's path with slashes, from [Options].Dir.
	Name string `json:"name"`
	// Bytes is its size.
	Bytes int64 `json:"bytes"`
	// Digest is its XXH3 hash of 128 bits in hexadecimal, as xxhsum -H2 prints it.
	Digest string `json:"digest"`
}

// Filed is a [Part] that is files once it is committed. Files is called after
// Commit has returned nil, and calls add with the path, the size and the digest
// of each: its XXH3 hash of 128 bits in hexadecimal. Writers compute that on
// the way, so that it is of the bytes that were meant to be written.
type Filed interface {
	Files(add func(path string, bytes int64, digest string))
}

// addFiles adds the files of a committed part, if it has some.
func (r *Receipt) addFiles(p Part, dir string) (err error) {
	filed, ok := p.(Filed)
	if !ok {
		return nil
	}
	filed.Files(func(path string, bytes int64, digest string) {
		if dir != "" {
			rel, relErr := filepath.Rel(dir, path)
			if relErr != nil {
				err = fmt.Errorf("name part %s: %w", path, relErr)
				return
			}
			path = rel
		}
		r.Files = append(r.Files, PartFile{Name: filepath.ToSlash(path), Bytes: bytes, Digest: digest})
	})
	return err
}

// digest gives the digest of a split: the XXH3 hash of 128 bits over its number
// of rows and, for each file in order, the file's digest, each in decimal or
// hexadecimal text and ended by a line feed.
//
// It is one of files and not of rows, because it is the files that have to last
// and that the result is made of; the same rows give the same files, so it says
// as much about the rows, and costs nothing per row.
func (r Receipt) digest() string {
	if len(r.Files) == 0 {
		return ""
	}
	text := fmt.Appendf(nil, "%d\n", r.Rows)
	for _, f := range r.Files {
		text = fmt.Appendf(text, "%s\n", f.Digest)
	}
	sum := xxh3.Hash128(text)
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
}

// ErrPartFile is wrapped by what [CheckFiles] and [VerifyFiles] find.
var ErrPartFile = errors.New("not what its receipt says")

// FileFault is a committed split whose files can't be used any more.
type FileFault struct {
	Split string
	Range tokenrange.Range
	// Err wraps fs.ErrNotExist or [ErrPartFile], and names the file.
	Err error
}

// CheckFiles finds the splits that have a file which is not there, or is not of
// the size that the receipt says. Names are taken from dir. An error is one of
// looking, such as a directory that may not be read.
func CheckFiles(dir string, receipts []Receipt) ([]FileFault, error) {
	return findFaults(receipts, func(f PartFile) error { return checkSize(dir, f) })
}

// VerifyFiles also reads every file and compares its digest.
func VerifyFiles(ctx context.Context, dir string, receipts []Receipt) ([]FileFault, error) {
	buffer := make([]byte, 1<<20)
	return findFaults(receipts, func(f PartFile) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := checkSize(dir, f); err != nil {
			return err
		}
		return checkDigest(dir, f, buffer)
	})
}

func findFaults(receipts []Receipt, check func(PartFile) error) ([]FileFault, error) {
	var faults []FileFault
	for _, r := range receipts {
		for _, f := range r.Files {
			err := check(f)
			switch {
			case err == nil:
				continue
			case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrPartFile):
				return nil, fmt.Errorf("check part of split %s: %w", r.Split, err)
			}
			faults = append(faults, FileFault{Split: r.Split, Range: r.Range, Err: err})
			break
		}
	}
	return faults, nil
}

func checkSize(dir string, f PartFile) error {
	path := filepath.Join(dir, filepath.FromSlash(f.Name))
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.Size() != f.Bytes:
		return fmt.Errorf("%s has %d bytes, not %d: %w", path, info.Size(), f.Bytes, ErrPartFile)
	default:
		return nil
	}
}

func checkDigest(dir string, f PartFile, buffer []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(f.Name))
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := xxh3.New()
	if _, err := io.CopyBuffer(hash, struct{ io.Reader }{file}, buffer); err != nil {
		return err
	}
	sum := hash.Sum128()
	if got := fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo); got != f.Digest {
		return fmt.Errorf("%s has the digest %s, not %s: %w", path, got, f.Digest, ErrPartFile)
	}
	return nil
}
