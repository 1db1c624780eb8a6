package casstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// record is what other processes need to know of a running cluster to use its files and its nodetool.
type record struct {
	PID     int     `json:"pid"`
	Program string  `json:"program"`
	Dir     string  `json:"dir"`
	Options Options `json:"options"`
}

// programName is how a process calls itself in records and locks.
func programName() string { return filepath.Base(os.Args[0]) }

func recordPath(cache, address string) string {
	return filepath.Join(cache, "nodes", address+".json")
}

func writeRecord(path string, opts Options, dir string) error {
	text, err := json.MarshalIndent(record{PID: os.Getpid(), Program: programName(), Dir: dir, Options: opts}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode cluster record: %w", err)
	}
	temporary := path + ".tmp"
	if err := errors.Join(os.WriteFile(temporary, text, 0o644), os.Rename(temporary, path)); err != nil {
		return fmt.Errorf("write cluster record: %w", err)
	}
	return nil
}

func removeRecord(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// readRecord returns the record of the cluster whose first node has the address. It reports os.ErrNotExist when no such cluster runs: a
// record whose address lock is free was left by a process that was killed.
func readRecord(cache, address string) (record, error) {
	var r record
	text, err := os.ReadFile(recordPath(cache, address))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("decode cluster record: %w", err)
	}
	lock, err := tryLock(addressLockPath(cache, address))
	if err == nil {
		lock.unlock()
		return r, os.ErrNotExist
	}
	if !errors.Is(err, errLocked) {
		return r, err
	}
	return r, nil
}

// StopOther asks the process of this program that runs the cluster whose first node has the address to stop it, and waits until it has.
// Clusters that other programs run, such as those of a test, are left alone.
func StopOther(ctx context.Context, address string) error {
	cache, err := CacheDir()
	if err != nil {
		return err
	}
	r, err := readRecord(cache, address)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", address, ErrNotRunning)
	}
	if err != nil {
		return err
	}
	if r.Program != programName() {
		return fmt.Errorf("%s: %w: process %d (%s) runs one", address, ErrNotRunning, r.PID, r.Program)
	}
	if err := syscall.Kill(r.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("signal process %d: %w", r.PID, err)
	}
	lock, err := waitLock(ctx, addressLockPath(cache, address), lockName(address), io.Discard)
	if err != nil {
		return err
	}
	lock.unlock()
	return nil
}
