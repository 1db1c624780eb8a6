package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"manifest/export"
	"manifest/internal/accesspath"
	"manifest/internal/ledger"
	"manifest/internal/selection"
	"manifest/scan"
	"manifest/tokenrange"
)

// keyReading is a pass over the partition keys of a table, which tells where
// the wanted rows are.
type keyReading struct {
	input  *input
	wanted *selection.Filter // of the partition keys
	rows   string            // the condition, for the ledger
	dir    string            // of the pass
	memory int64             // of each part

	// path is that of the table, which the keys narrow.
	path accesspath.Path

	// What was read.
	pass    pass
	outcome outcome
}

// run reads the keys.
func (k *keyReading) run(ctx context.Context, id string, opts runOptions, watch *oversight, log *slog.Logger) error {
	keys, err := k.input.keys()
	if err != nil {
		return err
	}
	parts := filepath.Join(k.dir, "parts")
	if err := os.MkdirAll(parts, 0o755); err != nil {
		return err
	}
	gatherer, err := accesspath.NewKeyGatherer(keys.table, k.wanted, accesspath.KeyOptions{Dir: parts, Memory: k.memory, Partitioner: partitionerOf(keys.plan)})
	if err != nil {
		return usageError{err}
	}
	k.pass = pass{
		dir: k.dir, input: keys, columns: gatherer.Columns(), part: ", partition keys",
		consumers: []scan.Consumer{scan.ConsumerFunc(func(ctx context.Context, s tokenrange.Split) (scan.Part, error) {
			return gatherer.Begin(ctx, s)
		})},
		query: append([]ledger.Option{{Name: "keys of", Value: k.rows}}, keys.options...),
	}
	if k.outcome, err = k.pass.run(ctx, id, opts, watch, log); err != nil {
		return err
	}
	ranges, wanted, err := gatherer.Ranges(ctx, k.outcome.splitIDs())
	k.path = k.path.Narrow(ranges, wanted, k.outcome.rows, partitionerOf(keys.plan))
	return err
}

// record describes the reading, whose ledger is published under a name.
func (k *keyReading) record(role, ledgerName string) export.TableRead {
	return export.TableRead{
		Role: role, Table: k.input.table.String(), Path: string(accesspath.FullScan), Why: "partition keys alone",
		Rows: k.outcome.rows, Splits: len(k.outcome.receipts), Ledger: ledgerName,
	}
}
