package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"manifest/export"
	"manifest/internal/ledger"
	"manifest/internal/tokensort"
	"manifest/internal/trainset"
	"manifest/queries"
	"manifest/scan"
	"manifest/tokenrange"
)

// training is a training manifest in the making.
type training struct {
	options exportOptions
	spec    trainset.Spec
	from    origin
	id      string
	shown   string // where it goes, as the user named it
	target  *export.Target
	watch   *oversight
	log     *slog.Logger

	plan    *trainset.Plan
	inputs  map[trainset.Role]*input // tables that may be read
	builder *trainset.Builder
	reads   []trainedRead
	pinned  string // run id of --pin-from
}

// trainedRead is a table that was read, for the record.
type trainedRead struct {
	record  export.TableRead
	outcome outcome
	pass    pass
}

// train makes a training manifest.
func (o exportOptions) makeTraining(ctx context.Context, from origin, where *place, id string, watch *oversight, log *slog.Logger) (exportResult, error) {
	if m, ok := export.Published(o.out, id); ok {
		return trainedResult(o.out, m), os.RemoveAll(export.RunDir(o.out, id))
	}
	spec, err := o.spec()
	if err != nil {
		return exportResult{}, err
	}
	target, err := export.Prepare(o.out, export.TargetOptions{RunID: id, Overwrite: o.overwrite || where.remote()})
	if err != nil {
		return exportResult{}, err
	}
	keep := o.run.resume != ""
	defer func() {
		if !keep {
			if err := target.Discard(); err != nil {
				log.Warn("the working directory is left", "err", err)
			}
		}
	}()
	// What has been freed but not collected counts too. The limit is soft: what is needed is taken.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(o.train.memory)))
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(100)) // with that limit, more would not be saved by collecting it sooner
	}
	t := &training{options: o, spec: spec, from: from, id: id, shown: where.shown, target: target, watch: watch, log: log}
	m, err := t.run(ctx)
	if err != nil {
		if _, told := errors.AsType[*interruptedError](err); !told && len(t.reads) > 0 {
			err = &interruptedError{run: id, err: err} // what was read is of use to another process
		}
		keep = keep || canResume(err)
		return exportResult{}, err
	}
	keep = true // the target has removed what it could
	result := trainedResult(o.out, m)
	if where.remote() {
		if err := where.sendDataset(ctx, id, o.overwrite, result.Complete); err != nil {
			return exportResult{}, err
		}
		result.Out = where.name(result.Complete)
	}
	return result, os.RemoveAll(target.RunDir())
}

func (t *training) run(ctx context.Context) (m export.Manifest, err error) {
	work := filepath.Join(t.target.RunDir(), "work")
	if err := errors.Join(os.RemoveAll(work), os.MkdirAll(work, 0o755)); err != nil {
		return m, err
	}
	if t.plan, err = t.planOf(ctx); err != nil {
		return m, err
	}
	t.builder, err = t.plan.NewBuilder(trainset.Options{Dir: work, Memory: int64(t.options.train.memory)})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, t.builder.Close()) }()
	files, err := t.options.fileOptions()
	if err != nil {
		return m, usageError{err}
	}
	written, err := t.makeFiles(ctx, work, trainset.WriteOptions{Dir: t.target.Dir(), PartsDir: t.target.PartsDir(), Files: files})
	if err != nil {
		return m, err
	}
	return t.publish(ctx, written)
}

// planOf opens the tables that the request may need.
func (t *training) planOf(ctx context.Context) (*trainset.Plan, error) {
	tables := trainset.Tables{}
	t.inputs = map[trainset.Role]*input{}
	for _, role := range t.roles() {
		keyspace, table := t.options.origin.tableName(t.options.settings.Names.tables().Of(queries.Role(role)))
		in, err := t.from.open(ctx, keyspace, table, t.options.run.scan, t.log)
		if err != nil {
			return nil, err
		}
		t.inputs[role], tables[role] = in, in.table
	}
	plan, err := trainset.NewPlan(t.spec, tables)
	if err != nil {
		return nil, usageError{err}
	}
	return plan, nil
}

// roles are those of the tables that may be of use.
func (t *training) roles() []trainset.Role {
	roles := []trainset.Role{trainset.Metadata}
	if !t.spec.AnyStatus || strings.Contains(strings.Join(t.spec.Columns, " "), "review") {
		roles = append(roles, trainset.Reviews)
	}
	named := false
	if t.spec.Tags != nil {
		roles = append(roles, trainset.Tags)
		_, named = t.spec.Tags.Tags()
	}
	if !named {
		roles = append(roles, trainset.Devices)
	}
	return roles
}

// makeFiles reads the tables, the base first, which says who the candidates are, and makes the files of those that are kept.
func (t *training) makeFiles(ctx context.Context, work string, opts trainset.WriteOptions) (_ *trainset.Written, err error) {
	gathered := trainset.Gathered{}
	defer func() {
		for _, runs := range gathered {
			err = errors.Join(err, runs.Close())
		}
	}()
	for i, read := range t.plan.Reads() {
		runs, err := t.gather(ctx, read, work)
		if err != nil {
			return nil, err
		}
		gathered[read.Role] = runs
		if i == 0 {
			if err := t.builder.Select(ctx, runs); err != nil {
				return nil, err
			}
		}
	}
	pins, err := t.pins(ctx, work)
	if err != nil {
		return nil, err
	}
	if pins != nil {
		defer func() { err = errors.Join(err, pins.Groups.Close(), pins.Images.Close()) }()
	}
	return t.builder.Make(ctx, gathered, pins, opts)
}

// gather reads one table.
func (t *training) gather(ctx context.Context, read *trainset.Read, work string) (*tokensort.Sorter, error) {
	path, in, err := t.reach(ctx, read, t.inputs[read.Role])
	if err != nil {
		return nil, err
	}
	t.log.Info("read a table", "table", in.table.String(), "path", path.Kind, "why", path.Why)
	if err := in.want(rowFilter{partitions: read.KeyFilter(), text: read.Rows.String()}); err != nil {
		return nil, err
	}
	opts, err := t.gatherOptions(string(read.Role), in, read.OfCandidates)
	if err != nil {
		return nil, err
	}
	gatherer, err := t.plan.Gather(read, opts)
	if err != nil {
		return nil, err
	}
	p := pass{
		dir: filepath.Dir(opts.Dir), input: in, columns: readColumns(in.table, read.Columns),
		consumers: []scan.Consumer{scan.ConsumerFunc(func(ctx context.Context, s tokenrange.Split) (scan.Part, error) {
			return gatherer.Begin(ctx, s)
		})},
		query: append([]ledger.Option{
			{Name: "rows", Value: read.Rows.String()}, {Name: "candidates", Value: t.builder.CandidateDigest()},
		}, in.options...),
	}
	out, err := p.run(ctx, t.id, t.options.run, t.watch, t.log)
	if err != nil {
		return nil, err
	}
	t.reads = append(t.reads, trainedRead{
		record: export.TableRead{
			Role: string(read.Role), Table: in.table.String(), Path: string(path.Kind), Why: path.Why, Partitions: len(path.Ranges),
			Rows: out.rows, Splits: len(out.receipts), Ledger: "ledger-" + string(read.Role) + ".jsonl",
		},
		outcome: out, pass: p,
	})
	return gatherer.Runs(ctx, tokensort.Options{Dir: work, Memory: int64(t.options.train.memory) / 4}, out.splitIDs())
}

// gatherOptions makes the directory of the parts of a pass.
func (t *training) gatherOptions(name string, in *input, ofCandidates bool) (trainset.GatherOptions, error) {
	dir := filepath.Join(t.target.RunDir(), name, "parts")
	opts := trainset.GatherOptions{Dir: dir, Partitioner: partitionerOf(in.plan), Memory: t.memoryOfParts(in)}
	if ofCandidates {
		opts.Candidates = t.builder.Candidates()
	}
	return opts, os.MkdirAll(dir, 0o755)
}

// memoryOfParts is what each of the parts that are filled at a time may take.
func (t *training) memoryOfParts(in *input) int64 {
	return int64(t.options.train.memory) / 2 / int64(max(1, t.options.run.scan.workersOf(in.workers)))
}
