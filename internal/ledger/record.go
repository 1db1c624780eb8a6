package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"manifest/scan"
	"manifest/tokenrange"
)

// FileName is the ledger's name in its run directory.
const FileName = "ledger.jsonl"

// Record is what a ledger says.
type Record struct {
	Header Header
	// Receipts are the committed splits in token order; no two overlap.
	Receipts []scan.Receipt
	// Resumptions say when the run was taken up again, in order.
	Resumptions []Resumption
	// Withdrawn counts the receipts that were taken back.
	Withdrawn int
	// Result is the JSON that [Ledger.Finish] was given; nil if the run has not
	// finished, or has gone on since.
	Result json.RawMessage
	// Torn counts the bytes at the end that were never committed: a run is
	// writing them at this moment, or stopped while it did.
	Torn int64
}

// Done gives the tokens that the receipts cover.
func (r Record) Done() tokenrange.IntervalSet { return covers(r.Receipts) }

// Prove tells whether the receipts cover what the run was asked to read, each
// token once. Where they do not, the error is a [*scan.IncompleteError] with
// the ranges that are missing.
func (r Record) Prove() error {
	asked := tokenrange.NewIntervalSet(r.Header.Asked...)
	pieces := make([]tokenrange.Range, len(r.Receipts))
	for i, receipt := range r.Receipts {
		pieces[i] = receipt.Range
	}
	tiling := tokenrange.CheckTiling(asked, pieces)
	if tiling == nil {
		return nil
	}
	if missing := asked.Minus(r.Done()).Ranges(); len(missing) > 0 {
		return &scan.IncompleteError{Missing: missing}
	}
	return tiling
}

// Read reads the ledger of the run in dir. It takes no lock and changes
// nothing, so it also serves while the run goes on. It errs with
// fs.ErrNotExist, [ErrCorrupt] and [ErrFormat].
func Read(dir string) (Record, error) { return ReadFile(filepath.Join(dir, FileName)) }

// ReadFile reads a ledger by the path of its file, which may be a copy that was
// published with the result.
func ReadFile(path string) (Record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Record{}, fmt.Errorf("read ledger: %w", err)
	}
	c, err := parse(data)
	if err != nil {
		return Record{}, fmt.Errorf("read ledger %s: %w", path, err)
	}
	c.record.Receipts = c.covered.receipts()
	return c.record, nil
}

// contents is a ledger that has been read. The record's receipts are in covered.
type contents struct {
	record  Record
	covered coverage
	// lines is the number of lines, size what they take in bytes.
	lines uint64
	size  int64
}

// parse reads a whole ledger.
func parse(data []byte) (contents, error) {
	var c contents
	for rest := data; len(rest) > 0; {
		text, after, ended := bytes.Cut(rest, []byte("\n"))
		if !ended || !intact(text) {
			if claimsDurable(after, c.lines+1) {
				return c, c.corrupt("damaged, though it was committed")
			}
			c.record.Torn = int64(len(rest))
			break
		}
		if err := c.add(text); err != nil {
			return c, err
		}
		c.size += int64(len(text)) + 1
		rest = after
	}
	if c.lines == 0 {
		return c, c.corrupt("no header")
	}
	return c, nil
}

// claimsDurable tells whether a line in data says that line number seq was
// durable when it was written.
func claimsDurable(data []byte, seq uint64) bool {
	for text := range bytes.SplitSeq(data, []byte("\n")) {
		var l line
		if intact(text) && json.Unmarshal(text, &l) == nil && l.Durable >= seq {
			return true
		}
	}
	return false
}

// add takes in the next line, whose checksum is right.
func (c *contents) add(text []byte) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return c.corrupt(err.Error())
	}
	if l.Seq != c.lines+1 || l.Durable > c.lines {
		return c.corrupt(fmt.Sprintf("numbered %d with %d durable", l.Seq, l.Durable))
	}
	if (l.Header != nil) != (c.lines == 0) {
		return c.corrupt("a header belongs into the first line, and nowhere else")
	}
	c.record.Result = nil
	switch {
	case l.Header != nil:
		if l.Header.Format != Format {
			return fmt.Errorf("%w %d, not %d", ErrFormat, l.Header.Format, Format)
		}
		if err := l.Header.Validate(); err != nil {
			return c.corrupt("header: " + err.Error())
		}
		c.record.Header = *l.Header
	case l.Receipt != nil:
		if err := c.covered.check(*l.Receipt); err != nil {
			return c.corrupt(err.Error())
		}
		c.covered.put(*l.Receipt)
	case l.Withdrawn != nil:
		if !c.covered.remove(l.Withdrawn.Split, l.Withdrawn.Range) {
			return c.corrupt(fmt.Sprintf("withdraws split %q, which is not committed", l.Withdrawn.Split))
		}
		c.record.Withdrawn++
	case l.Resumed != nil:
		c.record.Resumptions = append(c.record.Resumptions, *l.Resumed)
	case l.Result != nil:
		c.record.Result = l.Result
	}
	c.lines++
	return nil
}

// corrupt says what is wrong with the line behind those that were taken in.
func (c *contents) corrupt(why string) error {
	return fmt.Errorf("%w: line %d at byte %d: %s", ErrCorrupt, c.lines+1, c.size, why)
}
