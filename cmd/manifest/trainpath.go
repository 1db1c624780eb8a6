package main

import (
	"context"
	"path/filepath"

	"manifest/export"
	"manifest/internal/ledger"
	"manifest/internal/tokensort"
	"manifest/internal/trainset"
	"manifest/scan"
	"manifest/tokenrange"
)

// reach chooses the access path of a read, and plans it.
func (t *training) reach(ctx context.Context, read *trainset.Read, in *input) (trainset.Path, *input, error) {
	opts := t.pathOptions(read, in)
	candidates := ""
	if read.OfCandidates {
		candidates = t.builder.Candidates()
	}
	path, err := t.plan.Path(read, opts, candidates)
	if err != nil {
		return path, in, usageError{err}
	}
	if path.Kind == trainset.DistinctThenRead {
		ranges, all, err := t.distinct(ctx, read, in)
		if err != nil {
			return path, in, err
		}
		path = path.Narrow(ranges, all, opts.Partitioner)
	}
	if path.Kind != trainset.FullScan {
		in, err = t.open(ctx, read.Role, path.Ranges)
	}
	return path, in, err
}

// pathOptions are what the path of a read is chosen by.
func (t *training) pathOptions(read *trainset.Read, in *input) trainset.PathOptions {
	opts := trainset.PathOptions{Partitioner: partitionerOf(in.plan), Partitions: partitionsOf(in.plan), Distinct: in.keys != nil}
	if forced := t.options.train.accessPath; forced != "auto" && !read.OfCandidates {
		opts.Forced = trainset.PathKind(forced)
	}
	return opts
}

// distinct reads the partition keys of a table, and gives the ranges of those that are wanted, and how many there are.
func (t *training) distinct(ctx context.Context, read *trainset.Read, in *input) ([]tokenrange.Range, int64, error) {
	keys := *in
	var err error
	if keys.source, err = in.keys(); err != nil {
		return nil, 0, err
	}
	opts, err := t.gatherOptions(string(read.Role)+"-keys", in, false)
	if err != nil {
		return nil, 0, err
	}
	gatherer, err := t.plan.GatherKeys(read, opts)
	if err != nil {
		return nil, 0, usageError{err}
	}
	p := pass{
		dir: filepath.Dir(opts.Dir), input: &keys, columns: gatherer.Columns(),
		consumers: []scan.Consumer{scan.ConsumerFunc(func(ctx context.Context, s tokenrange.Split) (scan.Part, error) {
			return gatherer.Begin(ctx, s)
		})},
		query: append([]ledger.Option{{Name: "keys of", Value: read.Rows.String()}}, in.options...),
	}
	out, err := p.run(ctx, t.id, t.options.run, t.watch, t.log)
	if err != nil {
		return nil, 0, err
	}
	t.reads = append(t.reads, trainedRead{
		record: export.TableRead{
			Role: string(read.Role) + "-keys", Table: in.table.String(), Path: string(trainset.FullScan), Why: "partition keys alone",
			Rows: out.rows, Splits: len(out.receipts), Ledger: "ledger-" + string(read.Role) + "-keys.jsonl",
		},
		outcome: out, pass: p,
	})
	ranges, err := gatherer.Ranges(ctx, tokensort.Options{Dir: opts.Dir}, out.splitIDs())
	return ranges, out.rows, err
}

// partitionsOf is the estimate of a plan; 0 if there is none.
func partitionsOf(plan tokenrange.Plan) (n int64) {
	for _, s := range plan.Splits {
		n += s.Partitions
	}
	return n
}
