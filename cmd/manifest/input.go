package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"manifest/export"
	"manifest/internal/cassandra"
	"manifest/internal/ledger"
	"manifest/internal/schema"
	"manifest/internal/throttle"
	"manifest/scan"
	"manifest/scan/cql"
	"manifest/tokenrange"
)

// scanOptions say which part of a table is read, and how hard.
type scanOptions struct {
	splits      int
	splitMiB    int64
	tokenStart  string
	tokenEnd    string
	ranges      []string
	only        []tokenrange.Range // asked for by a list of partitions, not by a flag
	seed        uint64
	workers     int
	maxInFlight int
	adaptive    bool
	secondReads bool
	patience    time.Duration
	nodeRate    byteSize // for the times of a plan
	pageSize    int
	rowRate     float64
	byteRate    byteSize
}

// addPlanFlags adds what a plan depends on.
func (o *scanOptions) addPlanFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.splits, "splits", 0, "number of splits (default: by the table's estimated size)")
	f.Int64Var(&o.splitMiB, "split-mib", 0, "estimated MiB in a split, where --splits is not given (default 32)")
	f.StringVar(&o.tokenStart, "token-start", "", "read only tokens after this one")
	f.StringVar(&o.tokenEnd, "token-end", "", "read only tokens up to and including this one")
	f.StringSliceVar(&o.ranges, "token-range", nil, "read only this token range, as start:end (repeatable; needed for partitioners other than Murmur3 and Random)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the order in which splits are read")
}

// addFlags adds what a plan and its reading depend on.
func (o *scanOptions) addFlags(cmd *cobra.Command) {
	o.addPlanFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&o.workers, "workers", 0, "splits read at a time (default: 8, of snapshots as many as there are cores)")
	f.IntVar(&o.maxInFlight, "max-in-flight-per-node", 0, "pages asked of one node at a time, at most (default: --workers)")
	f.BoolVar(&o.adaptive, "adaptive", true, "ask less of a node whose pages begin to take longer than in its quiet time")
	f.Float64Var(&o.rowRate, "rows-per-second", 0, "most rows read per second (default: no limit)")
	f.Var(&o.byteRate, "bytes-per-second", "most bytes of values read per second, such as 10MiB (default: no limit)")
	f.BoolVar(&o.secondReads, "second-reads", true, "read a split that is late near the end from another replica too")
	f.DurationVar(&o.patience, "patience", 5*time.Minute, "how long to wait for nodes without which a range can't be read")
	f.IntVar(&o.pageSize, "page-size", 5000, "most rows in a page; pages of wide rows hold fewer")
}

// ofTokens tells whether only a part of the tokens is asked for.
func (o *scanOptions) ofTokens() bool {
	return o.tokenStart != "" || o.tokenEnd != "" || len(o.ranges) > 0
}

// validate checks what needs no cluster.
func (o *scanOptions) validate() error {
	err := errors.Join(
		scan.Options{Columns: []string{"any"}, Workers: o.workers, MaxInFlightPerNode: o.maxInFlight, Patience: o.patience}.Validate(),
		cql.Options{PageSize: o.pageSize}.Validate(),
		tokenrange.PlanOptions{Splits: o.splits, TargetBytes: o.splitMiB << 20}.Validate(),
		o.throttleOptions(liveWorkers, nil).Validate(),
	)
	if err != nil {
		return usageError{err}
	}
	return nil
}

// throttleOptions say how much may be asked of the source; workers is how many
// splits are read at a time where nobody says.
func (o *scanOptions) throttleOptions(workers int, log *slog.Logger) throttle.Options {
	return throttle.Options{
		RowsPerSecond: o.rowRate, BytesPerSecond: float64(o.byteRate),
		MaxInFlightPerNode: cmp.Or(o.maxInFlight, o.workers, workers), Fixed: !o.adaptive, Logger: log,
	}
}

// planOptions reads the tokens.
func (o *scanOptions) planOptions(partitioner tokenrange.Partitioner, localDC string) (tokenrange.PlanOptions, error) {
	opts := tokenrange.PlanOptions{Splits: o.splits, TargetBytes: o.splitMiB << 20, LocalDatacenter: localDC, Seed: o.seed}
	var errs []error
	token := func(flag, value string) *tokenrange.Token {
		if value == "" {
			return nil
		}
		t, err := partitioner.Parse(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
		return &t
	}
	opts.Start, opts.End = token("token-start", o.tokenStart), token("token-end", o.tokenEnd)
	if len(o.only) > 0 {
		opts.Ranges, opts.Splits = o.only, 0
	}
	for _, s := range o.ranges {
		r, err := tokenrange.ParseRange(s)
		if err != nil {
			errs = append(errs, fmt.Errorf("--token-range: %w", err))
			continue
		}
		opts.Ranges = append(opts.Ranges, r)
	}
	if err := errors.Join(append(errs, opts.Validate())...); err != nil {
		return opts, usageError{err}
	}
	return opts, nil
}

// workersOf is how many splits are read at a time.
func (o *scanOptions) workersOf(byDefault int) int {
	if o.workers > 0 {
		return o.workers
	}
	return byDefault
}

// liveWorkers is how many splits are read from a live cluster at a time where
// nobody says.
const liveWorkers = 8

// clusterTable is a table of a cluster, and what its reading is planned by.
type clusterTable struct {
	cluster     *cassandra.Cluster
	table       *schema.Table
	replication map[string]string
	topology    cassandra.Topology
	estimates   []tokenrange.Estimate
}

// open is part of origin.
func (o *clusterOrigin) open(ctx context.Context, keyspace, name string, opts scanOptions, log *slog.Logger) (*input, error) {
	t := clusterTable{cluster: o.cluster}
	queries, queried := errgroup.WithContext(ctx)
	queries.Go(func() (err error) { t.replication, err = o.cluster.Replication(queried, keyspace); return err })
	queries.Go(func() (err error) { t.table, err = o.cluster.Table(queried, keyspace, name); return err })
	queries.Go(func() (err error) { t.topology, err = o.cluster.Topology(queried); return err })
	if err := queries.Wait(); err != nil {
		return nil, err
	}
	if p, err := tokenrange.PartitionerByName(t.topology.Partitioner); err == nil && p.Hashes() {
		var problems error
		t.estimates, _, problems = o.cluster.Estimates(ctx, p, t.topology.Nodes, keyspace, name)
		if problems != nil {
			log.Info("some size estimates are missing; the plan does without", "table", t.table.String(), "err", problems)
		}
	}
	return t.input(opts, false, log)
}

// input plans the reading, of rows or of partition keys alone.
func (t clusterTable) input(opts scanOptions, distinct bool, log *slog.Logger) (*input, error) {
	cluster, table, topology := t.cluster, t.table, t.topology
	plan, err := t.plan(opts)
	if err != nil {
		return nil, err
	}
	limiter, err := throttle.New(opts.throttleOptions(liveWorkers, log))
	if err != nil {
		return nil, usageError{err}
	}
	source, err := cql.New(cluster, table, cql.Options{
		PageSize: opts.pageSize, Partitioner: partitionerOf(plan), Limiter: limiter, Logger: log, Distinct: distinct,
	})
	if err != nil {
		return nil, usageError{err}
	}
	keys := func() (*input, error) {
		some := opts
		some.splits = splitsOfKeys(opts, plan)
		return t.input(some, true, log)
	}
	within := func(ranges []tokenrange.Range) (*input, error) {
		some := opts
		some.only = ranges
		return t.input(some, distinct, log)
	}
	return &input{
		table: table, plan: plan, source: source, within: within, keys: keys, throttle: limiter, workers: liveWorkers,
		record: export.Source{
			Kind: "cql", Cluster: topology.ClusterName, Keyspace: table.Keyspace, Table: table.Name,
			Consistency: cluster.Consistency(), TableHash: table.Hash(),
		},
		options: []ledger.Option{{Name: "consistency", Value: cluster.Consistency()}},
		watch: func(columns []string) (scan.Watcher, error) {
			return cql.NewWatch(source, columns, topology, t.replication)
		},
		describe: clusterDescription(table, plan, topology, cluster.Consistency(), int64(opts.nodeRate)),
	}, nil
}

// splitsOfKeys is how many splits a reading of partition keys alone is planned
// with, which are a few bytes each: 0 leaves it to the size of the rows.
func splitsOfKeys(opts scanOptions, plan tokenrange.Plan) int {
	const keysOfSplit = 1000
	partitions := partitionsOf(plan)
	if opts.splits > 0 || partitions == 0 {
		return opts.splits
	}
	return int(min(int64(len(plan.Splits)), max(int64(len(plan.Load())), partitions/keysOfSplit+1)))
}

func (t clusterTable) plan(opts scanOptions) (tokenrange.Plan, error) {
	table, topology := t.table, t.topology
	partitioner, err := tokenrange.PartitionerByName(topology.Partitioner)
	if errors.Is(err, tokenrange.ErrUnsupportedPartitioner) && len(opts.ranges) > 0 {
		partitioner, err = tokenrange.ExplicitPartitioner(topology.Partitioner), nil
	}
	if err != nil {
		return tokenrange.Plan{}, fmt.Errorf("plan %s: %w", table, err)
	}
	strategy, err := tokenrange.ParseStrategy(t.replication)
	if err != nil {
		return tokenrange.Plan{}, fmt.Errorf("plan %s: replication of keyspace %q: %w", table, table.Keyspace, err)
	}
	ring, err := tokenrange.NewRing(partitioner, topology.Nodes)
	if err != nil {
		return tokenrange.Plan{}, fmt.Errorf("plan %s: %w", table, err)
	}
	planOptions, err := opts.planOptions(partitioner, t.cluster.LocalDC())
	if err != nil {
		return tokenrange.Plan{}, err
	}
	plan, err := tokenrange.NewPlan(ring, strategy, t.estimates, planOptions)
	if err != nil {
		return tokenrange.Plan{}, fmt.Errorf("plan %s: %w", table, err)
	}
	keepLocal(plan, topology.Nodes, t.cluster.LocalDC())
	return plan, nil
}

// keepLocal leaves the splits only the replicas of the local datacentre. A
// keyspace that is not replicated there is read through any local node:
// another datacentre must not begin to coordinate because this one has trouble.
func keepLocal(plan tokenrange.Plan, nodes []tokenrange.Node, localDC string) {
	local := map[string]bool{}
	for _, n := range nodes {
		local[n.ID] = n.Datacenter == localDC
	}
	for i := range plan.Splits {
		s := &plan.Splits[i]
		s.Replicas = slices.DeleteFunc(slices.Clone(s.Replicas), func(id string) bool { return !local[id] })
	}
}
