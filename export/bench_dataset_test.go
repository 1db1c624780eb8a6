package export

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/imagegen"
	"manifest/tokenrange"
)

// generatedMetadata gives rows of the image_metadata that make bench loads, in an
// order as random as that of tokens, in records of a page of 5,000 rows.
func generatedMetadata(b *testing.B, schema *arrow.Schema, rows int) []arrow.Record {
	b.Helper()
	set, err := imagegen.New(imagegen.Options{Images: rows})
	if err != nil {
		b.Fatal(err)
	}
	all := slices.Collect(set.Metadata())
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	text := func(i int, s *string) {
		if s == nil {
			builder.Field(i).AppendNull()
		} else {
			builder.Field(i).(*array.StringBuilder).Append(*s)
		}
	}
	var recs []arrow.Record
	for page := range slices.Chunk(all, 5000) {
		for _, m := range page {
			builder.Field(0).(*array.FixedSizeBinaryBuilder).Append(m.ImageID[:])
			text(1, m.ObjectStore)
			text(2, m.ObjectKey)
			text(3, m.ContentHash)
			for i, n := range []*int32{m.Width, m.Height} {
				if n == nil {
					builder.Field(4 + i).AppendNull()
				} else {
					builder.Field(4 + i).(*array.Int32Builder).Append(*n)
				}
			}
			for i, at := range []*time.Time{m.CaptureTime, m.UploadTime} {
				if at == nil {
					builder.Field(6 + i).AppendNull()
				} else {
					builder.Field(6 + i).(*array.TimestampBuilder).Append(arrow.Timestamp(at.UnixMilli()))
				}
			}
			attributes := builder.Field(8).(*array.MapBuilder)
			if m.Attributes == nil {
				attributes.AppendNull()
				continue
			}
			attributes.Append(true)
			for _, key := range slices.Sorted(maps.Keys(m.Attributes)) {
				attributes.KeyBuilder().(*array.StringBuilder).Append(key)
				attributes.ItemBuilder().(*array.StringBuilder).Append(m.Attributes[key])
			}
		}
		recs = append(recs, builder.NewRecord())
	}
	return recs
}

// The whole of an export but the reading: parts of splits, the files made of them,
// and their checksums. One iteration is 200,000 rows; files are synced.
func BenchmarkDataset(b *testing.B) {
	schema := imageMetadata(0, 0).Schema()
	recs := generatedMetadata(b, schema, 200_000)
	for _, pages := range []int{20, 2} { // 100,000 rows a split, as of 32 MiB; and 10,000
		b.Run(fmt.Sprintf("split=%d", pages*5000), func(b *testing.B) {
			rows, size, cpu := int64(0), int64(0), cpuSeconds()
			b.ReportAllocs()
			for b.Loop() {
				dir := b.TempDir()
				d, err := New(schema, Options{WorkDir: dir, Format: Parquet})
				if err != nil {
					b.Fatal(err)
				}
				var splits []string
				for split := range slices.Chunk(recs, pages) {
					id := fmt.Sprintf("%04d", len(splits))
					p, err := d.Begin(b.Context(), tokenrange.Split{ID: id})
					if err != nil {
						b.Fatal(err)
					}
					for _, rec := range split {
						if err := p.Write(b.Context(), rec); err != nil {
							b.Fatal(err)
						}
					}
					if err := p.Commit(b.Context()); err != nil {
						b.Fatal(err)
					}
					splits = append(splits, id)
				}
				res, err := d.Finish(b.Context(), splits, filepath.Join(dir, "out"))
				if err != nil {
					b.Fatal(err)
				}
				rows += res.Rows
				for _, f := range res.Files {
					size += f.Bytes
				}
			}
			b.ReportMetric((cpuSeconds()-cpu)/float64(rows)*1e6, "cpu-s/Mrow")
			b.ReportMetric(float64(size)/float64(rows), "B/row")
			b.ReportMetric(0, "ns/op") // the wall clock says little on a shared machine
		})
	}
}
