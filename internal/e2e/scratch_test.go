package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// scratch returns an empty directory for outputs, which goes with the test. It is in memory where that has room: the binary waits for the
// disk at every commit, and the tests would spend half their time on that.
func scratch(t testing.TB) string {
	t.Helper()
	root, err := memoryDir()
	if err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(root, "")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// The directory in memory of a process has its id in the name, so that a later one can remove what a killed one left.
const (
	memory       = "/dev/shm"
	memoryPrefix = "manifest-e2e-"
	memoryNeeded = 2 << 30
)

// memoryDir makes this process's directory in memory, at the first call. runTests removes it.
var memoryDir = sync.OnceValues(func() (string, error) {
	var space syscall.Statfs_t
	if err := syscall.Statfs(memory, &space); err != nil {
		return "", err
	}
	if os.Getenv("TMPDIR") != "" || space.Bavail*uint64(space.Bsize) < memoryNeeded {
		return "", fmt.Errorf("%s is not wanted, or has no room", memory)
	}
	left, err := filepath.Glob(filepath.Join(memory, memoryPrefix+"*"))
	if err != nil {
		return "", err
	}
	for _, dir := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), memoryPrefix))
		if err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			os.RemoveAll(dir) // somebody else's, perhaps
		}
	}
	dir := filepath.Join(memory, memoryPrefix+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755) // whatever the umask: for runAsNobody
})
