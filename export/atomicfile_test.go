package export

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeebo/xxh3"
)

// TestLargeFilesAreHashedAsTheyAre writes more than is synced early, in pieces of
// any size, and reads it back.
func TestLargeFilesAreHashedAsTheyAre(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large")
	hashed, err := createHashed(name, true)
	if err != nil {
		t.Fatal(err)
	}
	digested, err := createDigested(name+"2", true)
	if err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 300_001)
	var size int64
	for i := 0; size < earlySync*2+earlySync/2; i++ {
		for j := range piece {
			piece[j] = byte(i*j + i>>3)
		}
		n, err := io.MultiWriter(hashed, digested).Write(piece[:i*7919%len(piece)])
		if err != nil {
			t.Fatal(err)
		}
		size += int64(n)
	}
	for _, a := range []*atomicFile{hashed, digested} {
		if err := a.commit(); err != nil {
			t.Fatal(err)
		}
		if a.size != size || a.synced < earlySync {
			t.Errorf("%d bytes, %d of them synced early, of %d", a.size, a.synced, size)
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sum := xxh3.Hash128(data).Bytes()
	if want := fmt.Sprintf("%x", sha256.Sum256(data)); int64(len(data)) != size || hashed.sum() != want {
		t.Errorf("%d bytes with SHA-256 %s, want %d with %s", len(data), hashed.sum(), size, want)
	}
	if want := fmt.Sprintf("%x", sum); digested.digest() != want {
		t.Errorf("digest %s, want %s", digested.digest(), want)
	}
}

// TestAbortEndsWhatGoesOnBeside leaves neither file nor goroutine, which TestMain
// looks for, before the first byte, between, and at the end.
func TestAbortEndsWhatGoesOnBeside(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1 << 20, earlySync + 1<<20} {
		for _, finish := range []bool{false, true} {
			a, err := createHashed(filepath.Join(dir, "file"), true)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Write(make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			if finish {
				if err := a.finish(); err != nil {
					t.Fatal(err)
				}
			}
			a.abort()
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
