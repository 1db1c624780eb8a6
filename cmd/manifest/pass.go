package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"manifest/internal/ledger"
	"manifest/internal/schema"
	"manifest/scan"
)

// runOptions say how a run shows itself and whether it goes on with another.
type runOptions struct {
	scan      scanOptions
	oversight oversightOptions
	resume    string
	// keepIncomplete publishes what could be read under a name that says so.
	keepIncomplete bool
	progress       string
	asJSON         bool
}

func (o *runOptions) addFlags(cmd *cobra.Command) {
	o.scan.addFlags(cmd)
	o.oversight.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.resume, "resume", "", "go on with the interrupted run of this id; auto: with the last one of this output, if there is any")
	f.BoolVar(&o.keepIncomplete, "keep-incomplete", false, "where ranges can't be read, keep the rest as DIR.INCOMPLETE; the exit code stays 3")
	f.StringVar(&o.progress, "progress", "auto", "progress on standard error: auto, plain or none")
	f.BoolVar(&o.asJSON, "json", false, "print the result as JSON")
}

func (o *runOptions) validate() error {
	if o.progress != "auto" && o.progress != "plain" && o.progress != "none" {
		return usagef("--progress %q is not auto, plain or none", o.progress)
	}
	if o.resume != "" && (o.resume != filepath.Base(o.resume) || strings.HasPrefix(o.resume, ".")) {
		return usagef("--resume %q is not the id of a run", o.resume)
	}
	if err := o.oversight.validate(); err != nil {
		return err
	}
	return o.scan.validate()
}

// resumeAuto is the value of --resume that goes on with the last run of the
// same output that did not end, if there is one, and begins one otherwise.
const resumeAuto = "auto"

// runID is the id of the run: that of --resume, or a new one that sorts by
// time. dir gives the working directory of a run.
func (o *runOptions) runID(dir func(id string) string) (id string, err error) {
	if o.resume == resumeAuto {
		if o.resume, err = lastRun(dir("")); err != nil {
			return "", err
		}
	}
	if o.resume != "" {
		return o.resume, nil
	}
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return time.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(random[:]), nil
}

// lastRun gives the newest id of the runs whose working directories begin with
// prefix; "" if there is none. Ids sort by time.
func lastRun(prefix string) (id string, err error) {
	entries, err := os.ReadDir(filepath.Dir(prefix))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("find unfinished runs: %w", err)
	}
	for _, e := range entries {
		if of, ok := strings.CutPrefix(e.Name(), filepath.Base(prefix)); ok {
			id = max(id, of)
		}
	}
	return id, nil
}

// pass is one reading of one table, for all that is made of it.
type pass struct {
	// dir keeps the ledger, and below it the parts.
	dir       string
	input     *input
	columns   []string
	consumers []scan.Consumer
	// part says to a person what of the table is read; empty for its rows.
	part string
	// query is what else decides the result, as the ledger records it.
	query []ledger.Option
}

// outcome is what a pass has read.
type outcome struct {
	// incomplete tells that ranges are missing.
	incomplete bool
	// Receipts of all splits in token order, those of an earlier process too.
	receipts []scan.Receipt
	rows     int64
	bytes    int64
	// largest are the largest partitions, where the source follows them.
	largest scan.Largest
	// started and ended frame all reads.
	started, ended time.Time
}

// splitIDs are the ids of the splits in token order.
func (o outcome) splitIDs() []string {
	ids := make([]string, len(o.receipts))
	for i, r := range o.receipts {
		ids[i] = r.Split
	}
	return ids
}

// interruptedError is a run that can be taken up again.
type interruptedError struct {
	run string
	err error
}

func (e *interruptedError) Error() string { return e.err.Error() }
func (e *interruptedError) Unwrap() error { return e.err }

// run reads what the ledger of an earlier process with the same id has not,
// and proves that nothing is missing. With an [*interruptedError] comes what was
// read all the same.
func (p *pass) run(ctx context.Context, id string, opts runOptions, watch *oversight, log *slog.Logger) (outcome, error) {
	record, err := p.openLedger(id, opts.resume != "")
	if err != nil {
		return outcome{}, err
	}
	defer record.Close()
	if err := os.Remove(filepath.Join(p.dir, incompleteFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outcome{}, err
	}

	faults, err := scan.CheckFiles(p.dir, record.Receipts())
	if err != nil {
		return outcome{}, err
	}
	if err := dropDamaged(record, faults, log); err != nil {
		return outcome{}, err
	}
	earlier := record.Receipts()
	plan := p.input.plan
	shown := newProgress(p.input.table.String()+p.part, plan, p.input.ring())
	for _, r := range earlier {
		shown.events().RecordRead(scan.RecordInfo{Rows: r.Rows})
		shown.events().SplitCommitted(r)
	}
	stop := shown.show(os.Stderr, opts.progress)
	reading, end, counted := watch.reading(ctx, p.input.table.String(), plan, p.input.ring(), shown.share(), p.input.throttle)
	events := scan.Tee(shown.events(), counted)
	err = p.readRemaining(reading, record, opts, events, log)
	if err == nil {
		var again bool
		if again, err = verifyEarlier(ctx, p.dir, record, earlier, log); again && err == nil {
			err = p.readRemaining(reading, record, opts, events, log)
		}
	}
	end()
	stop()
	if err != nil {
		read := summarise(record.Receipts())
		read.incomplete = true
		return read, &interruptedError{run: id, err: errors.Join(err, p.markIncomplete(record, err))}
	}

	receipts := record.Receipts()
	if err := (ledger.Record{Header: record.Header(), Receipts: receipts}).Prove(); err != nil {
		return outcome{}, fmt.Errorf("coverage of %s: %w", p.input.table, err)
	}
	read := summarise(receipts)
	if err := record.Finish(passResult{Complete: true, Largest: read.largest}); err != nil {
		return outcome{}, err
	}
	return read, nil
}

// readRemaining reads what the ledger does not have.
func (p *pass) readRemaining(ctx context.Context, record *ledger.Ledger, opts runOptions, events scan.Events, log *slog.Logger) error {
	remaining := *p.input
	remaining.plan = p.input.plan.Remaining(record.Done())
	_, err := remaining.read(ctx, p.dir, p.columns, p.consumers, opts.scan, record, events, log)
	return err
}

// ledger gives the content of the pass's ledger, to be published with the
// result as the proof of its coverage.
func (p *pass) ledger() ([]byte, error) { return os.ReadFile(filepath.Join(p.dir, ledger.FileName)) }

func summarise(receipts []scan.Receipt) outcome {
	o := outcome{receipts: receipts, largest: scan.LargestPartitions(receipts)}
	for _, r := range receipts {
		o.rows += r.Rows
		o.bytes += r.Bytes
		if o.started.IsZero() || r.Started.Before(o.started) {
			o.started = r.Started
		}
		if r.Ended.After(o.ended) {
			o.ended = r.Ended
		}
	}
	return o
}

// openLedger begins the pass's ledger, or takes it up again.
func (p *pass) openLedger(id string, resume bool) (*ledger.Ledger, error) {
	selected, err := p.input.table.Select(p.columns)
	if err != nil {
		return nil, err
	}
	header := ledger.Header{
		Run: id, Tool: buildVersion(), Created: time.Now().UTC(),
		Table: p.input.table.String(), Schema: p.input.table.Reading(selected),
		Partitioner: p.input.plan.Partitioner, Asked: p.input.plan.Asked, Options: p.query,
	}
	if resume {
		l, err := ledger.Resume(p.dir, header)
		if mismatch, ok := errors.AsType[*ledger.MismatchError](err); ok {
			return nil, usageError{mismatch}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return l, err
		}
	}
	return ledger.Create(p.dir, header)
}

// readColumns gives the columns to read, each once: those of the table in its
// order, then write times and times to live. A query that looks at no column
// still needs rows, and the partition key is what every row has.
func readColumns(t *schema.Table, wanted []string) []string {
	var columns []string
	for _, c := range t.Columns {
		if slices.Contains(wanted, c.Name) {
			columns = append(columns, c.Name)
		}
	}
	for _, name := range wanted {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	if len(columns) == 0 {
		columns = []string{t.Columns[0].Name}
	}
	return columns
}

// keeps tells whether what was read is to be published in spite of err, under
// the name of what is incomplete.
func (o *runOptions) keeps(err error) bool {
	_, interrupted := errors.AsType[*interruptedError](err)
	return o.keepIncomplete && interrupted && exitCode(err) == exitIncomplete
}

// canResume tells whether the parts read so far are of use to a later run.
func canResume(err error) bool {
	_, interrupted := errors.AsType[*interruptedError](err)
	code := exitCode(err)
	return interrupted && (code == exitInterrupted || code == exitIncomplete || diskFull(err))
}

// diskFull tells a fault that goes away when somebody makes room.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
