package arrowfile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"manifest/export/internal/arrowtest"
)

func writeAll(t interface{ Fatal(...any) }, mem memory.Allocator, schema *arrow.Schema, opts Options, recs ...arrow.Record) []byte {
	var out bytes.Buffer
	w, err := NewWriter(&out, schema, mem, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is read back equals what was written, and the bytes do not depend on how
// rows were cut into records.
func TestWriteReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		schema := arrowtest.Schema(t)
		rec := arrowtest.Record(t, mem, schema, rapid.IntRange(0, 100).Draw(t, "rows"))
		opts := Options{
			BatchRows:   rapid.IntRange(1, 40).Draw(t, "batch rows"),
			BatchBytes:  rapid.Int64Range(1, 2000).Draw(t, "batch bytes"),
			Compression: rapid.SampledFrom([]string{"", "zstd", "lz4"}).Draw(t, "compression"),
		}
		data := writeAll(t, mem, schema, opts, rec)
		cut := arrowtest.Cut(t, rec)
		if !bytes.Equal(data, writeAll(t, mem, schema, opts, cut...)) {
			t.Fatalf("bytes differ between one record and %d records", len(cut))
		}
		for _, c := range cut {
			c.Release()
		}

		r, err := ipc.NewFileReader(bytes.NewReader(data), ipc.WithAllocator(mem))
		if err != nil {
			t.Fatal(err)
		}
		var got []arrow.Record
		for i := range r.NumRecords() {
			batch, err := r.RecordAt(i)
			if err != nil {
				t.Fatal(err)
			}
			if batch.NumRows() > int64(opts.BatchRows) || batch.NumRows() == 0 {
				t.Fatalf("a batch of %d rows", batch.NumRows())
			}
			got = append(got, batch)
		}
		if !r.Schema().Equal(schema) {
			t.Fatalf("schema is %s", r.Schema())
		}
		if diff := cmp.Diff(arrowtest.Rows(rec), arrowtest.Rows(got...)); diff != "" {
			t.Fatalf("read back (-written +read):\n%s", diff)
		}
		for _, g := range got {
			g.Release()
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		rec.Release()
		mem.AssertSize(failer{t}, 0)
	})
}

// failer makes rapid's T do for AssertSize.
type failer struct{ *rapid.T }

func (failer) Helper() {}

func TestBatchesEndByBytes(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for range 7 {
		b.Field(0).(*array.StringBuilder).Append("123456") // 10 bytes with its length
	}
	rec := b.NewRecord()
	defer rec.Release()
	data := writeAll(t, memory.DefaultAllocator, schema, Options{BatchBytes: 25}, rec)
	r, err := ipc.NewFileReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var rows []int64
	for i := range r.NumRecords() {
		batch, err := r.RecordAt(i)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, batch.NumRows())
		batch.Release()
	}
	if diff := cmp.Diff([]int64{3, 3, 1}, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOptionsReportAllFaults(t *testing.T) {
	err := Options{BatchRows: -1, BatchBytes: -1, Compression: "gzip"}.Validate()
	for _, part := range []string{"batch rows", "batch bytes", `"gzip"`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error does not name %s: %v", part, err)
		}
	}
}
