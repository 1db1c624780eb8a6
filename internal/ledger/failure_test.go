package ledger

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
)

var errDisk = errors.New("no space left on device")

// Whatever fails while a line is written, the lines before it stay readable and
// no later one is taken.
func TestFailedWriteEndsTheLedger(t *testing.T) {
	for _, c := range []struct {
		name     string
		set      func(*memory)
		takeBack bool // whether the file holds nothing of the failed line
	}{
		{"write fails", func(m *memory) { m.write = func([]byte) (int, error) { return 0, errDisk } }, true},
		{"short write", func(m *memory) { m.write = func(p []byte) (int, error) { return len(p) - 1, errDisk } }, true},
		{"fsync fails", func(m *memory) { m.sync = func() error { return errDisk } }, true},
		{"short write that stays", func(m *memory) {
			m.write = func(p []byte) (int, error) { return len(p) / 2, errDisk }
			m.truncate = func() error { return errors.New("read-only file system") }
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := &memory{}
			l, err := begin(file, testHeader())
			if err != nil {
				t.Fatal(err)
			}
			commit(t, l, 1, 2)
			before := len(file.data)
			c.set(file)
			if err := l.Commit(t.Context(), testReceipt(3)); !errors.Is(err, errDisk) {
				t.Errorf("error is %v", err)
			}
			if got := len(file.data) == before; got != c.takeBack {
				t.Errorf("%d bytes became %d", before, len(file.data))
			}
			*file = memory{data: file.data} // there is room again, but nothing is sure
			if err := l.Commit(t.Context(), testReceipt(4)); !errors.Is(err, errDisk) {
				t.Errorf("later commit: %v", err)
			}
			if got := len(l.Receipts()); got != 2 {
				t.Errorf("%d receipts, not the 2 that were committed", got)
			}
			if err := l.Close(); err != nil || !file.closed {
				t.Errorf("close: %v", err)
			}

			l, err = goOn(file, file.data, testHeader())
			if err != nil {
				t.Fatal(err)
			}
			commit(t, l, 3)
			if c, err := parse(file.data); err != nil || len(c.covered.sorted) != 3 {
				t.Errorf("%d receipts after resuming: %v", len(c.covered.sorted), err)
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small file system needs the right to mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	l := create(t, dir)
	committed := 0
	for {
		err := l.Commit(t.Context(), testReceipt(committed))
		if err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			break
		}
		committed++
	}
	l.Close()
	rec, err := Read(dir)
	if err != nil || len(rec.Receipts) != committed || committed < 10 || rec.Torn != 0 {
		t.Errorf("%d receipts and %d torn bytes of %d commits: %v", len(rec.Receipts), rec.Torn, committed, err)
	}
}
