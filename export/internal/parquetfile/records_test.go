package parquetfile

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// textRecord makes rows of one text column.
func textRecord(t testing.TB, schema *arrow.Schema, text func(int) string, rows int) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.StringBuilder).Append(text(i))
	}
	return b.NewRecord()
}

// fallbackRecord makes 30,000 rows whose texts are all different, with nulls if asked.
func fallbackRecord(t testing.TB, schema *arrow.Schema, nulls bool) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	text, list := b.Field(0).(*array.StringBuilder), b.Field(1).(*array.ListBuilder)
	elem := list.ValueBuilder().(*array.StringBuilder)
	for i := range 30_000 {
		if nulls && i%7 == 0 {
			text.AppendNull()
		} else {
			text.Append(fmt.Sprintf("text %040d", i))
		}
		if nulls && i%11 == 0 {
			list.AppendNull()
			continue
		}
		list.Append(true)
		for k := range i % 4 {
			if nulls && (i+k)%5 == 0 {
				elem.AppendNull()
			} else {
				elem.Append(fmt.Sprintf("element %030d", i*4+k))
			}
		}
	}
	return b.NewRecord()
}
