package arrowfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export/internal/rowsize"
)

// Options of a file. The zero value is good.
type Options struct {
	// BatchRows ends a batch at so many rows. Default 16,384: a few megabytes,
	// which readers map and pass on without further cutting.
	BatchRows int
	// BatchBytes ends a batch at so many bytes. Default 16 MiB.
	BatchBytes int64
	// Compression of buffers: "" for none, so that a file can be mapped into
	// memory as it is, "zstd" or "lz4".
	Compression string
}

func (o Options) withDefaults() Options {
	o.BatchRows = cmp.Or(o.BatchRows, 16_384)
	o.BatchBytes = cmp.Or(o.BatchBytes, 16<<20)
	return o
}

// Validate reports all settings that make no sense, joined.
func (o Options) Validate() error {
	var errs []error
	if o.BatchRows < 0 {
		errs = append(errs, fmt.Errorf("batch rows are %d, but can't be negative", o.BatchRows))
	}
	if o.BatchBytes < 0 {
		errs = append(errs, fmt.Errorf("batch bytes are %d, but can't be negative", o.BatchBytes))
	}
	switch o.Compression {
	case "", "zstd", "lz4":
	default:
		errs = append(errs, fmt.Errorf("compression %q is not known: it is none, zstd or lz4", o.Compression))
	}
	return errors.Join(errs...)
}

// Writer writes one file. It is used by one goroutine.
type Writer struct {
	schema *arrow.Schema
	mem    memory.Allocator
	opts   Options
	file   *ipc.FileWriter

	pending []arrow.Record // slices of records, held until the batch is full
	rows    int64          // in the open batch
	bytes   int64
	sums    []int64
	total   int64
}

// NewWriter starts a file on out, which is not closed.
func NewWriter(out io.Writer, schema *arrow.Schema, mem memory.Allocator, opts Options) (*Writer, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("arrow options: %w", err)
	}
	settings := []ipc.Option{ipc.WithSchema(schema), ipc.WithAllocator(mem)}
	switch opts.Compression {
	case "zstd":
		settings = append(settings, ipc.WithZstd())
	case "lz4":
		settings = append(settings, ipc.WithLZ4())
	}
	file, err := ipc.NewFileWriter(&position{w: out}, settings...)
	if err != nil {
		return nil, fmt.Errorf("start arrow file: %w", err)
	}
	return &Writer{schema: schema, mem: mem, opts: opts.withDefaults(), file: file}, nil
}

// Write appends the rows of a record. It is held until its rows are written.
func (w *Writer) Write(rec arrow.Record) error {
	var err error
	if w.sums, err = rowsize.OfRows(rec, w.sums); err != nil {
		return err
	}
	from := int64(0)
	for i, size := range w.sums {
		w.rows++
		w.bytes += size
		if w.rows >= int64(w.opts.BatchRows) || w.bytes >= w.opts.BatchBytes {
			w.pending = append(w.pending, rec.NewSlice(from, int64(i)+1))
			from = int64(i) + 1
			if err := w.EndBatch(); err != nil {
				return err
			}
		}
	}
	if from < rec.NumRows() {
		w.pending = append(w.pending, rec.NewSlice(from, rec.NumRows()))
	}
	return nil
}

// EndBatch writes the open batch, if it has rows.
func (w *Writer) EndBatch() error {
	defer w.drop()
	if w.rows == 0 {
		return nil
	}
	columns := make([]arrow.Array, w.schema.NumFields())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	pieces := make([]arrow.Array, len(w.pending))
	for c := range columns {
		for i, rec := range w.pending {
			pieces[i] = rec.Column(c)
		}
		joined, err := array.Concatenate(pieces, w.mem)
		if err != nil {
			return fmt.Errorf("join column %q: %w", w.schema.Field(c).Name, err)
		}
		columns[c] = joined
	}
	batch := array.NewRecord(w.schema, columns, w.rows)
	defer batch.Release()
	if err := w.file.Write(batch); err != nil {
		return fmt.Errorf("write arrow batch: %w", err)
	}
	w.total += w.rows
	return nil
}

// drop forgets the open batch.
func (w *Writer) drop() {
	for _, rec := range w.pending {
		rec.Release()
	}
	clear(w.pending)
	w.pending, w.rows, w.bytes = w.pending[:0], 0, 0
}

// Close writes what is left and the footer, and gives the number of rows. It
// frees what the writer holds, also after an error.
func (w *Writer) Close() (rows int64, err error) {
	if err := w.EndBatch(); err != nil {
		return 0, err
	}
	if err := w.file.Close(); err != nil {
		return 0, fmt.Errorf("finish arrow file: %w", err)
	}
	return w.total, nil
}

// Discard frees what the writer holds, in place of Close.
func (w *Writer) Discard() { w.drop() }

// position tells the writer of Arrow, which asks once, where in the file it is.
type position struct {
	w io.Writer
	n int64
}

func (p *position) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.n += int64(n)
	return n, err
}

func (p *position) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, fmt.Errorf("seek in a file that is written in order: %w", errors.ErrUnsupported)
	}
	return p.n, nil
}
