package export

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
)

// countRows reads a file of rows to its end with a reader of its format that
// shares nothing with what wrote it, and gives the names of the top columns in
// their order; nil where a file without rows has none.
//
// Of Parquet it also gives what of the types is not as the manifest says.
func countRows(path string, format Format, stated []Column) (rows int64, columns, differ []string, err error) {
	if format == Parquet {
		return countParquet(path, stated)
	}
	rows, columns, err = countOther(path, format)
	return rows, columns, nil, err
}

func countOther(path string, format Format) (rows int64, columns []string, err error) {
	switch format {
	case Arrow:
		return countArrow(path)
	case CSV:
		return countCSV(path)
	case JSONLines:
		return countJSONLines(path)
	default:
		return 0, nil, fmt.Errorf("unknown format %q", format)
	}
}

// countParquet reads every page of every column of a Parquet file, and gives the
// rows that all columns agree on.
func countParquet(path string, stated []Column) (rows int64, columns, differ []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, nil, nil, err
	}
	p, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		return 0, nil, nil, err
	}
	for _, c := range p.Root().Columns() {
		columns = append(columns, c.Name())
	}
	for i, group := range p.RowGroups() {
		for _, chunk := range group.ColumnChunks() {
			n, err := countChunk(chunk)
			if err != nil {
				return 0, nil, nil, fmt.Errorf("row group %d: column %d: %w", i, chunk.Column(), err)
			}
			if n != group.NumRows() {
				return 0, nil, nil, fmt.Errorf("row group %d: column %d has %d rows, not %d", i, chunk.Column(), n, group.NumRows())
			}
		}
		rows += group.NumRows()
	}
	return rows, columns, checkParquetTypes(p.Schema(), stated), nil
}

// countChunk counts the rows of a column: a value begins one when it repeats
// nothing.
func countChunk(chunk parquet.ColumnChunk) (rows int64, err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	values := make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		for reader, done := page.Values(), false; !done; {
			n, err := reader.ReadValues(values)
			for _, value := range values[:n] {
				if value.RepetitionLevel() == 0 {
					rows++
				}
			}
			if done = errors.Is(err, io.EOF); err != nil && !done {
				parquet.Release(page)
				return rows, err
			}
		}
		parquet.Release(page)
	}
}

// countArrow reads every record batch of an Arrow file.
func countArrow(path string) (rows int64, columns []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	reader, err := ipc.NewFileReader(f, ipc.WithAllocator(memory.DefaultAllocator))
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for _, field := range reader.Schema().Fields() {
		columns = append(columns, field.Name)
	}
	for i := range reader.NumRecords() {
		rec, err := reader.RecordAt(i)
		if err != nil {
			return 0, nil, err
		}
		rows += rec.NumRows()
		rec.Release()
	}
	return rows, columns, nil
}

// countCSV reads every record of a file that has a header.
func countCSV(path string) (rows int64, columns []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	reader := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	reader.ReuseRecord = true
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, columns, nil
		}
		if err != nil {
			return 0, nil, err
		}
		if columns == nil {
			columns = slices.Clone(record)
			continue
		}
		rows++
	}
}

// countJSONLines reads every object, and gives the keys of the first one in
// their order.
func countJSONLines(path string) (rows int64, columns []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return rows, columns, nil
		}
		if err != nil {
			return 0, nil, fmt.Errorf("line %d: %w", rows+1, err)
		}
		if !json.Valid(line) {
			return 0, nil, fmt.Errorf("line %d is no JSON", rows+1)
		}
		if columns == nil {
			if columns, err = keysOf(line); err != nil {
				return 0, nil, fmt.Errorf("line %d: %w", rows+1, err)
			}
		}
		rows++
	}
}

// keysOf gives the keys of a JSON object in their order.
func keysOf(object []byte) (keys []string, err error) {
	d := json.NewDecoder(strings.NewReader(string(object)))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("no object: %w", err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
	}
	return keys, nil
}
