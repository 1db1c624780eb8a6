package scan

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options of a run. The zero value gives the defaults.
type Options struct {
	// Columns to read, by name. At least one.
	Columns []string

	// Workers is how many splits are read at a time. 0 means 8: a live cluster
	// answers a few requests at a time without harm, and the reading side has
	// room to decode while it waits.
	Workers int

	// MaxInFlightPerNode is how many splits are read from one node at a time.
	// 0 means Workers: the plan's shuffled order spreads them well enough.
	MaxInFlightPerNode int

	// MaxAttempts is how often a split may fail before it is given up, where
	// its class is not one to halve or to wait for. 0 means 5.
	MaxAttempts int

	// Patience is how long a split is waited for that can't be read because
	// nodes are down or refuse work. 0 means 5 minutes: a node restarts in less.
	Patience time.Duration

	// MaxFailedSplits is how many splits may be given up before the run stops.
	// 0 means 16: by then the fault is not in the ranges.
	MaxFailedSplits int

	// NoSecondReads turns off the second reads. By default, when nothing is
	// queued any more, a split whose read takes longer than three times the
	// median of the committed ones, and than SecondReadAfter, is read a second
	// time from another replica. The first read to end is committed.
	NoSecondReads bool
	// SecondReadAfter is the least time. 0 means 10 s.
	SecondReadAfter time.Duration

	// Backoff is the growing pause after the first failure of a split, doubling up to
	// MaxBackoff. 0 means 200 ms and 10 s.
	Backoff, MaxBackoff time.Duration

	// Watcher is asked every WatchInterval, and at the end, whether the ring or
	// the table has changed. nil looks for nothing. WatchInterval 0 means 10 s.
	Watcher       Watcher
	WatchInterval time.Duration

	// Dir is the directory from which receipts name the files of parts; empty
	// names them by their paths.
	Dir string

	// Ledger records the committed splits. nil keeps them in the result alone.
	Ledger Ledger

	// Events are told what happens.
	Events Events

	// Logger gets retries and failures. nil discards them.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Workers == 0 {
		o.Workers = 8
	}
	if o.MaxInFlightPerNode == 0 {
		o.MaxInFlightPerNode = o.Workers
	}
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 5
	}
	if o.MaxFailedSplits == 0 {
		o.MaxFailedSplits = 16
	}
	if o.SecondReadAfter == 0 {
		o.SecondReadAfter = 10 * time.Second
	}
	if o.WatchInterval == 0 {
		o.WatchInterval = 10 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Minute
	}
	if o.Backoff == 0 {
		o.Backoff = 200 * time.Millisecond
	}
	if o.MaxBackoff == 0 {
		o.MaxBackoff = 10 * time.Second
	}
	if o.Ledger == nil {
		o.Ledger = noLedger{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Events = o.Events.withDefaults()
	return o
}

// pace is when a split straggles.
func (o Options) pace() pace {
	const multiple = 3
	return pace{off: o.NoSecondReads, least: o.SecondReadAfter, multiple: multiple}
}

// Validate reports every setting that makes no sense.
func (o Options) Validate() error {
	var errs []error
	if len(o.Columns) == 0 {
		errs = append(errs, errors.New("no columns to read"))
	}
	for _, n := range []struct {
		name  string
		value int
	}{
		{"workers", o.Workers}, {"in-flight splits per node", o.MaxInFlightPerNode},
		{"attempts", o.MaxAttempts}, {"failed splits", o.MaxFailedSplits},
	} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("%s: %d is negative", n.name, n.value))
		}
	}
	if o.Backoff < 0 || o.MaxBackoff < 0 {
		errs = append(errs, fmt.Errorf("back-off: %v up to %v is negative", o.Backoff, o.MaxBackoff))
	}
	if o.Patience < 0 {
		errs = append(errs, fmt.Errorf("patience: %v is negative", o.Patience))
	}
	if o.WatchInterval < 0 {
		errs = append(errs, fmt.Errorf("watch interval: %v is negative", o.WatchInterval))
	}
	if o.SecondReadAfter < 0 {
		errs = append(errs, fmt.Errorf("second read after: %v is negative", o.SecondReadAfter))
	}
	return errors.Join(errs...)
}
