package parquetfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go/format"

	"manifest/export/internal/rowsize"
)

// createdBy has the form that readers parse to know of a writer's faults.
const createdBy = "manifest version 1.0.0 (build parquet-go)"

// Info describes a finished file.
type Info struct {
	Rows      int64
	RowGroups int
	Bytes     int64
}

// Writer writes one file from records. It is used by one goroutine. After an
// error the file is worthless, and every further call gives the same error.
type Writer struct {
	out    *counter
	layout *layout
	opts   Options
	groups *groupWriter
	empty  footer  // of a file without row groups
	footer *footer // of the row groups so far

	groupRows  int64
	groupBytes int64
	sums       []int64 // bytes of each row of the record at hand
	err        error
}

// NewWriter starts a file of the given schema on out. out is written to in
// order and is not closed.
func NewWriter(out io.Writer, schema *arrow.Schema, opts Options) (*Writer, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("parquet options: %w", err)
	}
	opts = opts.WithDefaults()
	l, err := newLayout(schema, opts)
	if err != nil {
		return nil, err
	}
	empty, err := l.describe()
	if err != nil {
		return nil, err
	}
	w := &Writer{layout: l, opts: opts, empty: *empty, groups: newGroupWriter(l, opts)}
	if err := w.Reset(out); err != nil {
		return nil, err
	}
	return w, nil
}

// Reset starts another file of the same schema and options on out, after Close or
// Discard. It is as good as a new writer, and has the memory of the old one.
func (w *Writer) Reset(out io.Writer) error {
	footer := w.empty
	w.out, w.footer, w.err = &counter{w: out}, &footer, nil
	w.groupRows, w.groupBytes = 0, 0
	if _, err := io.WriteString(w.out, magic); err != nil {
		return fmt.Errorf("write start of file: %w", err)
	}
	return w.groups.open(w.out)
}

// CheckSchema reports what NewWriter would about a schema, without writing.
func CheckSchema(schema *arrow.Schema, opts Options) error {
	l, err := newLayout(schema, opts.WithDefaults())
	if err != nil {
		return err
	}
	_, err = sortingColumns(l, opts)
	return err
}

// Write appends the rows of a record, whose columns have the types of the
// file's schema. The record is not kept.
func (w *Writer) Write(rec arrow.Record) error {
	if w.err != nil {
		return w.err
	}
	w.err = w.write(rec)
	return w.err
}

func (w *Writer) write(rec arrow.Record) error {
	if err := checkSchema(rec, w.layout.arrow); err != nil {
		return err
	}
	rows := int(rec.NumRows())
	var err error
	if w.sums, err = rowsize.OfRows(rec, w.sums); err != nil {
		return err
	}
	for from := 0; from < rows; {
		to := from
		for to < rows && w.groupRows < int64(w.opts.RowGroupRows) && w.groupBytes < w.opts.RowGroupBytes {
			w.groupRows++
			w.groupBytes += w.sums[to]
			to++
		}
		if err := w.groups.writeRows(rec, from, to); err != nil {
			return err
		}
		from = to
		if from < rows {
			if err := w.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// endGroup ends the row group.
func (w *Writer) endGroup() error {
	g, err := w.groups.end()
	if err != nil {
		return err
	}
	w.footer.rowGroups = append(w.footer.rowGroups, g)
	w.groupRows, w.groupBytes = 0, 0
	return nil
}

// Close writes what is left and the footer, and closes what the writer has open,
// also after an error. It does not close the file under it.
func (w *Writer) Close() (Info, error) {
	if w.err != nil {
		return Info{}, errors.Join(w.err, w.groups.close())
	}
	w.err = errClosed
	info, err := w.end()
	return info, errors.Join(err, w.groups.close())
}

// Discard closes what the writer has open, in place of Close or after it.
func (w *Writer) Discard() {
	w.err = errClosed
	_ = w.groups.close() // a file without a name, which nobody reads any more
}

func (w *Writer) end() (Info, error) {
	if w.groupRows > 0 {
		if err := w.endGroup(); err != nil {
			return Info{}, err
		}
	}
	return writeEnd(w.out, w.footer, w.layout, w.opts)
}

var errClosed = errors.New("the file is closed")

// checkSchema compares types; names and metadata of a record are not looked at.
func checkSchema(rec arrow.Record, schema *arrow.Schema) error {
	if int(rec.NumCols()) != schema.NumFields() {
		return fmt.Errorf("a record of %d columns for a file of %d: %w", rec.NumCols(), schema.NumFields(), ErrSchema)
	}
	for i, col := range rec.Columns() {
		f := schema.Field(i)
		if !arrow.TypeEqual(col.DataType(), f.Type) {
			return fmt.Errorf("column %q is %s in a record, but %s in the file: %w", f.Name, col.DataType(), f.Type, ErrSchema)
		}
	}
	return nil
}

// writeEnd writes the page index and footer behind the row groups of f.
func writeEnd(out *counter, f *footer, l *layout, opts Options) (Info, error) {
	f.meta.CreatedBy = createdBy
	f.meta.KeyValueMetadata = nil
	for _, kv := range opts.sortedMetadata() {
		f.meta.KeyValueMetadata = append(f.meta.KeyValueMetadata, format.KeyValue{Key: kv[0], Value: kv[1]})
	}
	sorting, err := sortingColumns(l, opts)
	if err != nil {
		return Info{}, err
	}
	info := Info{RowGroups: len(f.rowGroups)}
	for i := range f.rowGroups {
		g := &f.rowGroups[i]
		g.meta.SortingColumns = sorting
		info.Rows += g.meta.NumRows
	}
	if _, err := f.write(out, out.n); err != nil {
		return Info{}, err
	}
	info.Bytes = out.n
	return info, nil
}

func sortingColumns(l *layout, opts Options) ([]format.SortingColumn, error) {
	var sorting []format.SortingColumn
	for _, s := range opts.Sorting {
		index := -1
		for i, leaf := range l.leaves {
			if leaf.name() == s.Path {
				index = i
			}
		}
		if index < 0 {
			return nil, fmt.Errorf("sorting column %q is not a column: %w", s.Path, ErrSchema)
		}
		sorting = append(sorting, format.SortingColumn{ColumnIdx: int32(index), Descending: s.Descending, NullsFirst: s.NullsFirst})
	}
	return sorting, nil
}
