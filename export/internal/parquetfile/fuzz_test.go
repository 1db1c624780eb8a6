package parquetfile

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// A damaged file is refused or described, but never brings the program down.
func FuzzReadFooter(f *testing.F) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String}}, nil)
	rec := textRecord(f, schema, func(i int) string { return string(rune('a' + i)) }, 20)
	defer rec.Release()
	data := writeAll(f, schema, Options{RowGroupRows: 7, PageRows: 3}, rec)
	f.Add(data)
	f.Add(data[:len(data)-1])
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ft, err := readFooter(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for i := range ft.rowGroups {
			if start, end, err := ft.rowGroups[i].span(); err == nil && (start < int64(len(magic)) || end < start) {
				t.Errorf("row group %d spans [%d, %d)", i, start, end)
			}
		}
	})
}
