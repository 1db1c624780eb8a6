package casstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lockPoll is how often a wait for a lock looks again. The wait is for another process, which gives no other sign.
const lockPoll = 200 * time.Millisecond

// fileLock is a lock between processes that ends with its holder, whatever way that ends. The file stays; its text names the last holder.
type fileLock struct{ file *os.File }

// tryLock takes the lock at path or reports errLocked at once.
func tryLock(path string) (*fileLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make lock folder: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	holder := fmt.Sprintf("process %d (%s)\n", os.Getpid(), programName())
	if err := errors.Join(file.Truncate(0), writeAt(file, holder)); err != nil {
		file.Close()
		return nil, fmt.Errorf("write lock holder: %w", err)
	}
	return &fileLock{file}, nil
}

var errLocked = errors.New("locked by another process")

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// waitLock takes the lock at path, waiting until its holder ends or ctx does. It says on log whom it waits for.
func waitLock(ctx context.Context, path, what string, log io.Writer) (*fileLock, error) {
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for said := false; ; {
		lock, err := tryLock(path)
		if !errors.Is(err, errLocked) {
			return lock, err
		}
		if !said {
			fmt.Fprintf(log, "casstest: waiting for %s, held by %s\n", what, lockHolder(path))
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s, held by %s: %w", what, lockHolder(path), context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

func lockHolder(path string) string {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return "another process"
	}
	return strings.TrimSpace(string(text))
}

// unlock lets the lock go.
func (l *fileLock) unlock() { l.file.Close() }
