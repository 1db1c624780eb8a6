package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/cassandra"
	"manifest/internal/ledger"
	"manifest/internal/schema"
	"manifest/internal/throttle"
	"manifest/scan"
	"manifest/tokenrange"
)

// origin is where tables are read from: the nodes of a cluster, or snapshots.
type origin interface {
	// open finds a table and plans its reading.
	open(ctx context.Context, keyspace, table string, opts scanOptions, log *slog.Logger) (*input, error)
	// leaveOut tells whether the failed run is to be made again without the file
	// that err is about.
	leaveOut(err error, log *slog.Logger) bool
	// leftOut are the faults of what was left out.
	leftOut() []string
	Close() error
}

// originOptions say where tables are read from.
type originOptions struct {
	connection connectionOptions
	snapshot   snapshotOptions
}

func (o *originOptions) addFlags(cmd *cobra.Command) {
	o.connection.addFlags(cmd)
	o.snapshot.addFlags(cmd)
}

// validate checks what needs no files and no cluster. Snapshots asked for on the
// command line win over hosts of the configuration, and the other way round.
func (o *originOptions) validate(s settings) error {
	switch {
	case s.given["hosts"] && s.given["snapshot"]:
		return usagef("--hosts reads from a cluster, --snapshot from files: give one of them")
	case s.given["hosts"]:
		o.snapshot.dirs = nil
	}
	return o.snapshot.validate()
}

// fromSnapshots tells whether tables are read from files.
func (o *originOptions) fromSnapshots() bool { return len(o.snapshot.dirs) > 0 }

// open connects to the cluster, or looks for the tables of the snapshots.
func (o *originOptions) open(ctx context.Context, log *slog.Logger) (origin, error) {
	if o.fromSnapshots() {
		return openSnapshots(ctx, o.snapshot, log)
	}
	cluster, err := o.connection.connect(ctx, log)
	if err != nil {
		return nil, err
	}
	return &clusterOrigin{cluster}, nil
}

// tableName splits KS.T; a name without a dot is of --keyspace.
func (o *originOptions) tableName(name string) (keyspace, table string) {
	if keyspace, table, ok := strings.Cut(name, "."); ok {
		return keyspace, table
	}
	return o.connection.keyspace, name
}

// input is a table that is ready to be read.
type input struct {
	table  *schema.Table
	plan   tokenrange.Plan
	source tableSource
	// within is the same table, not looked up again, with a plan of some ranges.
	within func([]tokenrange.Range) (*input, error)
	// keys is the same table for a reading of its partition keys alone; nil where
	// rows of other partitions are passed over as cheaply.
	keys func() (*input, error)
	// throttle is asked by the source before it reads.
	throttle *throttle.Throttle
	// workers is how many splits are read at a time where nobody says.
	workers int
	// record is how results name the source.
	record export.Source
	// options are what of the source decides the result, as the ledger records it.
	options []ledger.Option
	// narrow tells the source which rows are wanted, so that it may leave others
	// out; nil if it has no use for that.
	narrow func(rowFilter) error
	// watch looks for changes of the ring and of the table while columns are
	// read; nil where there can be none.
	watch func(columns []string) (scan.Watcher, error)
	// describe shows a person where the table is read from, and how much there is.
	describe planDescription
}

// tableSource is a source of one table.
type tableSource interface {
	scan.Source
	// Schema is that of the records of a read of these columns.
	Schema(columns []string) (*arrow.Schema, error)
}

// partitionerOf is the partitioner of the table that a plan is for.
func partitionerOf(plan tokenrange.Plan) tokenrange.Partitioner {
	if p, err := tokenrange.PartitionerByName(plan.Partitioner); err == nil {
		return p
	}
	return tokenrange.ExplicitPartitioner(plan.Partitioner)
}

// ring is the whole token space of the table's partitioner.
func (in *input) ring() tokenrange.Range { return partitionerOf(in.plan).Ring() }

// want tells the source which rows are wanted.
func (in *input) want(f rowFilter) error {
	if in.narrow == nil {
		return nil
	}
	return in.narrow(f)
}

// read reads the table once for all consumers, whose files are below dir.
func (in *input) read(ctx context.Context, dir string, columns []string, consumers []scan.Consumer, opts scanOptions, ledger scan.Ledger, events scan.Events, log *slog.Logger) (scan.Result, error) {
	var watcher scan.Watcher
	if in.watch != nil {
		var err error
		if watcher, err = in.watch(columns); err != nil {
			return scan.Result{}, err
		}
	}
	return scan.Run(ctx, in.plan, in.source, consumers, scan.Options{
		Columns:            columns,
		Workers:            opts.workersOf(in.workers),
		MaxInFlightPerNode: opts.maxInFlight,
		NoSecondReads:      !opts.secondReads,
		Patience:           opts.patience,
		Watcher:            watcher,
		Dir:                dir,
		Ledger:             ledger,
		Events:             events,
		Logger:             log,
	})
}

// clusterOrigin is a live cluster.
type clusterOrigin struct{ cluster *cassandra.Cluster }

// Close ends the session.
func (o *clusterOrigin) Close() error {
	o.cluster.Close()
	return nil
}

func (*clusterOrigin) leaveOut(error, *slog.Logger) bool { return false }
func (*clusterOrigin) leftOut() []string                 { return nil }
