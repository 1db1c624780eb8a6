package component

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mincore fills a byte for each page of mapped memory: the lowest bit tells
// whether the page is in memory.
func mincore(mapped, pages []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		return errno
	}
	return nil
}
