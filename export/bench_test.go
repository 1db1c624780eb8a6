package export

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/tokenrange"
)

// imageMetadata makes rows like those of a table of image metadata, 9 columns, as
// a scan gives them.
func imageMetadata(rows int, seed uint64) arrow.Record {
	cql := func(name, cql string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: name != "image_id", Metadata: arrow.NewMetadata([]string{"cql"}, []string{cql})}
	}
	text := arrow.BinaryTypes.String
	schema := arrow.NewSchema([]arrow.Field{
		cql("image_id", "timeuuid", &arrow.FixedSizeBinaryType{ByteWidth: 16}),
		cql("object_store", "text", text), cql("object_key", "text", text), cql("content_hash", "text", text),
		cql("width", "int", arrow.PrimitiveTypes.Int32), cql("height", "int", arrow.PrimitiveTypes.Int32),
		cql("capture_time", "timestamp", arrow.FixedWidthTypes.Timestamp_ms), cql("upload_time", "timestamp", arrow.FixedWidthTypes.Timestamp_ms),
		cql("attributes", "map<text, text>", arrow.MapOf(text, text)),
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	r := rand.New(rand.NewPCG(seed, 2))
	column := func(i int) *array.StringBuilder { return b.Field(i).(*array.StringBuilder) }
	attrs := b.Field(8).(*array.MapBuilder)
	id := make([]byte, 16)
	for range rows {
		device := r.IntN(5000)
		at := int64(1_748_736_000_000 + r.IntN(2_592_000_000))
		for i := range id[:10] {
			id[i] = byte(r.Uint32())
		}
		id[6] = 0x11
		b.Field(0).(*array.FixedSizeBinaryBuilder).Append(id)
		column(1).Append([]string{"s3://field-images-eu", "s3://field-images-us", "gs://plots"}[device%3])
		column(2).Append(fmt.Sprintf("2025/06/%02d/device-%05d/%x.jpg", r.IntN(30)+1, device, id))
		column(3).Append(fmt.Sprintf("%016x%016x%016x%016x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()))
		size := r.IntN(4)
		b.Field(4).(*array.Int32Builder).Append([]int32{640, 1024, 1920, 3840}[size])
		b.Field(5).(*array.Int32Builder).Append([]int32{480, 768, 1080, 2160}[size])
		b.Field(6).(*array.TimestampBuilder).Append(arrow.Timestamp(at))
		b.Field(7).(*array.TimestampBuilder).Append(arrow.Timestamp(at + int64(r.IntN(600_000))))
		attrs.Append(true)
		for k, key := range []string{"camera", "region", "weather"} {
			attrs.KeyBuilder().(*array.StringBuilder).Append(key)
			attrs.ItemBuilder().(*array.StringBuilder).Append([][]string{{"CAM-X100", "CAM-X200"}, {"region-7", "region-9"}, {"rain", "sunny"}}[k][r.IntN(2)])
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

// One iteration is one record of 5,000 rows, shaped and written to a part.
func BenchmarkPart(b *testing.B) {
	recs := make([]arrow.Record, 20)
	for i := range recs {
		recs[i] = imageMetadata(5000, uint64(i))
	}
	for _, format := range formats {
		b.Run(string(format), func(b *testing.B) {
			d, err := New(recs[0].Schema(), Options{WorkDir: b.TempDir(), Format: format, NoSync: true})
			if err != nil {
				b.Fatal(err)
			}
			p, err := d.Begin(b.Context(), tokenrange.Split{ID: "a"})
			if err != nil {
				b.Fatal(err)
			}
			rows, cpu := 0, cpuSeconds()
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Write(b.Context(), recs[rows/5000%len(recs)]); err != nil {
					b.Fatal(err)
				}
				rows += 5000
			}
			if err := p.Commit(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(rows)/(cpuSeconds()-cpu), "rows/cpu-s")
			b.ReportMetric(float64(p.file.size)/float64(rows), "B/row")
			b.ReportMetric(0, "ns/op") // the wall clock says little on a shared machine
		})
	}
}

// Files are strung together from parts of 200,000 rows: one iteration is 1,000,000 rows.
func BenchmarkFinish(b *testing.B) {
	rec := imageMetadata(20_000, 1)
	defer rec.Release()
	for _, format := range formats {
		b.Run(string(format), func(b *testing.B) {
			d, err := New(rec.Schema(), Options{WorkDir: b.TempDir(), Format: format, NoSync: true})
			if err != nil {
				b.Fatal(err)
			}
			var splits []string
			for i := range 5 {
				p, err := d.Begin(b.Context(), tokenrange.Split{ID: fmt.Sprint(i)})
				if err != nil {
					b.Fatal(err)
				}
				for range 10 {
					if err := p.Write(b.Context(), rec); err != nil {
						b.Fatal(err)
					}
				}
				if err := p.Commit(b.Context()); err != nil {
					b.Fatal(err)
				}
				splits = append(splits, fmt.Sprint(i))
			}
			rows, cpu := int64(0), cpuSeconds()
			b.ReportAllocs()
			for b.Loop() {
				res, err := d.Finish(b.Context(), splits, b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				rows += res.Rows
			}
			b.ReportMetric(float64(rows)/(cpuSeconds()-cpu), "rows/cpu-s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// What an open part holds stays within bounds, however many rows it has been given.
func TestMemoryOfAnOpenPart(t *testing.T) {
	rec := imageMetadata(5000, 1)
	defer rec.Release()
	for _, format := range formats {
		t.Run(string(format), func(t *testing.T) {
			d := newDataset(t, rec.Schema(), Options{WorkDir: t.TempDir(), Format: format})
			p, err := d.Begin(t.Context(), tokenrange.Split{ID: "a"})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Abort()
			var peak uint64
			before := liveBytes()
			for i := range 120 { // 600,000 rows, more than four row groups
				if err := p.Write(t.Context(), rec); err != nil {
					t.Fatal(err)
				}
				if i%10 == 9 {
					peak = max(peak, liveBytes())
				}
			}
			const most = 32 << 20
			if held := int64(peak) - int64(before); held > most {
				t.Errorf("an open part holds %d MB, want at most %d", held>>20, most>>20)
			} else {
				t.Logf("an open part holds %.1f MB", float64(held)/(1<<20))
			}
		})
	}
}

// liveBytes is the memory in use after collecting garbage.
func liveBytes() uint64 {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
