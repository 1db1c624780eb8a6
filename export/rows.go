package export

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
)

// Value is a value of a row as text: numbers in decimal. Bytes are as they are.
type Value struct {
	Text string
	Null bool
}

// ReadManifest reads manifest.json of a published dataset. A directory without
// one is [ErrNotDataset].
func ReadManifest(dir string) (Manifest, error) { return readManifest(dir) }

// ReadRows calls f for each row of a data file with the values of some columns
// that are not nested. The readers share nothing with what wrote the files. The
// values are valid during the call.
func ReadRows(ctx context.Context, dir string, file File, format Format, columns []string, f func(row []Value) error) error {
	if !filepath.IsLocal(filepath.FromSlash(file.Path)) {
		return fmt.Errorf("file %q is not inside of the dataset: %w", file.Path, ErrVerify)
	}
	r, err := os.Open(filepath.Join(dir, filepath.FromSlash(file.Path)))
	if err != nil {
		return err
	}
	defer r.Close()
	rows := 0
	each := func(row []Value) error {
		if rows++; rows%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return f(row)
	}
	switch format {
	case Parquet:
		err = readParquetRows(r, columns, each)
	case Arrow:
		err = readArrowRows(r, columns, each)
	case CSV:
		err = readCSVRows(r, columns, each)
	case JSONLines:
		err = readJSONRows(r, columns, each)
	default:
		err = fmt.Errorf("unknown format %q", format)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	return nil
}

// missing says that a file lacks a column.
func missing(column string) error { return fmt.Errorf("no column %q: %w", column, ErrVerify) }

func readParquetRows(r *os.File, columns []string, f func([]Value) error) error {
	st, err := r.Stat()
	if err != nil {
		return err
	}
	p, err := parquet.OpenFile(r, st.Size())
	if err != nil {
		return err
	}
	leaves := make([]int, len(columns))
	for i, name := range columns {
		leaf, ok := p.Schema().Lookup(name)
		if !ok {
			return missing(name)
		}
		leaves[i] = leaf.ColumnIndex
	}
	for _, group := range p.RowGroups() {
		values := make([][]Value, len(columns))
		for i, leaf := range leaves {
			if values[i], err = readChunk(group.ColumnChunks()[leaf], int(group.NumRows())); err != nil {
				return fmt.Errorf("column %s: %w", columns[i], err)
			}
		}
		row := make([]Value, len(columns))
		for n := range int(group.NumRows()) {
			for i := range row {
				row[i] = values[i][n]
			}
			if err := f(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// readChunk reads the values of a column that is not nested.
func readChunk(chunk parquet.ColumnChunk, rows int) (_ []Value, err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	values := make([]Value, 0, rows)
	buffer := make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for reader, done := page.Values(), false; !done; {
			n, err := reader.ReadValues(buffer)
			for _, v := range buffer[:n] {
				values = append(values, valueOf(v))
			}
			if done = errors.Is(err, io.EOF); err != nil && !done {
				parquet.Release(page)
				return nil, err
			}
		}
		parquet.Release(page)
	}
	if len(values) != rows {
		return nil, fmt.Errorf("%d values in %d rows: %w", len(values), rows, ErrVerify)
	}
	return values, nil
}

func valueOf(v parquet.Value) Value {
	switch {
	case v.IsNull():
		return Value{Null: true}
	case v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray:
		return Value{Text: string(v.ByteArray())}
	}
	return Value{Text: v.String()}
}

func readArrowRows(r *os.File, columns []string, f func([]Value) error) (err error) {
	reader, err := ipc.NewFileReader(r, ipc.WithAllocator(memory.DefaultAllocator))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	places := make([]int, len(columns))
	for i, name := range columns {
		found := reader.Schema().FieldIndices(name)
		if len(found) != 1 {
			return missing(name)
		}
		places[i] = found[0]
	}
	row := make([]Value, len(columns))
	for n := range reader.NumRecords() {
		rec, err := reader.RecordAt(n)
		if err != nil {
			return err
		}
		for at := range int(rec.NumRows()) {
			for i, place := range places {
				c := rec.Column(place)
				row[i] = Value{Null: c.IsNull(at)}
				if b, ok := c.(interface{ Value(int) []byte }); ok && !row[i].Null {
					row[i].Text = string(b.Value(at))
				} else if !row[i].Null {
					row[i].Text = c.ValueStr(at)
				}
			}
			if err := f(row); err != nil {
				rec.Release()
				return err
			}
		}
		rec.Release()
	}
	return nil
}

func readCSVRows(r io.Reader, columns []string, f func([]Value) error) error {
	reader := csv.NewReader(r)
	reader.ReuseRecord = true
	header, err := reader.Read()
	if err != nil {
		return err
	}
	places := make([]int, len(columns))
	for i, name := range columns {
		if places[i] = slices.Index(header, name); places[i] < 0 {
			return missing(name)
		}
	}
	row := make([]Value, len(columns))
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i, place := range places {
			// This reader can't tell empty text from NULL; neither is an id or a hash.
			row[i] = Value{Text: record[place], Null: record[place] == ""}
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

func readJSONRows(r io.Reader, columns []string, f func([]Value) error) error {
	row := make([]Value, len(columns))
	for d := json.NewDecoder(r); ; {
		var object map[string]json.RawMessage
		if err := d.Decode(&object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for i, name := range columns {
			raw, ok := object[name]
			if !ok {
				return missing(name)
			}
			row[i] = Value{Null: string(raw) == "null"}
			if row[i].Null {
				continue
			}
			if strings.HasPrefix(string(raw), `"`) {
				if err := json.Unmarshal(raw, &row[i].Text); err != nil {
					return err
				}
			} else {
				row[i].Text = string(raw)
			}
		}
		if err := f(row); err != nil {
			return err
		}
	}
}
