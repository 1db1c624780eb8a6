package trainset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export"
	"manifest/internal/recycle"
	"manifest/internal/rowform"
	"manifest/internal/sampling"
)

// WriteOptions of the files.
type WriteOptions struct {
	// Dir is where the dataset is made, PartsDir where pieces of files are put: both exist, on one file system.
	Dir, PartsDir string
	// Files says how they look. What concerns places, columns and order is set here.
	Files export.Options
}

// Written is what was made.
type Written struct {
	Counts  Counts
	Splits  []export.SplitFiles
	Files   []export.File
	Rejects []export.File
	Unfit   map[string]int64
	Proof   sampling.Proof
	// HashesKnown tells that the proof is about content hashes too.
	HashesKnown bool
	// Dataset describes the columns.
	Dataset *export.Dataset
}

// Make joins what was gathered, chooses among the images, and makes the files. It proves from their rows that nothing is in two splits: a
// proof that does not hold is an error. pins may be nil.
func (b *Builder) Make(ctx context.Context, gathered Gathered, pins *Pins, opts WriteOptions) (*Written, error) {
	sampler, err := b.newSampler(pins)
	if err != nil {
		return nil, err
	}
	accepted := func(take func(acceptedRow) error) error { return b.join(ctx, gathered, pins, take) }
	w := &writing{builder: b, opts: opts, buffers: recycle.New(), out: &Written{Unfit: map[string]int64{}, HashesKnown: b.plan.hash != nil}}
	err = w.all(ctx, func(ctx context.Context, add addFinal) error { return sampler.sample(ctx, accepted, add) })
	if err != nil {
		return nil, fmt.Errorf("make a training manifest: %w", err)
	}
	b.rejectsInOrder()
	w.out.Counts = b.counts
	if !w.out.Proof.Holds() {
		return nil, fmt.Errorf("%w: splits leak: %v", ErrInput, w.out.Proof.Examples)
	}
	if err := w.rejects(ctx); err != nil {
		return nil, fmt.Errorf("write rejects: %w", err)
	}
	return w.out, nil
}

// writing makes the files.
type writing struct {
	builder *Builder
	opts    WriteOptions
	out     *Written
	prover  *sampling.Prover
	buffers *recycle.Allocator // of records
}

// splitData is the dataset of one split, in pieces that are encoded at the same time.
type splitData struct {
	name    string
	dataset *export.Dataset
	pieces  []string
}

// finalImages hands on the images of the dataset.
type finalImages func(ctx context.Context, add addFinal) error

func (w *writing) all(ctx context.Context, images finalImages) (err error) {
	sorting := w.builder.sorting()
	sorting.Memory /= 2 // of each of three
	if w.prover, err = sampling.NewProver(sorting); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.prover.Close()) }()
	splits := make([]*splitData, len(w.builder.plan.SplitNames()))
	for i, name := range w.builder.plan.SplitNames() {
		if splits[i], err = w.newSplit(name); err != nil {
			return err
		}
	}
	w.out.Dataset = splits[0].dataset
	if err := w.encode(ctx, images, splits); err != nil {
		return err
	}
	return w.finish(ctx, splits)
}

func (w *writing) newSplit(name string) (*splitData, error) {
	dir := filepath.Join(w.opts.PartsDir, name)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, err
	}
	opts := w.opts.Files
	opts.WorkDir, opts.FilePrefix, opts.Columns, opts.Filter, opts.PartitionKey = dir, name, nil, nil, []string{"image_id"}
	opts.Parquet.Sorting = nil
	switch p := w.builder.plan; {
	case p.spec.Order == ByTime && p.HasColumn("capture_time"):
		opts.Parquet.Sorting = []export.SortingColumn{{Path: "capture_time"}}
	case p.spec.Order == ByHash && p.HasColumn("sample_hash"):
		opts.Parquet.Sorting = []export.SortingColumn{{Path: "sample_hash"}}
	}
	d, err := export.New(w.builder.plan.Schema(), opts)
	return &splitData{name: name, dataset: d}, err
}

// finish strings the pieces of each split together. A split without rows has no file, unless there are none at all.
func (w *writing) finish(ctx context.Context, splits []*splitData) error {
	for i, s := range splits {
		files := export.SplitFiles{Name: s.name}
		if len(w.builder.plan.spec.Splits) > 0 {
			files.Share = w.builder.plan.spec.Splits[i].Share.String()
		}
		if len(s.pieces) > 0 || i == 0 && w.builder.counts.Kept == 0 {
			res, err := s.dataset.Finish(ctx, s.pieces, w.opts.Dir)
			if err != nil {
				return err
			}
			for column, n := range res.Unfit {
				w.out.Unfit[column] += n
			}
			files.Rows, files.Files = res.Rows, len(res.Files)
			for _, f := range res.Files {
				files.Bytes += f.Bytes
			}
			w.out.Files = append(w.out.Files, res.Files...)
		}
		w.out.Splits = append(w.out.Splits, files)
	}
	return nil
}

// rejects writes the images that were rejected, if there are some.
func (w *writing) rejects(ctx context.Context) error {
	b := w.builder
	if err := b.rejects.Sort(ctx); err != nil || b.rejects.Rows() == 0 {
		return err
	}
	schema, err := b.plan.RejectSchema()
	if err != nil {
		return err
	}
	dir := filepath.Join(w.opts.PartsDir, "rejects")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	opts := w.opts.Files
	opts.WorkDir, opts.Dir, opts.FilePrefix, opts.Columns, opts.Filter, opts.PartitionKey, opts.Shards = dir, "rejects", "rejects", nil, nil, nil, 0
	opts.Derived = nil // of columns that these rows don't have
	opts.Parquet.Sorting, opts.Parquet.Dictionary, opts.Parquet.NoBounds = nil, nil, nil
	d, err := export.New(schema, opts)
	if err != nil {
		return err
	}
	res, err := w.writeRejects(ctx, d, schema)
	w.out.Rejects = res.Files
	return err
}

func (w *writing) writeRejects(ctx context.Context, d *export.Dataset, schema *arrow.Schema) (export.Result, error) {
	in, err := w.builder.rejects.Open()
	if err != nil {
		return export.Result{}, err
	}
	defer in.Close()
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	const id = "00000000"
	err = writePiece(ctx, d, id, func(part *export.Part) error {
		for left := w.builder.rejects.Rows(); left > 0; {
			rows := min(left, recordRows)
			left -= rows
			for range rows {
				if err := in.Next(); err != nil {
					return err
				}
				if err := rowform.BuildRow(builder, in.Value()); err != nil {
					return err
				}
			}
			if err := writeRecord(ctx, part, builder); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return export.Result{}, err
	}
	return d.Finish(ctx, []string{id}, w.opts.Dir)
}
