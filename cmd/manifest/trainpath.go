package main

import (
	"context"
	"path/filepath"

	"manifest/internal/accesspath"
	"manifest/internal/trainset"
)

// reach chooses the access path of a read, and plans it.
func (t *training) reach(ctx context.Context, read *trainset.Read, in *input) (accesspath.Path, *input, error) {
	opts := t.pathOptions(read, in)
	candidates := ""
	if read.OfCandidates {
		candidates = t.builder.Candidates()
	}
	path, err := t.plan.Path(read, opts, candidates)
	if err != nil {
		return path, in, usageError{err}
	}
	if path.Kind == accesspath.DistinctThenRead {
		name := string(read.Role) + "-keys"
		keys := keyReading{
			input: in, wanted: read.KeyFilter(), rows: read.Rows.String(), dir: filepath.Join(t.target.RunDir(), name),
			memory: t.memoryOfParts(in), path: path,
		}
		if err := keys.run(ctx, t.id, t.options.run, t.watch, t.log); err != nil {
			return path, in, err
		}
		t.reads = append(t.reads, trainedRead{keys.record(name, "ledger-"+name+".jsonl"), keys.outcome, keys.pass})
		path = keys.path
	}
	if path.Kind != accesspath.FullScan {
		in, err = in.within(path.Ranges)
	}
	return path, in, err
}

// pathOptions are what the path of a read is chosen by.
func (t *training) pathOptions(read *trainset.Read, in *input) accesspath.Options {
	opts := pathOptionsOf(in)
	if !read.OfCandidates {
		opts.Forced = t.options.path.forced()
	}
	return opts
}
