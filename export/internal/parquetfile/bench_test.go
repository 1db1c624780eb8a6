package parquetfile

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// imageRecord makes rows like those of a table of image metadata, 9 columns.
func imageRecord(rows int, seed uint64) arrow.Record {
	utc := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	text := arrow.BinaryTypes.String
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "image_id", Type: text, Nullable: true, Metadata: arrow.NewMetadata([]string{"cql"}, []string{"timeuuid"})},
		{Name: "object_store", Type: text, Nullable: true}, {Name: "object_key", Type: text, Nullable: true},
		{Name: "content_hash", Type: text, Nullable: true},
		{Name: "width", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "height", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "capture_time", Type: utc, Nullable: true}, {Name: "upload_time", Type: utc, Nullable: true},
		{Name: "attributes", Nullable: true, Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.StructOf(
			arrow.Field{Name: "key", Type: text}, arrow.Field{Name: "value", Type: text, Nullable: true})})},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	r := rand.New(rand.NewPCG(seed, 2))
	column := func(i int) *array.StringBuilder { return b.Field(i).(*array.StringBuilder) }
	attrs := b.Field(8).(*array.ListBuilder)
	pair := attrs.ValueBuilder().(*array.StructBuilder)
	for range rows {
		device := r.IntN(5000)
		at := int64(1_748_736_000_000+r.IntN(2_592_000_000)) * 1000
		id := fmt.Sprintf("%08x-%04x-11f0-%04x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<16), 0x0242ac120000+device)
		column(0).Append(id)
		column(1).Append([]string{"s3://field-images-eu", "s3://field-images-us", "gs://plots"}[device%3])
		column(2).Append(fmt.Sprintf("2025/06/%02d/device-%05d/%s.jpg", r.IntN(30)+1, device, id))
		column(3).Append(fmt.Sprintf("%016x%016x%016x%016x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()))
		size := r.IntN(4)
		b.Field(4).(*array.Int32Builder).Append([]int32{640, 1024, 1920, 3840}[size])
		b.Field(5).(*array.Int32Builder).Append([]int32{480, 768, 1080, 2160}[size])
		b.Field(6).(*array.TimestampBuilder).Append(arrow.Timestamp(at))
		b.Field(7).(*array.TimestampBuilder).Append(arrow.Timestamp(at + int64(r.IntN(600_000))*1000))
		attrs.Append(true)
		for k, key := range []string{"camera", "region", "weather"} {
			pair.Append(true)
			pair.FieldBuilder(0).(*array.StringBuilder).Append(key)
			pair.FieldBuilder(1).(*array.StringBuilder).Append([][]string{{"CAM-X100", "CAM-X200"}, {"region-7", "region-9", "region-11"}, {"rain", "sunny", "cloudy"}}[k][r.IntN(2)])
		}
	}
	return b.NewRecord()
}

// cpuSeconds is the processor time that this process has used.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

type discard struct{ n int64 }

func (d *discard) Write(p []byte) (int, error) { d.n += int64(len(p)); return len(p), nil }

// One iteration is one record of 5,000 rows, the size of a page of CQL.
func BenchmarkWrite(b *testing.B) {
	recs := make([]arrow.Record, 20)
	for i := range recs {
		recs[i] = imageRecord(5000, uint64(i))
	}
	out := new(discard)
	w, err := NewWriter(out, recs[0].Schema(), Options{TempDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	rows, cpu := 0, cpuSeconds()
	b.ReportAllocs()
	for b.Loop() {
		rec := recs[rows/5000%len(recs)]
		if err := w.Write(rec); err != nil {
			b.Fatal(err)
		}
		rows += 5000
	}
	if _, err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(rows)/(cpuSeconds()-cpu), "rows/cpu-s")
	b.ReportMetric(0, "ns/op") // the wall clock says little on a shared machine
	b.ReportMetric(float64(out.n)/float64(rows), "B/row")
}
