package queries

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// benchRows is how many different rows a benchmark has; they are read over and over.
const (
	benchRows   = 1 << 20
	benchRecord = 8192
)

// mix is a hash, for values that look random and are the same in every run.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

const benchDay = 20_000 // 2024-10-04

// benchValue appends value i of a column of the images tables: 90 days, 2,000 devices, 16 sizes and some odd ones, 50 tags.
func benchValue(b array.Builder, name string, i int) {
	r := mix(uint64(i))
	day := int64(benchDay + r%90)
	captured := day*86_400_000 + int64(mix(r)%86_400_000)
	sizes := [...][2]int32{{4000, 3000}, {640, 480}, {1920, 1080}, {3840, 2160}, {1280, 720}, {5472, 3648}, {3000, 4000}, {2592, 1944}}
	size := sizes[mix(r+1)%8]
	if r%50 == 0 {
		size = [2]int32{int32(mix(r+2) % 6000), int32(mix(r+3) % 4000)}
	}
	switch name {
	case "image_id":
		u := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, mix(r+4)), mix(r+5))
		u[6], u[8] = u[6]&0x0f|0x10, u[8]&0x3f|0x80
		b.(*array.FixedSizeBinaryBuilder).Append(u)
	case "width":
		b.(*array.Int32Builder).Append(size[0])
	case "height":
		b.(*array.Int32Builder).Append(size[1])
	case "capture_time":
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(captured))
	case "upload_time":
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(captured + int64(mix(r+6)%600_000)))
	case "content_hash":
		b.(*array.StringBuilder).Append(fmt.Sprintf("%016x%016x", mix(r+7), mix(r+8)))
	case "attributes":
		m := b.(*array.MapBuilder)
		m.Append(true)
		for k, v := range map[string]string{"region": fmt.Sprintf("region-%02d", r%20), "lens": "wide", "firmware": "1.2.3"} {
			m.KeyBuilder().(*array.StringBuilder).Append(k)
			m.ItemBuilder().(*array.StringBuilder).Append(v)
		}
	case "device_id": // In partitions of 256 rows.
		b.(*array.StringBuilder).Append(fmt.Sprintf("device-%05d", mix(uint64(i/256))%2000))
	case "tag":
		b.(*array.StringBuilder).Append(fmt.Sprintf("tag-%02d", mix(uint64(i/256))%50))
	case "day_bucket":
		b.(*array.Date32Builder).Append(arrow.Date32(benchDay + i/256))
	}
}

// benchRecords are a million rows of the columns of a query.
func benchRecords(b *testing.B, table Table, q *Query) []arrow.Record {
	schema := schemaOf(b, table, q.Columns())
	var records []arrow.Record
	for at := 0; at < benchRows; at += benchRecord {
		rb := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := at; i < at+benchRecord; i++ {
			for c, f := range schema.Fields() {
				benchValue(rb.Field(c), f.Name, i)
			}
		}
		records = append(records, rb.NewRecord())
	}
	return records
}

// report runs f, which handles benchRows rows, and reports its speed also per second of processor time, for machines with other work.
func report(b *testing.B, f func() error) {
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	rows := float64(b.N) * benchRows
	b.ReportMetric(rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
	b.ReportMetric(rows/(cpuTime(b)-before).Seconds()/1e6, "Mrows/cpu-s")
}

// benchmark reads a million rows into one part per iteration.
func benchmark(b *testing.B, table Table, q *Query) {
	records := benchRecords(b, table, q)
	a, err := New(q, Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	report(b, func() error { return commitRecords(b, a, records) })
}

func commitRecords(b *testing.B, a *Aggregation, records []arrow.Record) error {
	part, err := a.Begin(b.Context(), splitOf(0))
	if err != nil {
		return err
	}
	for _, rec := range records {
		if err := part.Write(b.Context(), rec); err != nil {
			return err
		}
	}
	return part.Commit(b.Context())
}

// cpuTime returns the time that the process has spent on processors.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkStatistic(b *testing.B) {
	tables := map[Role]Table{ImageMetadata: metadataTable(b), DeviceDaily: deviceTable(b), TagIndex: tagTable(b)}
	for _, s := range Statistics() {
		b.Run(s.Name, func(b *testing.B) {
			q, err := s.Compile(tables[s.Role], NamedOptions{})
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, tables[s.Role], q)
		})
	}
}

func BenchmarkGrouping(b *testing.B) {
	for _, bc := range []struct {
		name string
		spec Spec
	}{
		{"width by day", Spec{By: "day(capture_time), width"}},
		{"three keys", Spec{By: "attributes['region'], day(capture_time), width", Agg: "count, sum(height), max(capture_time)"}},
		{"everything of a day", Spec{By: "day(capture_time)", Agg: "count, avg(width), distinct(content_hash), quantiles(height)"}},
		{"partitions", Spec{By: "image_id", Agg: "count, max(width)"}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			q, err := Compile(metadataTable(b), bc.spec)
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, metadataTable(b), q)
		})
	}
}

// BenchmarkFinish merges a part of a million groups.
func BenchmarkFinish(b *testing.B) {
	for name, spec := range map[string]Spec{"by token": {By: "image_id", Agg: "count, max(width)"}, "by key": {By: "content_hash", Agg: "count, max(width)"}} {
		b.Run(name, func(b *testing.B) {
			q, err := Compile(metadataTable(b), spec)
			if err != nil {
				b.Fatal(err)
			}
			a, err := New(q, Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			if err := commitRecords(b, a, benchRecords(b, metadataTable(b), q)); err != nil {
				b.Fatal(err)
			}
			report(b, func() error {
				return a.Finish(b.Context(), []string{splitOf(0).ID}, func(string, *arrow.Date32, arrow.Record) error { return nil })
			})
		})
	}
}
