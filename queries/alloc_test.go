package queries

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A row costs no memory of its own once its group and its values are known.
func TestWriteDoesNotAllocatePerRow(t *testing.T) {
	tables := map[Role]Table{ImageMetadata: metadataTable(t), DeviceDaily: deviceTable(t), TagIndex: tagTable(t)}
	for _, s := range Statistics() {
		q, err := s.Compile(tables[s.Role], NamedOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(q, Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		schema := schemaOf(t, tables[s.Role], q.Columns())
		rb := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		const n = 10_000
		for i := range n {
			for c, f := range schema.Fields() {
				benchValue(rb.Field(c), f.Name, i%200)
			}
		}
		rec := rb.NewRecord()
		rb.Release()
		part, err := a.Begin(t.Context(), splitOf(0))
		if err != nil {
			t.Fatal(err)
		}
		if got := testing.AllocsPerRun(5, func() {
			if err := part.Write(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
		}); got > 20 {
			t.Errorf("%s: %v allocations for %d rows", s.Name, got, n)
		}
		part.Abort()
		rec.Release()
	}
}
