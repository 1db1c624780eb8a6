package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/accesspath"
	"manifest/internal/schema"
	"manifest/internal/selection"
	"manifest/tokenrange"
)

// pathOptions say how rows are to be reached.
type pathOptions struct{ asked string }

const pathAuto = "auto"

func (o *pathOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.asked, "access-path", pathAuto, "how the rows that conditions select are reached: auto, partition-list, distinct-then-read or full-scan")
}

func (o pathOptions) validate() error {
	switch o.asked {
	case pathAuto, string(accesspath.FullScan), string(accesspath.PartitionList), string(accesspath.DistinctThenRead):
		return nil
	}
	return usagef("--access-path %q is not auto, partition-list, distinct-then-read or full-scan", o.asked)
}

// forced is the path that is asked for; empty leaves the choice.
func (o pathOptions) forced() accesspath.Kind {
	if o.asked == pathAuto {
		return ""
	}
	return accesspath.Kind(o.asked)
}

// arguments are the flags given, for the record.
func (o pathOptions) arguments() []string {
	if o.forced() == "" {
		return nil
	}
	return []string{"--access-path", o.asked}
}

// pathOptionsOf are what a table says of the paths to it.
func pathOptionsOf(in *input) accesspath.Options {
	return accesspath.Options{Partitioner: partitionerOf(in.plan), Partitions: partitionsOf(in.plan), Distinct: in.keys != nil}
}

// partitionsOf is the estimate of a plan; 0 if there is none.
func partitionsOf(plan tokenrange.Plan) (n int64) {
	for _, s := range plan.Splits {
		n += s.Partitions
	}
	return n
}

// tableReading is the reading of a table of which conditions select rows.
type tableReading struct {
	rows   rowOptions
	filter rowFilter
	path   pathOptions
	scan   scanOptions
	log    *slog.Logger

	// chosen is what choose gave when the reading was prepared, so that a path
	// that is impossible is refused before anything is read.
	chosen accesspath.Path
}

// choose gives the access path. That of DistinctThenRead is for the reading of
// the keys to narrow.
func (r tableReading) choose(in *input) (accesspath.Path, error) {
	opts := pathOptionsOf(in)
	opts.Forced = r.path.forced()
	if r.scan.ofTokens() {
		if opts.Forced != "" && opts.Forced != accesspath.FullScan {
			return accesspath.Path{}, usagef("--access-path %s chooses among all tokens, and only some are asked for", opts.Forced)
		}
		return accesspath.Path{Kind: accesspath.FullScan, Why: "a part of the tokens is asked for"}, nil
	}
	list, why, err := r.rows.partitions(in.table, opts.Partitioner)
	if err != nil {
		return accesspath.Path{}, usageError{err}
	}
	if r.filter.partitions == nil {
		list, why = nil, "no condition is about the partition key alone"
	} else if opts.Forced == "" && in.keys == nil {
		return accesspath.Path{Kind: accesspath.FullScan, Why: "partitions that are not wanted are passed over without reading their rows"}, nil
	}
	path, err := accesspath.Choose(in.table, list, why, r.filter.partitions, opts)
	if errors.Is(err, accesspath.ErrImpossible) {
		err = usageError{err}
	}
	return path, err
}

// within plans the reading of some partitions of a table.
func (r tableReading) within(in *input, partitions []tokenrange.Range) (*input, error) {
	narrowed, err := in.within(partitions)
	if err != nil {
		return nil, err
	}
	return narrowed, narrowed.want(r.filter)
}

// reached is how a table was reached, for the record.
type reached struct {
	path accesspath.Path
	keys *keyReading // nil where keys were not read
}

// reach goes the chosen access path up to where the pass reads the rows. Keys
// are read and kept in a directory below that of the pass.
func (p *pass) reach(ctx context.Context, r tableReading, id string, opts runOptions, watch *oversight) (how reached, err error) {
	how.path = r.chosen
	if r.chosen.Kind == accesspath.DistinctThenRead {
		how.keys = &keyReading{input: p.input, wanted: r.filter.partitions, rows: r.filter.String(), dir: filepath.Join(p.dir, "keys"), memory: memoryOfKeys, path: r.chosen}
		if err := how.keys.run(ctx, id, opts, watch, r.log); err != nil {
			return how, err
		}
		how.path = how.keys.path
	}
	if r.filter.String() != "" {
		r.log.Info("read a table", "table", p.input.table.String(), "path", how.path.Kind, "why", how.path.Why)
	}
	if how.path.Kind != accesspath.FullScan {
		p.input, err = r.within(p.input, how.path.Ranges)
	}
	return how, err
}

// memoryOfKeys is what the keys of a split may take: some 100,000 tokens.
const memoryOfKeys = 8 << 20

// records describe what was read; the ledgers are published under these names.
func (h reached) records(in *input, read outcome, keysLedger, rowsLedger string) []export.TableRead {
	var all []export.TableRead
	if h.keys != nil {
		all = append(all, h.keys.record("keys", keysLedger))
	}
	return append(all, export.TableRead{
		Role: "rows", Table: in.table.String(), Path: string(h.path.Kind), Why: h.path.Why, Partitions: len(h.path.Ranges),
		Rows: read.rows, Splits: len(read.receipts), Ledger: rowsLedger,
	})
}

// partitions lists those of a table that can hold rows of the days, and of the
// tags or the devices, whichever its partition key has; nil if the flags leave
// them open. The reason for either comes with it.
func (o rowOptions) partitions(t *schema.Table, partitioner tokenrange.Partitioner) ([]tokenrange.Range, string, error) {
	from, to, err := o.days()
	if err != nil {
		return nil, "", err
	}
	what, column, names := "devices", "device_id", o.devices
	if c, ok := t.Column("tag"); ok && c.Kind == schema.PartitionKey {
		what, column = "tags", "tag"
		if names, err = o.tags.list(); err != nil {
			return nil, "", err
		}
	}
	var patterns []selection.Pattern
	for _, name := range names {
		patterns = append(patterns, selection.ParsePattern(name))
	}
	days := accesspath.Days{From: from, To: to}
	ranges, why := accesspath.ListDays(t, what, column, patterns, cmp.Or(o.dayColumn, "day_bucket"), days, partitioner)
	return ranges, why, nil
}
