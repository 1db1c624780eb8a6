package component

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPageCacheIsLeftAlone reads a file of which one half is in the page cache.
func TestPageCacheIsLeftAlone(t *testing.T) {
	const size = 6 * regionSize
	path := filepath.Join(t.TempDir(), "nb-1-big-Data.db")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	resident := func(from, to int64) (share float64) {
		c := newPageCache(f, size)
		in, all := 0, 0
		for r := from / regionSize; r < to/regionSize; r++ {
			for _, p := range c.residency(r) {
				in += int(p & 1)
				all++
			}
		}
		return float64(in) / float64(max(1, all))
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil || resident(0, size) > 0.01 {
		t.Skip("this file system keeps all pages in memory")
	}
	half := make([]byte, size/2)
	if _, err := f.ReadAt(half, 0); err != nil {
		t.Fatal(err)
	}
	before := resident(0, size/2)
	if before < 0.99 {
		t.Skip("there is no memory for pages")
	}

	file, err := Dir(filepath.Dir(path)).Open(t.Context(), filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100_000)
	for at := int64(0); at < size; at += int64(len(b)) {
		if err := ReadAt(file, path, b[:min(int64(len(b)), size-at)], at); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if after := resident(0, size/2); after < before-0.01 {
		t.Errorf("of the pages that were in the cache %.0f %% are left", 100*after)
	}
	if after := resident(size/2, size); after > 0.05 {
		t.Errorf("%.0f %% of the pages that were not in the cache are in it now", 100*after)
	}
}
