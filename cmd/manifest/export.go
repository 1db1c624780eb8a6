package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/metrics"
)

type exportOptions struct {
	settings  settings
	origin    originOptions
	run       runOptions
	rows      rowOptions
	log       logOptions
	place     placeOptions
	beside    companionOptions
	derived   derivedOptions
	out       string
	overwrite bool
	table     string
	columns   []string
	format    string
	shards    int
	shardSize byteSize
	shape     export.ShapeOptions
	codec     string
	nullText  string
	train     trainOptions
	path      pathOptions
}

func newExportCommand() *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export --out DIR",
		Short: "Write a training manifest, or with --table a table, as Parquet, Arrow, CSV or JSON lines",
		Long: `Without --table, write a training manifest: the images that --tags, --device, days
and --where choose, joined with what the other tables know of them, without
rejected ones and duplicates, sampled, and split so that no group and no content
is in two splits. Its files are DIR/data/SPLIT-00000-of-000NN.parquet, and
rejects/ says which images were left out and why.

With --table, write a table, or a selection of its rows and columns, as
DIR/data/part-00000-of-000NN.parquet and so on. Where conditions are about the
partition key, only the partitions that they select are read. Columns can be asked for as
writetime(column) and ttl(column) too.

Beside them are manifest.json, SHA256SUMS and _SUCCESS. The directory appears at
once, when every token range has been read, or not at all. Of an object store the
same holds for all who look for _SUCCESS first.
` + exitStatus,
		Example: `  manifest export --tags "(leaf_spot OR rust) AND NOT blurry" --from 2025-06-01 --status approved \
    --limit 500000 --balance device --split train=0.8,validation=0.1,test=0.1 --group-by device --out leaf
  manifest export --hosts 10.0.0.1 --table image_keyspace.image_metadata --out images
  manifest export --table tag_image_index --tags leaf_spot,rust --from 2025-06-01 \
    --columns image_id,object_key,device_id,capture_time --out leaf
  manifest export --table image_metadata --snapshot /backup/node1 --snapshot /backup/node2 --out images
  manifest export --hosts 10.0.0.1 --table image_metadata --out s3://bucket/datasets/images
  manifest export --table image_metadata --where "width >= 1024 AND attributes['weather'] = 'rain'" \
    --format csv --out rain`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.settings.apply(cmd); err != nil {
				return err
			}
			return runExport(cmd, o)
		},
	}
	o.settings.addFlags(cmd)
	o.origin.addFlags(cmd)
	o.run.addFlags(cmd)
	o.rows.addFlags(cmd)
	o.log.addFlags(cmd)
	o.place.addFlags(cmd)
	o.train.addFlags(cmd)
	o.path.addFlags(cmd)
	o.beside.addFlags(cmd)
	o.derived.addFlags(cmd)
	f := cmd.Flags()
	f.Lookup("tags").Usage = "expression over tags, such as \"(leaf_spot OR rust) AND NOT blurry\"; * and ? are wild. Of an image's tags the column tags has those that it mentions. With --table a list"
	f.StringVar(&o.out, "out", "", "directory to make, or s3://BUCKET/PREFIX (required)")
	f.BoolVar(&o.overwrite, "overwrite", false, "replace a dataset that is there already")
	f.StringVar(&o.table, "table", "", "table to export, as KS.T or T (default: a training manifest of the image tables)")
	f.StringSliceVar(&o.columns, "columns", nil, "columns to write, in that order (default: all)")
	f.StringVar(&o.format, "format", "parquet", "parquet, arrow, csv or jsonl")
	f.IntVar(&o.shards, "shards", 0, "number of files (default: by --shard-size)")
	f.Var(&o.shardSize, "shard-size", "size of files to aim for (default 192MiB)")
	f.StringVar(&o.shape.UUID, "uuid", "string", "uuids as string or as binary of 16 bytes")
	f.StringVar(&o.shape.Map, "map-as", "list", "maps as list (of key and value), map, json, or columns (those of --map-columns)")
	f.StringVar(&o.shape.Time, "time-unit", "string", "times of day as string, or as numbers of nanos or micros")
	f.StringVar(&o.shape.Unfit, "unfit", "error", "a value that its type in the file can't hold: error, clamp or null")
	f.StringVar(&o.codec, "arrow-compression", "", "compression of Arrow files: none (default), zstd or lz4")
	f.StringVar(&o.nullText, "csv-null", "", "what CSV has for NULL (default: nothing, while empty text is \"\")")
	return cmd
}

func (o exportOptions) validate() error {
	var errs []error
	if o.table == "" {
		_, err := o.spec()
		errs = append(errs, err)
	} else {
		errs = append(errs, o.train.forbid(o.settings.given))
	}
	if o.out == "" {
		errs = append(errs, errors.New("where to? Give --out DIR"))
	}
	if err := errors.Join(errs...); err != nil {
		return usageError{err}
	}
	return errors.Join(o.run.validate(), o.path.validate(), o.origin.validate(o.settings), o.beside.validate(), o.derived.validate(o.shape.Map))
}

func runExport(cmd *cobra.Command, o exportOptions) (err error) {
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
	id, err := o.run.runID(func(id string) string { return export.RunDir(o.out, id) })
	if err != nil {
		return err
	}
	watch, err := o.run.oversight.begin(cmd.Context(), metrics.Info{Run: id, Command: "export", Output: where.shown, Version: buildVersion(), Started: time.Now()}, log)
	if err != nil {
		return err
	}
	defer func() { watch.finish(err) }()
	if result, made, err := o.sendMade(cmd.Context(), where, id); err != nil {
		return err
	} else if made {
		return result.print(cmd.OutOrStdout(), o.run.asJSON)
	}
	if err := where.checkDataset(cmd.Context(), id, o.overwrite); err != nil {
		return err
	}
	if err := o.origin.snapshot.resume(export.RunDir(o.out, id)); err != nil {
		return err
	}
	from, err := o.origin.open(cmd.Context(), log)
	if err != nil {
		return err
	}
	defer closeOrigin(from, log)
	write := o.write
	if o.table == "" {
		write = o.makeTraining
	}
	result, err := write(cmd.Context(), from, where, id, watch, log)
	for err != nil && from.leaveOut(err, log) {
		result, err = write(cmd.Context(), from, where, id, watch, log)
	}
	if err != nil && result.Out == "" {
		return err
	}
	return errors.Join(err, result.print(cmd.OutOrStdout(), o.run.asJSON), incomplete(from))
}

// write reads the table and publishes its files. With an error comes a result
// only if it was published as incomplete.
func (o exportOptions) write(ctx context.Context, from origin, where *place, id string, watch *oversight, log *slog.Logger) (exportResult, error) {
	if m, ok := export.Published(o.out, id); ok {
		// The process that published it ended before it had cleaned up.
		return resultOf(m, o.out), os.RemoveAll(export.RunDir(o.out, id))
	}
	target, err := export.Prepare(o.out, export.TargetOptions{RunID: id, Overwrite: o.overwrite || where.remote()})
	if err != nil {
		return exportResult{}, err
	}
	keep := o.run.resume != "" // what an earlier process read
	defer func() {
		if !keep {
			if err := target.Discard(); err != nil {
				log.Warn("the working directory is left", "err", err)
			}
		}
	}()
	e, err := o.prepare(ctx, from, target, log)
	if err != nil {
		return exportResult{}, err
	}
	if e.reached, err = e.pass.reach(ctx, e.reading, id, o.run, watch); err != nil {
		keep = keep || canResume(err)
		return exportResult{}, err
	}
	read, err := e.pass.run(ctx, id, o.run, watch, log)
	if err != nil {
		keep = keep || canResume(err)
		if !o.run.keeps(err) {
			return exportResult{}, err
		}
	}
	missing := err
	keep = true // until it is published
	result, err := e.publish(ctx, id, where, target, read, from.leftOut())
	if err != nil {
		return exportResult{}, errors.Join(missing, &interruptedError{run: id, err: err})
	}
	if where.remote() {
		if err := where.sendDataset(ctx, id, o.overwrite, result.Complete); err != nil {
			return exportResult{}, errors.Join(missing, err)
		}
		result.Out = where.name(result.Complete)
	}
	keep = missing != nil
	return result, missing
}

// sendMade sends the dataset that an earlier process of this run has made, and
// tells whether there was one.
func (o exportOptions) sendMade(ctx context.Context, where *place, id string) (result exportResult, ok bool, err error) {
	text := o.text()
	if o.table == "" {
		text = o.trainText()
	}
	m, ok, err := where.madeDataset(id, text)
	if err != nil || !ok {
		return result, false, err
	}
	if err := where.sendDataset(ctx, id, o.overwrite, true); err != nil {
		return result, false, err
	}
	result = resultOf(m, where.shown)
	if m.Training != nil {
		result = trainedResult(where.shown, m)
	}
	return result, true, os.RemoveAll(export.RunDir(o.out, id))
}

// resultOf is what a user is told of a dataset that an earlier process has made.
func resultOf(m export.Manifest, out string) exportResult {
	result := exportResult{Run: m.RunID, Out: out, Complete: true, Table: m.Source.Keyspace + "." + m.Source.Table, Rows: m.Rows, Bytes: m.Bytes,
		Files: len(m.Files), Unfit: m.Unfit, Seconds: m.Window.End.Sub(m.Window.Start).Seconds()}
	for _, c := range m.Counts {
		if c.Stage == "read" {
			result.Read = c.Rows
		}
	}
	return result
}
