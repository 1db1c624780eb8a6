package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"manifest/scan"
	"manifest/tokenrange"
)

// Ledger is the ledger of a run that this process has. Its methods may be
// called from many goroutines at a time.
type Ledger struct {
	header Header
	torn   int64
	lock   io.Closer

	// turn holds a token while somebody writes: the fields below it are theirs.
	turn   chan struct{}
	file   logFile
	size   int64  // bytes of the file that are durable
	lines  uint64 // lines that are durable
	failed error  // why nothing more is written

	mu        sync.Mutex
	gathering *batch   // what the next write will write
	covered   coverage // changed by whoever has the turn, under mu
}

var _ scan.Ledger = (*Ledger)(nil)

// logFile is a file that is only appended to.
type logFile interface {
	Write(p []byte) (n int, err error)
	// Sync makes all that was written durable.
	Sync() error
	Truncate(size int64) error
	Close() error
}

// batch is the lines that go to disk with one write and one fsync.
type batch struct {
	entries []*entry
	done    chan struct{} // closed when the batch is durable or has failed
}

// entry is a line on its way, and what became of it.
type entry struct {
	kind      string
	payload   []byte
	receipt   *scan.Receipt // of a receipt
	withdrawn *Withdrawal   // of a withdrawal
	err       error
}

// Create begins the ledger of a new run in dir, which it makes where needed.
// When it returns, the header and the directory entry are durable. It sets the
// header's Format, and Created if that is zero.
//
// It errs with fs.ErrExist if dir has a ledger, and with [ErrLocked].
func Create(dir string, h Header) (_ *Ledger, err error) {
	h.Format = Format
	if h.Created.IsZero() {
		h.Created = time.Now().UTC()
	}
	if err := h.Validate(); err != nil {
		return nil, fmt.Errorf("ledger header: %w", err)
	}
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("make run directory: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	defer closeOnError(lock, &err)

	path := filepath.Join(dir, FileName)
	switch _, err := os.Lstat(path); {
	case err == nil:
		return nil, fmt.Errorf("create ledger %s: %w", path, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	// Under another name at first: a ledger without its header never shows.
	unfinished := path + ".tmp"
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	file, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	defer closeOnError(file, &err)
	l, err := begin(file, h)
	if err != nil {
		return nil, errors.Join(err, os.Remove(unfinished))
	}
	if err := os.Rename(unfinished, path); err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	if err := syncDir(dir); err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	l.lock = lock
	return l, nil
}

func closeOnError(c io.Closer, err *error) {
	if *err != nil {
		c.Close()
	}
}

// begin writes the header of a new ledger.
func begin(file logFile, h Header) (*Ledger, error) {
	l := &Ledger{header: h, file: file, turn: make(chan struct{}, 1), gathering: newBatch()}
	return l, l.record(kindHeader, h)
}

// Resume takes up the run in dir again. want says what the caller is about to
// read: where that is not what the ledger says, Resume changes nothing and errs
// with a [*MismatchError] that names every difference. Of want's first four
// fields only Tool is used.
//
// A torn end is cut off, and the resumption is recorded. It errs with
// fs.ErrNotExist if dir has no ledger, with [ErrLocked], [ErrCorrupt] and
// [ErrFormat].
func Resume(dir string, want Header) (_ *Ledger, err error) {
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("resume run: %w", err) // and leave no lock behind
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	defer closeOnError(lock, &err)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("resume run: %w", err)
	}
	defer closeOnError(file, &err)
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("resume run: %w", err)
	}
	l, err := goOn(file, data, want)
	if err != nil {
		return nil, fmt.Errorf("resume run %s: %w", dir, err)
	}
	l.lock = lock
	return l, nil
}

// goOn takes up the ledger in file, which holds data.
func goOn(file logFile, data []byte, want Header) (*Ledger, error) {
	c, err := parse(data)
	if err != nil {
		return nil, err
	}
	if diffs := c.record.Header.differences(want); diffs != nil {
		return nil, &MismatchError{diffs}
	}
	if c.record.Torn > 0 {
		if err := file.Truncate(c.size); err != nil {
			return nil, fmt.Errorf("cut off torn end: %w", err)
		}
	}
	// A process that was killed may have left lines that only the page cache
	// holds. From here on they count as durable.
	if err := file.Sync(); err != nil {
		return nil, err
	}
	l := &Ledger{
		header: c.record.Header, torn: c.record.Torn, file: file, size: c.size, lines: c.lines,
		turn: make(chan struct{}, 1), gathering: newBatch(), covered: c.covered,
	}
	return l, l.record(kindResumed, Resumption{At: time.Now().UTC(), Tool: want.Tool, Torn: l.torn})
}

// Header says what the run reads.
func (l *Ledger) Header() Header {
	h := l.header
	h.Asked, h.Options = slices.Clone(h.Asked), slices.Clone(h.Options)
	return h
}

// Torn counts the bytes that [Resume] cut off.
func (l *Ledger) Torn() int64 { return l.torn }

// Receipts gives the committed splits in token order, those found by [Resume]
// and those committed since.
func (l *Ledger) Receipts() []scan.Receipt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.covered.receipts()
}

// Done gives the tokens that the receipts cover.
func (l *Ledger) Done() tokenrange.IntervalSet { return covers(l.Receipts()) }

// Commit records a split whose parts are all committed. When it returns nil,
// the receipt is durable. A receipt for the range of an earlier one replaces
// it; one that overlaps others is refused with [ErrOverlap]. After a failed
// write the ledger takes no more.
//
// The end of ctx does not stop it: the work has been done, and recording it
// takes no longer than an fsync.
func (l *Ledger) Commit(_ context.Context, r scan.Receipt) error {
	payload, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode receipt of split %q: %w", r.Split, err)
	}
	return l.submit(&entry{kind: kindReceipt, payload: payload, receipt: &r})
}

// Withdraw takes back the receipt of a committed split, whose range is to be
// read again. It errs with [ErrUnknownSplit] if there is none.
func (l *Ledger) Withdraw(w Withdrawal) error {
	if w.At.IsZero() {
		w.At = time.Now().UTC()
	}
	payload, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("encode withdrawal: %w", err)
	}
	return l.submit(&entry{kind: kindWithdrawn, payload: payload, withdrawn: &w})
}

// Finish records how the run ended. result is written as JSON. A finished run
// can still be resumed, if what it records is that something is missing.
func (l *Ledger) Finish(result any) error { return l.record(kindResult, result) }

// record writes a line of the kind.
func (l *Ledger) record(kind string, value any) error {
	payload, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", kind, err)
	}
	return l.submit(&entry{kind: kind, payload: payload})
}

// Close waits for a write that is under way and gives up the run, which another
// process may then resume. Closing again does nothing.
func (l *Ledger) Close() error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if errors.Is(l.failed, ErrClosed) {
		return nil
	}
	l.failed = ErrClosed
	err := l.file.Close()
	if l.lock != nil {
		err = errors.Join(err, l.lock.Close())
	}
	return err
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// submit adds e to the batch that gathers, and returns when that batch has been
// written, by this caller or by another one.
func (l *Ledger) submit(e *entry) error {
	l.mu.Lock()
	b := l.gathering
	b.entries = append(b.entries, e)
	l.mu.Unlock()

	select {
	case <-b.done:
	case l.turn <- struct{}{}:
		// Whoever had the turn before may have written b and given up the turn
		// in the same instant.
		l.mu.Lock()
		open := l.gathering == b
		if open {
			l.gathering = newBatch()
		}
		l.mu.Unlock()
		if open {
			l.write(b)
			close(b.done)
		}
		<-l.turn
	}
	return e.err
}

// write makes the batch durable and says in its entries what became of them.
// The caller has the turn.
func (l *Ledger) write(b *batch) {
	var text []byte
	var fresh coverage
	gone := map[string]bool{} // splits that this batch withdraws
	lines := l.lines
	accepted := b.entries[:0:0]
	for _, e := range b.entries {
		if e.receipt != nil {
			if e.err = l.covered.check(*e.receipt); e.err == nil {
				e.err = fresh.check(*e.receipt)
			}
			if e.err != nil {
				continue
			}
			fresh.put(*e.receipt)
		}
		if w := e.withdrawn; w != nil {
			if gone[w.Split] || !l.covered.has(w.Split, w.Range) {
				e.err = fmt.Errorf("withdraw split %q: %w", w.Split, ErrUnknownSplit)
				continue
			}
			gone[w.Split] = true
		}
		lines++
		text = appendLine(text, lines, l.lines, e.kind, e.payload)
		accepted = append(accepted, e)
	}
	if len(accepted) == 0 {
		return
	}
	if err := l.append(text); err != nil {
		for _, e := range accepted {
			e.err = err
		}
		return
	}
	l.lines = lines
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range accepted {
		switch {
		case e.receipt != nil:
			l.covered.put(*e.receipt)
		case e.withdrawn != nil:
			l.covered.remove(e.withdrawn.Split, e.withdrawn.Range)
		}
	}
}

// append makes text durable at the end of the file. An error is final: after a
// failed fsync nobody knows what the disk holds, and a later one may report
// success without having written it.
func (l *Ledger) append(text []byte) error {
	if l.failed != nil {
		return l.failed
	}
	_, err := l.file.Write(text)
	if err == nil {
		err = l.file.Sync()
	}
	if err == nil {
		l.size += int64(len(text))
		return nil
	}
	l.failed = fmt.Errorf("write ledger: %w", err)
	// What is left of the lines was promised to nobody; a reader would find out
	// by itself if they can't be taken back.
	if err := l.file.Truncate(l.size); err != nil {
		l.failed = fmt.Errorf("%w (and take it back: %w)", l.failed, err)
	}
	return l.failed
}
