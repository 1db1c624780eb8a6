package queries

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
)

// Options say where an Aggregation keeps its files and how much memory it takes.
type Options struct {
	// Dir takes the part files, one per split, which have to outlive the process: SPLIT.part. It is created. Files of other names, which
	// a process that was killed may leave, are of no use. Required.
	Dir string

	// Memory is how many bytes the groups of all open parts of the Aggregation may take together, and those of Finish, before they
	// spill to TempDir. An open part needs about 1 MiB beyond that, whatever the number of groups. 0 means 64 MiB: enough for some
	// 500,000 groups, and little beside the pages that a scan holds.
	Memory int64

	// TempDir takes files that are of no use after the process. "" means Dir, which has the room for the parts and so for these.
	TempDir string

	// Logger gets a debug record when groups spill. nil discards.
	Logger *slog.Logger
}

const defaultMemory = 64 << 20

func (o Options) withDefaults() Options {
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.TempDir == "" {
		o.TempDir = o.Dir
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate returns all that is wrong with the options.
func (o Options) Validate() error {
	var errs []error
	if o.Dir == "" {
		errs = append(errs, errors.New("no directory for the parts"))
	}
	if o.Memory < 0 {
		errs = append(errs, fmt.Errorf("memory of %d bytes", o.Memory))
	}
	if o.TempDir != "" {
		if info, err := os.Stat(o.TempDir); err != nil {
			errs = append(errs, fmt.Errorf("temporary directory: %w", err))
		} else if !info.IsDir() {
			errs = append(errs, fmt.Errorf("temporary directory %s is a file", o.TempDir))
		}
	}
	return errors.Join(errs...)
}
