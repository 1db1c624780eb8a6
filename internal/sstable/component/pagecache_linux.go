package component

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// pageCache keeps reading a file from filling the system's page cache, where it
// would push out what a server on the same machine needs. It notes which pages
// of a region were there before the region is read, and drops the others when
// the reading has moved on. For that it takes reading ahead into its own hands:
// the system's would bring pages unnoticed.
//
// All of it is advice: where a call fails, the pages stay.
type pageCache struct {
	file *os.File
	size int64

	mu      sync.Mutex
	regions map[int64]*region
}

// region is a part of the file of which something was read, or is read ahead.
type region struct {
	// before is what mincore said before the first read: a byte for each page, of
	// which the lowest bit tells whether it was there. nil if the system does not
	// say, or if all were.
	before []byte
	whole  bool  // all were there
	read   int64 // bytes
}

const regionSize = 4 << 20

func newPageCache(f *os.File, size int64) *pageCache {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) // no reading ahead
	return &pageCache{file: f, size: size, regions: map[int64]*region{}}
}

// reading is called before a part of the file is read.
func (c *pageCache) reading(offset int64, n int) {
	if offset < 0 || offset >= c.size || n <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := offset / regionSize; i <= min(offset+int64(n), c.size-1)/regionSize; i++ {
		r := c.region(i)
		r.read += int64(n)
		// Who has read half of a region goes on to the next one, most likely, and is
		// done with the one before.
		if next := i + 1; r.read > regionSize/2 && next*regionSize < c.size && c.regions[next] == nil {
			// What is there need not be looked for, page by page.
			if !c.region(next).whole {
				_ = unix.Fadvise(int(c.file.Fd()), next*regionSize, regionSize, unix.FADV_WILLNEED)
			}
			c.drop(i - 1)
		}
	}
}

// region gives a region, with what is in the cache of it.
func (c *pageCache) region(i int64) *region {
	r := c.regions[i]
	if r == nil {
		if r = (&region{whole: c.whole(i)}); !r.whole {
			r.before = c.residency(i)
		}
		c.regions[i] = r
	}
	return r
}

// whole tells whether all pages of a region are in the cache, as far as the
// system can say that without naming them, which takes longer.
func (c *pageCache) whole(i int64) bool {
	at := i * regionSize
	length := min(regionSize, c.size-at)
	page := int64(os.Getpagesize())
	var stat unix.Cachestat_t
	err := unix.Cachestat(uint(c.file.Fd()), &unix.CachestatRange{Off: uint64(at), Len: uint64(length)}, &stat, 0)
	return err == nil && int64(stat.Cache) == (length+page-1)/page
}

// residency asks which pages of a region are in the cache. It is nil where the
// system does not say.
func (c *pageCache) residency(i int64) []byte {
	at := i * regionSize
	length := int(min(regionSize, c.size-at))
	m, err := unix.Mmap(int(c.file.Fd()), at, length, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Munmap(m) }()
	page := os.Getpagesize()
	pages := make([]byte, (length+page-1)/page)
	if err := mincore(m, pages); err != nil {
		return nil
	}
	return pages
}

// drop drops the pages of a region that were not there before, and forgets the
// region.
func (c *pageCache) drop(at int64) {
	r := c.regions[at]
	if r == nil {
		return
	}
	page := int64(os.Getpagesize())
	for i := 0; i < len(r.before); {
		j := i
		for j < len(r.before) && r.before[j]&1 == 0 {
			j++
		}
		if j > i {
			_ = unix.Fadvise(int(c.file.Fd()), at*regionSize+int64(i)*page, int64(j-i)*page, unix.FADV_DONTNEED)
		}
		i = j + 1
	}
	delete(c.regions, at)
}

// close drops what is left.
func (c *pageCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.regions {
		c.drop(i)
	}
}
