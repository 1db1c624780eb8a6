package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"manifest/scan"
)

// Cut a ledger anywhere: what had been committed when it was that long is there,
// and nothing else is.
func TestEveryCutKeepsWhatWasCommittedBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := &memory{}
		l, err := begin(file, testHeader())
		if err != nil {
			t.Fatal(err)
		}
		headerEnd := len(file.data)
		type commitment struct {
			end     int // length of the file when Commit had returned
			receipt scan.Receipt
		}
		var commits []commitment
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 40).Draw(t, "splits") {
			r := testReceipt(i)
			r.Rows = int64(len(commits))
			if err := l.Commit(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			commits = append(commits, commitment{len(file.data), r})
		}
		cut := rapid.IntRange(0, len(file.data)).Draw(t, "cut")
		c, err := parse(file.data[:cut])
		if cut < headerEnd {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("without a header: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]scan.Receipt{}
		for _, done := range commits {
			if done.end <= cut {
				want[done.receipt.Split] = done.receipt
			}
		}
		got := map[string]scan.Receipt{}
		for _, r := range c.covered.receipts() {
			got[r.Split] = r
		}
		if diff := cmp.Diff(want, got, exactTokens); diff != "" {
			t.Fatalf("cut at %d of %d: want - got +\n%s", cut, len(file.data), diff)
		}
	})
}

// A loss of power keeps what was synced; of the rest, any sectors. Then the run
// is taken up again, several times over.
func TestPowerLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := &memory{}
		l, err := begin(file, testHeader())
		if err != nil {
			t.Fatal(err)
		}
		promised := map[int]bool{}
		next := 0
		for range rapid.IntRange(1, 4).Draw(t, "losses") {
			failing := rapid.IntRange(0, 6).Draw(t, "syncs before the loss")
			file.sync = func() error {
				if failing--; failing < 0 {
					return errDisk
				}
				return nil
			}
			file.truncate = func() error { return errDisk } // the power is off
			attempted := next
			for range failing + 1 {
				// A batch of several lines, as if they had been committed at once.
				b := newBatch()
				for range rapid.IntRange(1, 5).Draw(t, "lines") {
					r := testReceipt(next)
					b.entries = append(b.entries, &entry{kind: kindReceipt, payload: mustJSON(r), receipt: &r})
					next++
				}
				l.write(b)
				for i, e := range b.entries {
					if e.err == nil {
						promised[next-len(b.entries)+i] = true
					}
				}
			}
			file = &memory{data: loseSectors(t, file)}
			if l, err = goOn(file, file.data, testHeader()); err != nil {
				t.Fatal(err)
			}
			found := map[int]bool{}
			for _, r := range l.Receipts() {
				found[int(r.Rows)] = true
			}
			for i := range promised {
				if !found[i] {
					t.Fatalf("split %d was committed and is lost", i)
				}
			}
			for i := range found {
				if i >= next || (i < attempted && !promised[i]) {
					t.Fatalf("split %d was not committed and is there", i)
				}
				promised[i] = true // it has been seen: it must stay
			}
		}
	})
}

// loseSectors gives what is on disk after a loss of power: sectors that were
// not synced may be there or not, and the file may be shorter.
func loseSectors(t *rapid.T, m *memory) []byte {
	const sector = 64
	end := rapid.IntRange(m.synced, len(m.data)).Draw(t, "length")
	data := bytes.Clone(m.data[:end])
	for start := m.synced; start < end; start += sector {
		if rapid.Bool().Draw(t, "sector lost") {
			clear(data[start:min(start+sector, end)])
		}
	}
	return data
}

// Commits from many goroutines end up as the same receipts, whatever batches
// they fell into.
func TestConcurrentCommits(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir)
	var workers sync.WaitGroup
	const each = 20
	for w := range 16 {
		workers.Go(func() {
			for i := range each {
				if err := l.Commit(t.Context(), testReceipt(i*16+w)); err != nil {
					t.Error(err)
				}
				l.Done()
			}
		})
	}
	workers.Wait()
	l.Close()
	rec, err := Read(dir)
	if err != nil || len(rec.Receipts) != 16*each {
		t.Errorf("%d receipts of %d: %v", len(rec.Receipts), 16*each, err)
	}
}

// SIGKILL a process that commits, again and again: every split it said was
// committed is there, and no process finds the run locked by a dead one.
func TestKilledProcess(t *testing.T) {
	dir := t.TempDir()
	create(t, dir).Close()
	promised := map[int]bool{}
	for round := range 10 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childDir+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for seen := 0; lines.Scan(); seen++ {
			if i, err := strconv.Atoi(lines.Text()); err == nil {
				promised[i] = true
			}
			if seen == 1+round*7 {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := child.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Fatalf("the process ended by itself: %v", err)
		}
		rec, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		have := rec.Done()
		for i := range promised {
			if !have.ContainsRange(testReceipt(i).Range) {
				t.Errorf("round %d: split %d was committed and is lost", round, i)
			}
		}
	}
	if len(promised) < 10*2 {
		t.Errorf("only %d commits were seen", len(promised))
	}
	resume(t, dir)
}

func TestSecondProcessIsLockedOut(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir)
	want := fmt.Sprintf("process %d ", os.Getpid())
	for name, open := range map[string]func(string, Header) (*Ledger, error){"create": Create, "resume": Resume} {
		if _, err := open(dir, testHeader()); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s in the same process: %v", name, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // or else it would commit for long
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	text, err := child.CombinedOutput()
	if err == nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), ErrLocked.Error()) {
		t.Errorf("the second process said %q (%v)", text, err)
	}
	l.Close()
	resume(t, dir)
}

// The first owner of a lock may not have written its name yet.
func TestLockWithoutAName(t *testing.T) {
	dir := t.TempDir()
	create(t, dir)
	if err := os.Truncate(filepath.Join(dir, lockName), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(dir, testHeader()); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("error is %v", err)
	}
}

func TestCoverageIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c coverage
		splits := rapid.SliceOfDistinct(rapid.IntRange(0, 1000), rapid.ID).Draw(t, "splits")
		for _, i := range splits {
			c.put(testReceipt(i))
		}
		slices.Sort(splits)
		for at, i := range splits {
			if c.sorted[at].Rows != int64(i) {
				t.Fatalf("place %d has split %d, not %d", at, c.sorted[at].Rows, i)
			}
		}
	})
}
