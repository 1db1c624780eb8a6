// Package parquettest reads Parquet files for tests, by the reader of parquet-go.
package parquettest

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go"
)

// TB is what rapid.T and testing.T share.
type TB interface {
	Helper()
	Fatalf(string, ...any)
}

var _ TB = (*testing.T)(nil)

// ReadRows reads a file with the reader of parquet-go, and puts rows together
// from values and levels as the Dremel paper does. Rows come as those of
// arrowtest.Rows. The schema must be that of the file.
func ReadRows(t TB, data []byte, schema *arrow.Schema) [][]any {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("open what was written: %v", err)
	}
	rows := [][]any{}
	for _, g := range f.RowGroups() {
		reader := g.Rows()
		buf := make([]parquet.Row, 7)
		for {
			n, err := reader.ReadRows(buf)
			for _, row := range buf[:n] {
				var values [][]parquet.Value
				row.Range(func(_ int, v []parquet.Value) bool {
					values = append(values, v)
					return true
				})
				out := []any{}
				for _, field := range schema.Fields() {
					a := assembler{columns: values[:countLeaves(field.Type)]}
					values = values[len(a.columns):]
					out = append(out, a.field(field, 0, 0))
				}
				rows = append(rows, out)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("read rows: %v", err)
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatalf("close rows: %v", err)
		}
	}
	return rows
}

func countLeaves(t arrow.DataType) int {
	switch t := t.(type) {
	case *arrow.MapType:
		return countLeaves(t.KeyType()) + countLeaves(t.ItemType())
	case arrow.ListLikeType:
		return countLeaves(t.Elem())
	case *arrow.StructType:
		n := 0
		for _, f := range t.Fields() {
			n += countLeaves(f.Type)
		}
		return n
	}
	return 1
}

// assembler puts one value together from the values of its leaves, which it takes.
type assembler struct{ columns [][]parquet.Value }

// field reads a value whose parents are present at definition level def, below
// lists of repetition level rep.
func (a *assembler) field(f arrow.Field, def, rep int) any {
	first := a.columns[0][0].DefinitionLevel()
	if f.Nullable {
		if first == def {
			a.skip(countLeaves(f.Type))
			return nil
		}
		def++
	}
	switch t := f.Type.(type) {
	case *arrow.MapType:
		key := t.KeyField()
		key.Nullable = false
		return a.list(arrow.StructOf(key, t.ItemField()), false, def, rep, first)
	case arrow.ListLikeType:
		return a.list(t.Elem(), t.ElemField().Nullable, def, rep, first)
	case *arrow.StructType:
		var fields []any
		all := a.columns
		for _, child := range t.Fields() {
			n := countLeaves(child.Type)
			sub := assembler{all[:n]}
			fields = append(fields, sub.field(child, def, rep))
			all = all[n:]
		}
		return fields
	}
	v := a.columns[0][0]
	a.columns[0] = a.columns[0][1:]
	return plainValue(v)
}

func (a *assembler) list(elem arrow.DataType, nullable bool, def, rep, first int) any {
	list := []any{}
	if first == def {
		a.skip(len(a.columns))
		return list
	}
	for {
		list = append(list, a.field(arrow.Field{Type: elem, Nullable: nullable}, def+1, rep+1))
		if len(a.columns[0]) == 0 || a.columns[0][0].RepetitionLevel() < rep+1 {
			return list
		}
	}
}

func (a *assembler) skip(n int) {
	for i := range n {
		a.columns[i] = a.columns[i][1:]
	}
}

func plainValue(v parquet.Value) any {
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int32:
		return int64(v.Int32())
	case parquet.Int64:
		return v.Int64()
	case parquet.Float:
		return int64(math.Float32bits(v.Float()))
	case parquet.Double:
		return int64(math.Float64bits(v.Double()))
	default:
		return string(v.ByteArray())
	}
}
