package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/ledger"
	"manifest/internal/metrics"
	"manifest/internal/schema"
	"manifest/queries"
	"manifest/scan"
	"manifest/tokenrange"
)

type statsOptions struct {
	settings settings
	origin   originOptions
	run      runOptions
	rows     rowOptions
	path     pathOptions
	log      logOptions
	place    placeOptions
	out      string
	queries  []string
	table    string
	by       string
	agg      string
	name     string
	topPairs int
	memory   byteSize
}

func newStatsCommand() *cobra.Command {
	o := statsOptions{memory: 256 << 20}
	var list strings.Builder
	for _, s := range queries.Statistics() {
		fmt.Fprintf(&list, "  %-12s %s\n", s.Name, s.Doc)
	}
	cmd := &cobra.Command{
		Use:   "stats --out DIR",
		Short: "Compute statistics of whole tables, in one pass per table",
		Long: `Compute the named statistics, all of them or those given with --query, or any
grouping of a table's rows with --by and --agg. Each table is read once, however
many statistics are made of it, and where conditions are about its partition key,
only the partitions that they select. Results are Parquet files by UTC day,
DIR/NAME/dt=YYYY-MM-DD/part-RUN.parquet, with DIR/views.duckdb.sql to read them.

` + list.String() + exitStatus,
		Example: `  manifest stats --hosts 10.0.0.1 --out stats
  manifest stats --out stats --query device-day,tags
  manifest stats --out s3://bucket/stats --query device-day
  manifest stats --snapshot /backup/node1 --snapshot /backup/node2 --out stats
  manifest stats --out stats --table image_metadata \
    --by "attributes['region'], day(capture_time)" --agg "count, sum(width), quantiles(height)"`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.settings.apply(cmd); err != nil {
				return err
			}
			return runStats(cmd, o)
		},
	}
	o.settings.addFlags(cmd)
	o.origin.addFlags(cmd)
	o.run.addFlags(cmd)
	o.rows.addFlags(cmd)
	o.path.addFlags(cmd)
	o.log.addFlags(cmd)
	o.place.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "directory of the results, or s3://BUCKET/PREFIX (required)")
	f.StringSliceVar(&o.queries, "query", nil, "named statistics (default: all)")
	f.StringVar(&o.table, "table", "", "table to group, as KS.T or T, with --by and --agg")
	f.StringVar(&o.by, "by", "", "expressions to group by: columns, map['key'], day(c), hour(c), month(c), year(c)")
	f.StringVar(&o.agg, "agg", "count", "aggregates: count, count(c), sum, avg, min, max, distinct, quantiles")
	f.StringVar(&o.name, "name", "groups", "name of the grouping, and of its directory")
	f.IntVar(&o.topPairs, "top-pairs", 0, "pairs of a day that tag-pairs lists (default 1000)")
	f.Var(&o.memory, "memory", "memory of the groups of all queries, beyond which they spill to disk")
	return cmd
}

func (o statsOptions) validate() error {
	var errs []error
	if o.out == "" {
		errs = append(errs, errors.New("where to? Give --out DIR"))
	}
	if o.table != "" && len(o.queries) > 0 {
		errs = append(errs, errors.New("--query names statistics of fixed tables; --table groups another: give one of them"))
	}
	if o.table == "" && o.by != "" {
		errs = append(errs, errors.New("--by groups the rows of a table: give --table KS.T"))
	}
	if o.topPairs < 0 {
		errs = append(errs, fmt.Errorf("--top-pairs %d is negative", o.topPairs))
	}
	for _, name := range o.queries {
		if _, err := queries.Lookup(name); err != nil {
			errs = append(errs, unknownStatistic(name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return usageError{err}
	}
	return errors.Join(o.run.validate(), o.path.validate(), o.origin.validate(o.settings))
}

func unknownStatistic(name string) error {
	var known []string
	for _, s := range queries.Statistics() {
		known = append(known, s.Name)
	}
	if near := schema.Nearest(name, known); near != "" {
		return fmt.Errorf("unknown statistic %q; is %q meant?", name, near)
	}
	return fmt.Errorf("unknown statistic %q; known are %s", name, strings.Join(known, ", "))
}

func runStats(cmd *cobra.Command, o statsOptions) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	log, err := o.log.logger()
	if err != nil {
		return err
	}
	o.place.takeStore(o.origin)
	where, err := o.place.open(o.out, log)
	if err != nil {
		return err
	}
	defer where.close()
	o.out = where.local
	id, err := o.run.runID(func(id string) string { return statsRunDir(o.out, id) })
	if err != nil {
		return err
	}
	defer func() { where.leaveMirror(err) }()
	if result, made, err := o.sendMade(cmd.Context(), where, id); err != nil {
		return err
	} else if made {
		return result.print(cmd.OutOrStdout(), o.run.asJSON)
	}
	if err := where.mirrorStats(cmd.Context()); err != nil {
		return err
	}
	place, err := openStatsPlace(o.out, id)
	if err != nil {
		return err
	}
	watch, err := o.run.oversight.begin(cmd.Context(), metrics.Info{Run: id, Command: "stats", Output: where.shown, Version: buildVersion(), Started: time.Now()}, log)
	if err != nil {
		return errors.Join(err, place.discard())
	}
	defer func() { watch.finish(err) }()
	if err := o.origin.snapshot.resume(filepath.Join(place.work, tableDir(0))); err != nil {
		return err
	}
	from, err := o.origin.open(cmd.Context(), log)
	if err != nil {
		return errors.Join(err, o.cleanUp(place, err))
	}
	defer closeOrigin(from, log)
	result, err := o.compute(cmd.Context(), from, where, id, place, watch, log)
	for err != nil && from.leaveOut(err, log) {
		if err := place.discard(); err != nil {
			return err
		}
		if place, err = openStatsPlace(o.out, id); err != nil {
			return err
		}
		result, err = o.compute(cmd.Context(), from, where, id, place, watch, log)
	}
	if err != nil && result.Out == "" {
		return errors.Join(err, o.cleanUp(place, err))
	}
	if err == nil {
		if err := place.discard(); err != nil {
			log.Warn("the working directory is left", "err", err)
		}
	}
	return errors.Join(err, result.print(cmd.OutOrStdout(), o.run.asJSON), incomplete(from))
}

// cleanUp removes what a failed run has left: what was read is of use to
// --resume, what was only begun is not.
func (o statsOptions) cleanUp(place *statsPlace, failure error) error {
	if _, unsent := errors.AsType[*uploadError](failure); unsent || o.run.resume != "" || canResume(failure) {
		return nil
	}
	return place.discard()
}

// compute reads the tables and publishes their statistics. With an error comes
// the result only if it was published as incomplete.
func (o statsOptions) compute(ctx context.Context, from origin, where *place, id string, place *statsPlace, watch *oversight, log *slog.Logger) (statsResult, error) {
	passes, err := o.prepare(ctx, from, place.work, log)
	if err != nil {
		return statsResult{}, err
	}
	var missing error
	for _, p := range passes {
		if p.reached, err = p.pass.reach(ctx, p.reading, id, o.run, watch); err != nil {
			return statsResult{}, errors.Join(missing, err)
		}
		if p.outcome, err = p.pass.run(ctx, id, o.run, watch, log); err != nil {
			if !o.run.keeps(err) {
				return statsResult{}, errors.Join(missing, err)
			}
			missing = errors.Join(missing, err)
		}
	}
	if missing == nil && len(from.leftOut()) == 0 {
		result, err := o.publish(ctx, place, passes, nil)
		if err != nil {
			return statsResult{}, &interruptedError{run: id, err: err}
		}
		if where.remote() {
			if err := where.sendStats(ctx, id, true); err != nil {
				return statsResult{}, err
			}
			result.Out = where.shown
			return result, nil
		}
		return result, export.RemoveIncompleteStats(export.IncompleteDir(place.dir), id+incompleteRun)
	}
	apart, err := openIncompleteStatsPlace(place, id)
	if err != nil {
		return statsResult{}, errors.Join(missing, err)
	}
	result, err := o.publish(ctx, apart, passes, from.leftOut())
	if err != nil {
		return statsResult{}, errors.Join(missing, &interruptedError{run: id, err: err})
	}
	if where.remote() {
		result.Out = where.name(false)
		if err := where.sendStats(ctx, id, false); err != nil {
			return statsResult{}, errors.Join(missing, err)
		}
	}
	return result, missing
}

// tableDir is the working directory of a table, by its place in the order of
// reading.
func tableDir(i int) string { return fmt.Sprintf("table-%d", i+1) }

// statsPass is one reading of a table for some statistics.
type statsPass struct {
	pass         pass
	reading      tableReading
	reached      reached
	aggregations []*queries.Aggregation
	queries      []*queries.Query
	outcome      outcome
}

// wanted is a table with what is to be made of it.
type wanted struct {
	keyspace, table string
	compile         []func(queries.Table) (*queries.Query, error)
}

// wants lists the tables in the order in which they are read.
func (o statsOptions) wants() []wanted {
	if o.table != "" {
		keyspace, table := o.origin.tableName(o.table)
		return []wanted{{keyspace, table, []func(queries.Table) (*queries.Query, error){
			func(t queries.Table) (*queries.Query, error) {
				return queries.Compile(t, queries.Spec{By: o.by, Agg: o.agg})
			},
		}}}
	}
	var all []wanted
	named := queries.NamedOptions{Mapping: o.settings.Names.mapping(), TopPairs: o.topPairs}
	for _, s := range queries.Statistics() {
		if len(o.queries) > 0 && !slices.Contains(o.queries, s.Name) {
			continue
		}
		keyspace, table := o.origin.tableName(o.settings.Names.tables().Of(s.Role))
		i := slices.IndexFunc(all, func(w wanted) bool { return w.keyspace == keyspace && w.table == table })
		if i < 0 {
			i = len(all)
			all = append(all, wanted{keyspace: keyspace, table: table})
		}
		all[i].compile = append(all[i].compile, func(t queries.Table) (*queries.Query, error) { return s.Compile(t, named) })
	}
	return all
}

// prepare plans every table and compiles every statistic, so that whatever is
// wrong is said before a row is read.
func (o statsOptions) prepare(ctx context.Context, from origin, work string, log *slog.Logger) ([]*statsPass, error) {
	wants := o.wants()
	count := 0
	for _, w := range wants {
		count += len(w.compile)
	}
	var passes []*statsPass
	for i, w := range wants {
		in, err := from.open(ctx, w.keyspace, w.table, o.run.scan, log)
		if err != nil {
			return nil, err
		}
		p, err := o.prepareTable(from, in, w, filepath.Join(work, tableDir(i)), int64(o.memory)/int64(count), log)
		if err != nil {
			return nil, err
		}
		passes = append(passes, p)
	}
	return passes, nil
}

func (o statsOptions) prepareTable(from origin, in *input, w wanted, dir string, memory int64, log *slog.Logger) (*statsPass, error) {
	filter, err := o.rows.filter(in.table)
	if err != nil {
		return nil, err
	}
	if err := in.want(filter); err != nil {
		return nil, err
	}
	p := &statsPass{pass: pass{dir: dir, input: in}}
	p.reading = tableReading{rows: o.rows, filter: filter, path: o.path, scan: o.run.scan, log: log}
	if p.reading.chosen, err = p.reading.choose(in); err != nil {
		return nil, err
	}
	columns := filter.columns()
	for i, compile := range w.compile {
		q, err := compile(queriesTable(in.table))
		if err != nil {
			return nil, usageError{&groupingError{err, in.table.Names()}}
		}
		aggregation, err := queries.New(q, queries.Options{
			Dir: filepath.Join(p.pass.dir, fmt.Sprintf("%02d-%s", i, q.Name())), Memory: memory, Logger: log,
		})
		if err != nil {
			return nil, err
		}
		p.aggregations = append(p.aggregations, aggregation)
		p.queries = append(p.queries, q)
		p.pass.consumers = append(p.pass.consumers, filter.consumer(func(ctx context.Context, s tokenrange.Split) (scan.Part, error) {
			return aggregation.Begin(ctx, s)
		}))
		p.pass.query = append(p.pass.query, ledger.Option{Name: fmt.Sprintf("query %d", i+1), Value: q.String()})
		columns = append(columns, q.Columns()...)
	}
	p.pass.columns = readColumns(in.table, columns)
	p.pass.query = append(append(p.pass.query, in.options...), ledger.Option{Name: "rows", Value: filter.String()})
	return p, nil
}

// groupingError is a statistic that a table does not allow.
type groupingError struct {
	err   error
	known []string // columns of the table
}

func (e *groupingError) Error() string { return e.err.Error() }
func (e *groupingError) Unwrap() error { return e.err }

// queriesTable describes a table to package queries.
func queriesTable(t *schema.Table) queries.Table {
	q := queries.Table{Keyspace: t.Keyspace, Name: t.Name}
	for _, c := range t.Columns {
		q.Columns = append(q.Columns, queries.Column{Name: c.Name, Type: c.Type, Kind: queries.Kind(c.Kind)})
	}
	return q
}
