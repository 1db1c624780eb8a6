package selection

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

const benchRows = 65_536

// imageRecord has the columns of image_metadata, with four attributes in each row.
func imageRecord() ([]Column, arrow.Record) {
	columns := columnsOf("image_id timeuuid; object_store text; object_key text; content_hash text; width int; height int; capture_time timestamp; " +
		"upload_time timestamp; attributes map<text, text>")
	weather := []string{"rain", "sun", "fog", "snow"}
	rows := make([][]any, benchRows)
	for i := range rows {
		rows[i] = []any{
			fmt.Sprintf("%08x-0000-1000-8000-000000000000", i), "s3-eu-central", fmt.Sprintf("images/2025/06/%08d.jpg", i), fmt.Sprintf("%064x", i),
			640 + i%4096, 480 + i%3000, int64(1_750_000_000_000 + i), int64(1_750_000_060_000 + i),
			[]entry{{"region", "north"}, {"device_id", fmt.Sprintf("cam-%04d", i%1000)}, {"weather", weather[i%4]}, {"firmware", "1.2.3"}},
		}
	}
	return columns, recordOf(memory.DefaultAllocator, columns, rows)
}

var benchConditions = []struct{ name, text string }{
	{"int", "width >= 1024"},
	{"ints", "width >= 1024 AND height >= 768 AND width > height"},
	{"text", "object_store = 's3-eu-central'"},
	{"glob", "object_key GLOB 'images/2025/*7.jpg'"},
	{"day", "day(capture_time) BETWEEN '2025-06-01' AND '2025-06-30'"},
	{"mapkey", "attributes['weather'] = 'rain'"},
	{"timeuuid", "image_id > 00004000-0000-1000-8000-000000000000"},
	{"manual", "width >= 1024 AND attributes['weather'] = 'rain'"},
}

func reportRows(b *testing.B) {
	b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkMask evaluates conditions; its allocations are per record, not per row.
func BenchmarkMask(b *testing.B) {
	columns, rec := imageRecord()
	defer rec.Release()
	for _, bc := range benchConditions {
		b.Run(bc.name, func(b *testing.B) {
			f := mustFilter(b, bc.text, columns)
			var mask []bool
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if mask, err = f.Mask(mask[:0], rec); err != nil {
					b.Fatal(err)
				}
			}
			reportRows(b)
		})
	}
}

// BenchmarkApply keeps one row in n of all nine columns.
func BenchmarkApply(b *testing.B) {
	columns, rec := imageRecord()
	defer rec.Release()
	for _, bc := range []struct{ name, text string }{
		{"all", "width > 0"},
		{"half", "attributes['weather'] IN ('rain', 'fog')"},
		{"quarter", "attributes['weather'] = 'rain'"},
		{"run", "capture_time >= 1750000032768"},
		{"one", "width = 640 AND capture_time = 1750000000000"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			f := mustFilter(b, bc.text, columns)
			b.ReportAllocs()
			for b.Loop() {
				kept, err := f.Apply(memory.DefaultAllocator, rec)
				if err != nil {
					b.Fatal(err)
				}
				kept.Release()
			}
			reportRows(b)
		})
	}
}
