package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"manifest/export"
	"manifest/internal/accesspath"
	"manifest/internal/ledger"
	"manifest/internal/schema"
	"manifest/scan"
	"manifest/tokenrange"
)

// keysLedger is the ledger of the partition keys that were read to find the rows.
const keysLedger = "ledger-keys.jsonl"

// exporting is an export that is ready to read.
type exporting struct {
	options exportOptions
	pass    pass
	dataset *export.Dataset
	filter  rowFilter
	reading tableReading
	reached reached
}

func (o exportOptions) prepare(ctx context.Context, from origin, target *export.Target, log *slog.Logger) (*exporting, error) {
	keyspace, table := o.origin.tableName(o.table)
	in, err := from.open(ctx, keyspace, table, o.run.scan, log)
	if err != nil {
		return nil, err
	}
	filter, err := o.rows.filter(in.table)
	if err != nil {
		return nil, err
	}
	if err := in.want(filter); err != nil {
		return nil, err
	}
	columns := o.columns
	if len(columns) == 0 {
		columns = in.table.Names()
	}
	opts, err := o.fileOptions()
	if err != nil {
		return nil, usageError{err}
	}
	wanted := append(filter.columns(), columns...)
	for _, d := range opts.Derived {
		wanted = append(wanted, d.Sources()...)
	}
	read := readColumns(in.table, wanted)
	arrowSchema, err := in.source.Schema(read)
	if err != nil {
		return nil, err
	}
	opts.WorkDir, opts.Columns, opts.Filter = target.PartsDir(), columns, filter.forExport()
	for _, c := range in.table.OfKind(schema.PartitionKey) {
		if arrowSchema.HasField(c.Name) {
			opts.PartitionKey = append(opts.PartitionKey, c.Name)
		}
	}
	dataset, err := export.New(arrowSchema, opts)
	if err != nil {
		return nil, usageError{err}
	}
	if err := o.beside.check(dataset.Schema()); err != nil {
		return nil, err
	}
	e := &exporting{options: o, dataset: dataset, filter: filter}
	e.reading = tableReading{rows: o.rows, filter: filter, path: o.path, scan: o.run.scan, log: log}
	if e.reading.chosen, err = e.reading.choose(in); err != nil {
		return nil, err
	}
	e.pass = pass{
		dir: target.RunDir(), input: in, columns: read,
		consumers: []scan.Consumer{scan.ConsumerFunc(func(ctx context.Context, s tokenrange.Split) (scan.Part, error) {
			return dataset.Begin(ctx, s)
		})},
		query: append([]ledger.Option{
			{Name: "format", Value: o.format}, {Name: "columns", Value: strings.Join(columns, ",")},
			{Name: "rows", Value: filter.String()}, {Name: "shape", Value: fmt.Sprintf("%+v", o.shape)},
		}, in.options...),
	}
	return e, nil
}

// fileOptions say how the files look.
func (o exportOptions) fileOptions() (export.Options, error) {
	uri := ""
	if o.table != "" { // a training manifest has a column of its own
		uri = o.train.uri
	}
	derived, err := o.derived.columns(uri)
	return export.Options{
		Derived: derived,
		Format:  export.Format(o.format), Shape: o.shape, Shards: o.shards, ShardBytes: int64(o.shardSize),
		Arrow: export.ArrowOptions{Compression: strings.TrimPrefix(o.codec, "none")},
		Text:  export.TextOptions{NullText: o.nullText},
	}, err
}

// publish makes the files and puts them in their place: that of what is
// incomplete, if ranges are missing or SSTables were left out.
func (e *exporting) publish(ctx context.Context, id string, where *place, target *export.Target, read outcome, leftOut []string) (exportResult, error) {
	out, finish, publish := e.options.out, e.dataset.Finish, target.Publish
	complete := !read.incomplete && len(leftOut) == 0
	if !complete {
		out, finish, publish = export.IncompleteDir(out), e.dataset.FinishIncomplete, target.PublishIncomplete
	}
	files, err := finish(ctx, read.splitIDs(), target.Dir())
	if err != nil {
		return exportResult{}, err
	}
	in := e.pass.input
	m := export.Manifest{
		Kind: "table", RunID: id, ToolVersion: buildVersion(), CreatedAt: time.Now().UTC(),
		Source:   in.record,
		Query:    export.Query{Text: e.options.text(), Columns: e.options.columns, Where: e.filter.String()},
		Window:   export.Window{Start: read.started, End: read.ended},
		Coverage: e.coverage(read, leftOut),
		Reads:    e.reached.records(in, read, keysLedger, ledger.FileName),
	}
	e.dataset.Describe(&m, files)
	record, err := e.pass.ledger()
	if err != nil {
		return exportResult{}, err
	}
	if err := target.WriteFile(ledger.FileName, record); err != nil {
		return exportResult{}, err
	}
	if keys := e.reached.keys; keys != nil {
		record, err := keys.pass.ledger()
		if err != nil {
			return exportResult{}, err
		}
		if err := target.WriteFile(keysLedger, record); err != nil {
			return exportResult{}, err
		}
	}
	if complete {
		if err := e.options.beside.write(ctx, target, m, e.dataset.Schema(), where.shown); err != nil {
			return exportResult{}, err
		}
	}
	if err := publish(ctx, m); err != nil {
		return exportResult{}, err
	}
	return exportResult{Run: id, Out: out, Complete: complete, Table: in.table.String(), Read: files.Read, Rows: files.Rows, Bytes: m.Bytes, Files: len(files.Files),
		Unfit: files.Unfit, Seconds: read.ended.Sub(read.started).Seconds(), LeftOut: leftOut, Largest: &read.largest}, nil
}

// text is the request as a command line, without what says how to connect.
func (o exportOptions) text() string {
	parts := []string{"export", "--table", o.table, "--format", o.format}
	if len(o.columns) > 0 {
		parts = append(parts, "--columns", strings.Join(o.columns, ","))
	}
	if o.train.uri != "" {
		parts = append(parts, "--uri", o.train.uri)
	}
	return strings.Join(slices.Concat(parts, o.derived.arguments(), o.rows.arguments(), o.path.arguments()), " ")
}

func (e *exporting) coverage(read outcome, leftOut []string) export.Coverage {
	plan := e.pass.input.plan
	c := export.Coverage{Partitioner: plan.Partitioner, Complete: !read.incomplete && len(leftOut) == 0, Splits: len(read.receipts), LeftOut: leftOut}
	asked := tokenrange.NewIntervalSet(plan.Asked...).Ranges()
	if ring := e.pass.input.ring(); e.reached.path.Kind == accesspath.FullScan && len(asked) > 0 && (len(asked) > 1 || asked[0] != ring) {
		c.Start, c.End = asked[0].Start.String(), asked[len(asked)-1].End.String()
	}
	return c
}

// exportResult is what a user is told.
type exportResult struct {
	Run      string           `json:"run"`
	Out      string           `json:"out"`
	Complete bool             `json:"complete"`
	Table    string           `json:"table,omitempty"`
	Read     int64            `json:"rows_read"`
	Rows     int64            `json:"rows"`
	Bytes    int64            `json:"bytes"`
	Files    int              `json:"files"`
	Unfit    map[string]int64 `json:"unfit,omitempty"`
	Seconds  float64          `json:"seconds"`
	LeftOut  []string         `json:"left_out,omitempty"`
	// Largest are the largest partitions of the table.
	Largest *scan.Largest `json:"largest_partitions,omitempty"`

	// Of a training manifest.
	Counts   []export.StageCount `json:"counts,omitempty"`
	Rejected []export.StageCount `json:"rejected,omitempty"`
	Splits   []export.SplitFiles `json:"splits,omitempty"`
}

func (r exportResult) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	if r.Table == "" {
		return r.printTraining(w)
	}
	fmt.Fprintf(w, "%s: %s", r.Table, count(r.Rows, "row"))
	if r.Read != r.Rows {
		fmt.Fprintf(w, " of %d", r.Read)
	}
	fmt.Fprintf(w, " in %s, %s, read in %.1f s\n", count(int64(r.Files), "file"), sizeText(r.Bytes), r.Seconds)
	if r.Largest != nil {
		printLargest(w, *r.Largest)
	}
	for column, n := range r.Unfit {
		fmt.Fprintf(w, "column %s: %d values did not fit their type and were replaced\n", column, n)
	}
	return printPlace(w, r.Complete, r.Out)
}
