package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/export/internal/derive"
	"manifest/export/internal/parquetfile"
	"manifest/export/internal/shape"
	"manifest/export/internal/textfile"
	"manifest/tokenrange"
)

// Dataset takes the rows of a scan, split by split, and makes files of them.
// Begin may be called concurrently; Finish is called once, after the scan.
type Dataset struct {
	opts   Options
	derive *derive.Deriver // nil: there are no such columns
	shape  *shape.Shape
	layout string // fingerprint of all that a part's bytes depend on beside its rows

	parquetWriters sync.Pool // of parts that are done, of type *parquetfile.Writer
}

// New plans a dataset of records of the given schema, as a scan gives them.
// Columns that can't be written are all reported at once.
func New(schema *arrow.Schema, opts Options) (*Dataset, error) {
	opts = opts.withDefaults()
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("export options: %w", err)
	}
	if st, err := os.Stat(opts.WorkDir); err != nil {
		return nil, fmt.Errorf("work directory: %w", err)
	} else if !st.IsDir() {
		return nil, fmt.Errorf("work directory %s is not a directory", opts.WorkDir)
	}
	shapeOpts, err := opts.shape()
	if err != nil {
		return nil, err
	}
	read := schema
	deriver, err := opts.deriver(schema)
	if err != nil {
		return nil, fmt.Errorf("plan columns: %w", err)
	}
	if deriver != nil {
		schema = deriver.Schema()
	}
	s, err := shape.New(schema, opts.columns(schema), shapeOpts)
	if err != nil {
		return nil, fmt.Errorf("plan columns: %w", err)
	}
	if opts.Parquet.NoBounds == nil {
		opts.Parquet.NoBounds = withoutBounds(s.Schema())
	}
	d := &Dataset{opts: opts, derive: deriver, shape: s}
	if err := d.checkSchema(); err != nil {
		return nil, err
	}
	d.layout = d.fingerprint(read)
	return d, nil
}

// Schema is the schema of the files.
func (d *Dataset) Schema() *arrow.Schema { return d.shape.Schema() }

// checkSchema finds types that the format can't hold before anything is read.
func (d *Dataset) checkSchema() error {
	switch d.opts.Format {
	case CSV, JSONLines:
		_, err := textfile.NewWriter(nil, d.textFormat(), d.Schema(), d.opts.Text.internal())
		return err
	}
	return parquetfile.CheckSchema(d.Schema(), d.opts.Parquet.internal(""))
}

func (d *Dataset) textFormat() textfile.Format {
	if d.opts.Format == CSV {
		return textfile.CSV
	}
	return textfile.JSONLines
}

// fingerprint tells apart parts that can't be put into the same files.
func (d *Dataset) fingerprint(in *arrow.Schema) string {
	var b strings.Builder
	fmt.Fprintf(&b, "format %s\nread %s\nwritten %s\n", d.opts.Format, in, d.Schema())
	fmt.Fprintf(&b, "shape %+v\narrow %+v\ntext %+v\n", d.opts.Shape, d.opts.Arrow, d.opts.Text)
	if len(d.opts.Derived) > 0 {
		fmt.Fprintf(&b, "derived %+v\n", d.opts.Derived)
	}
	p := d.opts.Parquet
	fmt.Fprintf(&b, "parquet %d %d %v %q\n", p.RowGroupRows, p.RowGroupBytes, p.Dictionary, p.NoBounds)
	if f, ok := d.opts.Filter.(fmt.Stringer); ok {
		fmt.Fprintf(&b, "filter %s\n", f)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:8])
}

// partPath is the place of the part of a split.
func (d *Dataset) partPath(split string) string {
	return filepath.Join(d.opts.WorkDir, split+d.opts.Format.extension())
}

// Begin starts the part of a split, for one attempt at reading it. Exactly one
// of the part's Commit and Abort must be called.
func (d *Dataset) Begin(ctx context.Context, split tokenrange.Split) (*Part, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !filepath.IsLocal(split.ID) || strings.ContainsAny(split.ID, `/\`) {
		return nil, fmt.Errorf("split id %q is not the name of a file: %w", split.ID, ErrPart)
	}
	file, err := createDigested(d.partPath(split.ID), !d.opts.NoSync)
	if err != nil {
		return nil, fmt.Errorf("begin part: %w", err)
	}
	w, err := d.newPartWriter(file)
	if err != nil {
		file.abort()
		return nil, fmt.Errorf("begin part of split %s: %w", split.ID, err)
	}
	return &Part{dataset: d, split: split.ID, file: file, writer: w, counts: d.shape.NewCounts()}, nil
}
