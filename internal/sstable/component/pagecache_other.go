//go:build !linux

package component

import "os"

// pageCache does nothing on systems whose page cache takes no such advice.
type pageCache struct{}

func newPageCache(*os.File, int64) *pageCache { return &pageCache{} }

func (*pageCache) reading(int64, int) {}
func (*pageCache) close()             {}
