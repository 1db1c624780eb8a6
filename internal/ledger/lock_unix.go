//go:build unix

package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockDir takes the run in dir for this process. The kernel gives it up when
// the file is closed, and so at the latest when the process ends. The file says
// who had it last.
func lockDir(dir string) (io.Closer, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock run: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("run %s: %w by %s", dir, ErrLocked, owner(file))
		}
		return nil, fmt.Errorf("lock run %s: %w", dir, err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	text := fmt.Sprintf("process %d on %s since %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	if err := file.Truncate(0); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock run %s: %w", dir, err)
	}
	if _, err := file.WriteAt([]byte(text), 0); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock run %s: %w", dir, err)
	}
	return file, nil
}

// owner gives what the lock's owner has written into it. The owner may be about
// to do so.
func owner(file *os.File) string {
	text, err := io.ReadAll(io.LimitReader(file, 1024))
	if name := strings.TrimSpace(string(text)); err == nil && name != "" {
		return name
	}
	return "another process"
}
