package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"manifest/export"
	"manifest/internal/ledger"
	"manifest/internal/sstable"
	"manifest/internal/sstable/fault"
	sstables "manifest/internal/sstable/snapshot"
	"manifest/internal/throttle"
	"manifest/scan/snapshot"
	"manifest/tokenrange"
)

// snapshotOrigin is the tables of snapshots.
type snapshotOrigin struct {
	options snapshotOptions
	catalog *sstables.Catalog
	schema  string
	now     time.Time

	opened  []*sstable.Table
	without []string // paths of Data.db that are left out
	faults  []string // why
}

func openSnapshots(ctx context.Context, o snapshotOptions, log *slog.Logger) (*snapshotOrigin, error) {
	s := &snapshotOrigin{options: o}
	var err error
	if s.now, err = o.moment(); err != nil {
		return nil, err
	}
	if s.now.IsZero() {
		s.now = time.Now().UTC().Truncate(time.Second)
	}
	if s.schema, err = o.schemaText(); err != nil {
		return nil, err
	}
	if s.catalog, err = o.find(ctx); err != nil {
		return nil, err
	}
	log.Info("snapshots found", "tables", len(s.catalog.Tables), "now", s.now)
	return s, nil
}

// Close closes the files.
func (o *snapshotOrigin) Close() error {
	var errs []error
	for _, t := range o.opened {
		errs = append(errs, t.Close())
	}
	o.opened = nil
	return errors.Join(errs...)
}

// openTable opens the SSTables of a table.
func (o *snapshotOrigin) openTable(ctx context.Context, keyspace, name string, log *slog.Logger) (*sstables.Opened, sstables.Table, error) {
	found, err := o.catalog.Table(ctx, keyspace, name)
	if err != nil {
		return nil, found, err
	}
	opts := sstables.OpenOptions{Schema: o.schema, Without: o.without}
	if o.options.onCorrupt == "skip" {
		opts.Skip = func(err error) bool {
			o.skip(err, log)
			return true
		}
	}
	table, err := o.catalog.Open(ctx, found, opts)
	if err != nil {
		return nil, found, err
	}
	o.opened = append(o.opened, table.Table)
	return table, found, nil
}

// skip notes a fault of something that is left out.
func (o *snapshotOrigin) skip(err error, log *slog.Logger) {
	if slices.Contains(o.faults, err.Error()) {
		return
	}
	o.faults = append(o.faults, err.Error())
	log.Error("an SSTable is damaged and left out: what is in it will be missing", "err", err)
}

// snapshotTable is an open table of snapshots, and how it is to be read.
type snapshotTable struct {
	origin      *snapshotOrigin
	found       sstables.Table
	table       *sstables.Opened
	how         readReplicas
	fingerprint string
}

// open is part of origin.
func (o *snapshotOrigin) open(ctx context.Context, keyspace, name string, opts scanOptions, log *slog.Logger) (*input, error) {
	t := snapshotTable{origin: o}
	var err error
	if t.table, t.found, err = o.openTable(ctx, keyspace, name, log); err != nil {
		return nil, err
	}
	if t.how, err = o.restrict(ctx, t.found, t.table, log); err != nil {
		return nil, err
	}
	if t.fingerprint, err = t.table.Fingerprint(ctx); err != nil {
		return nil, err
	}
	return t.input(opts, log)
}

// input plans the reading.
func (s snapshotTable) input(opts scanOptions, log *slog.Logger) (*input, error) {
	o, table, found, how := s.origin, s.table, s.found, s.how
	workers := runtime.GOMAXPROCS(0)
	if o.options.remote() {
		workers = max(workers, remoteWorkers)
	}
	limits := opts.throttleOptions(workers, log)
	limits.Fixed = true // files don't get slower from being read
	limiter, err := throttle.New(limits)
	if err != nil {
		return nil, usageError{err}
	}
	sourceOptions := o.options.reading(snapshot.Options{Now: o.now, Limiter: limiter}, opts.workersOf(workers), len(table.Readers()))
	source, err := snapshot.New(table.Table, sourceOptions)
	if err != nil {
		return nil, usageError{err}
	}
	planOptions, err := opts.planOptions(table.Partitioner(), "")
	if err != nil {
		return nil, err
	}
	plan, err := source.Plan(planOptions)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", found, err)
	}
	t := table.Schema().Table
	in := &input{
		table: t, plan: plan, source: source, throttle: limiter, workers: workers,
		record: export.Source{
			Kind: "snapshot", Keyspace: t.Keyspace, Table: t.Name, TableHash: t.Hash(), Replicas: how.mode, ReplicasWhy: how.why,
		},
		options: []ledger.Option{
			{Name: "sstables", Value: s.fingerprint},
			{Name: nowOption, Value: o.now.Format(time.RFC3339)},
		},
		describe: snapshotDescription(table, found, plan, o.now, how),
	}
	for _, f := range found.Folders {
		in.record.Paths = append(in.record.Paths, f.Name())
	}
	in.within = func(ranges []tokenrange.Range) (*input, error) {
		some := opts
		some.only = ranges
		return s.input(some, log)
	}
	in.narrow = func(f rowFilter) error {
		if f.partitions == nil {
			return nil
		}
		narrowed := sourceOptions
		narrowed.Partitions = f.partitions
		source, err := snapshot.New(table.Table, narrowed)
		if err != nil {
			return usageError{err}
		}
		in.source = source
		return nil
	}
	return in, nil
}

// leaveOut is part of origin.
func (o *snapshotOrigin) leaveOut(err error, log *slog.Logger) bool {
	if o.options.onCorrupt != "skip" {
		return false
	}
	path, ok := o.damaged(err)
	if !ok || slices.Contains(o.without, path) {
		return false
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		o.skip(f, log)
	}
	if err := o.Close(); err != nil {
		log.Warn("files of SSTables were not closed", "err", err)
	}
	o.without = append(o.without, path)
	return true
}

// leftOut is part of origin.
func (o *snapshotOrigin) leftOut() []string { return o.faults }

// incompleteError is a run that left damaged files out and came to its end.
type incompleteError struct{ faults []string }

func (e *incompleteError) Error() string {
	return fmt.Sprintf("incomplete: %s left out because of damage:\n  %s", count(int64(len(e.faults)), "SSTable"), strings.Join(e.faults, "\n  "))
}

// incomplete is the error of a run that left something out; nil if it has not.
func incomplete(from origin) error {
	if faults := from.leftOut(); len(faults) > 0 {
		return &incompleteError{faults}
	}
	return nil
}

// printPlace says where a result is, and whether it is whole.
func printPlace(w io.Writer, complete bool, dir string) error {
	word := "complete"
	if !complete {
		word = "INCOMPLETE"
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", word, dir)
	return err
}

// closeOrigin closes what is read from, at the end of a command.
func closeOrigin(from origin, log *slog.Logger) {
	if err := from.Close(); err != nil {
		log.Warn("the source was not closed", "err", err)
	}
}
