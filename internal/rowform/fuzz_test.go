package rowform

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Bytes that are no row are an error, and never a panic.
func FuzzBuildRow(f *testing.F) {
	schema := everySchema(f)
	f.Add([]byte{})
	f.Add(make([]byte, len(everyType))) // a row of NULLs
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, row []byte) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		if err := BuildRow(b, row); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		rec := b.NewRecord()
		defer rec.Release()
		back, err := AppendRow(nil, rec, 0)
		if err != nil {
			t.Fatal(err)
		}
		again := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer again.Release()
		if err := BuildRow(again, back); err != nil {
			t.Fatalf("%x became %x: %v", row, back, err)
		}
		same := again.NewRecord()
		defer same.Release()
		if array.RecordEqual(rec, rec) && !array.RecordEqual(rec, same) { // one with NaN is not equal to itself
			t.Fatalf("%x became %x", row, back)
		}
	})
}
