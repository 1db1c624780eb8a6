package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/export/internal/textvalue"
)

// Writer writes rows as text. It is used by one goroutine. Output is written in
// pieces of some 256 KiB that end with a row.
type Writer struct {
	out     io.Writer
	columns []column
	row     func(w *Writer, rec arrow.Record, i int)
	null    string
	buf     []byte
	rows    int64
}

type column struct {
	enc   *textvalue.Encoder
	name  []byte // JSON: name, quoted, with colon
	quote bool   // CSV: values may need quotes
}

const flushBytes = 256 << 10

// NewWriter starts writing rows to out, without a header.
func NewWriter(out io.Writer, format Format, schema *arrow.Schema, opts Options) (*Writer, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("text options: %w", err)
	}
	opts = opts.withDefaults(schema)
	w := &Writer{out: out, row: (*Writer).appendJSON, null: opts.NullText}
	if format == CSV {
		w.row = (*Writer).appendCSV
	}
	var errs []error
	for _, f := range schema.Fields() {
		enc, err := textvalue.NewEncoder(f.Type, textvalue.Options{QuoteInt64: opts.QuoteInt64 && format == JSONLines})
		if err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", f.Name, err))
		}
		w.columns = append(w.columns, column{
			enc: enc, name: append(textvalue.AppendQuoted(nil, f.Name), ':'),
			quote: needsCare(f.Type) || opts.NullText != "",
		})
	}
	return w, errors.Join(errs...)
}

// needsCare says whether values of a type can have a quote, comma or line end,
// or be empty.
func needsCare(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LIST, arrow.FIXED_SIZE_LIST, arrow.STRUCT, arrow.MAP:
		return true
	}
	return false
}

// Header gives what comes before the rows of a file.
func Header(format Format, schema *arrow.Schema, opts Options) []byte {
	if format != CSV {
		return nil
	}
	opts = opts.withDefaults(schema)
	var line []byte
	for i, f := range schema.Fields() {
		if i > 0 {
			line = append(line, ',')
		}
		at := len(line)
		line = quoteCell(append(line, f.Name...), at, opts.NullText)
	}
	return append(line, '\n')
}

// Write appends the rows of a record of the schema. The record is not kept.
func (w *Writer) Write(rec arrow.Record) error {
	for i := range int(rec.NumRows()) {
		w.row(w, rec, i)
		if len(w.buf) >= flushBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	w.rows += rec.NumRows()
	return nil
}

// Close writes what is left and gives the number of rows. It does not close out.
func (w *Writer) Close() (rows int64, err error) { return w.rows, w.flush() }

func (w *Writer) flush() error {
	if _, err := w.out.Write(w.buf); err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	w.buf = w.buf[:0]
	return nil
}

func (w *Writer) appendJSON(rec arrow.Record, i int) {
	w.buf = append(w.buf, '{')
	for c := range w.columns {
		if c > 0 {
			w.buf = append(w.buf, ',')
		}
		col := &w.columns[c]
		w.buf = col.enc.AppendJSON(append(w.buf, col.name...), rec.Column(c), i)
	}
	w.buf = append(w.buf, '}', '\n')
}

func (w *Writer) appendCSV(rec arrow.Record, i int) {
	for c := range w.columns {
		if c > 0 {
			w.buf = append(w.buf, ',')
		}
		col := &w.columns[c]
		arr := rec.Column(c)
		if arr.IsNull(i) {
			w.buf = append(w.buf, w.null...)
			continue
		}
		at := len(w.buf)
		w.buf = col.enc.AppendPlain(w.buf, arr, i)
		if col.quote {
			w.buf = quoteCell(w.buf, at, w.null)
		}
	}
	w.buf = append(w.buf, '\n')
}

// quoteCell puts the cell buf[at:] in quotes if it needs them.
func quoteCell(buf []byte, at int, null string) []byte {
	cell := buf[at:]
	quotes := bytes.Count(cell, []byte{'"'})
	if quotes == 0 && string(cell) != null && !bytes.ContainsAny(cell, ",\r\n") {
		return buf
	}
	size := len(cell)
	buf = append(buf, make([]byte, quotes+2)...)
	cell = buf[at:]
	to := len(cell) - 1
	cell[to] = '"'
	for from := size - 1; from >= 0; from-- {
		to--
		cell[to] = cell[from]
		if cell[from] == '"' {
			to--
			cell[to] = '"'
		}
	}
	cell[0] = '"'
	return buf
}
