package trainset

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export"
	"manifest/internal/tokensort"
	"manifest/tokenrange"
)

var (
	buildRows   = flag.String("build-rows", "50000,100000,200000", "numbers of selected images of BenchmarkBuild")
	buildPlain  = flag.Bool("build-plain", false, "make BenchmarkBuild read the tag index alone, and keep the 500,000 smallest hashes")
	buildMemory = flag.Int64("build-memory", 64<<20, "memory of BenchmarkBuild")
)

// BenchmarkBuild joins, deduplicates, samples, splits and writes generated images; the time per image should not grow with their number.
//
//	go test ./internal/trainset -run xx -bench Build -benchtime 1x -build-rows 1000000,5000000,10000000 -build-memory 1000000000
func BenchmarkBuild(b *testing.B) {
	for text := range strings.SplitSeq(*buildRows, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(*buildMemory)) // as the command does
			ids := idsByToken(n)
			before := cpuSeconds(b)
			b.ResetTimer()
			for b.Loop() {
				benchmarkBuild(b, ids)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/image")
			b.ReportMetric((cpuSeconds(b)-before)*1e9/float64(b.N)/float64(n), "cpu-ns/image") // what other processes do makes no difference to it
			b.ReportMetric(peakMiB(b), "peak-MiB")                                             // of the process, with 16 bytes per image of the generator
		})
	}
}

// cpuSeconds are those that the process has used.
func cpuSeconds(b *testing.B) float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// peakMiB is the most memory that the process has had.
func peakMiB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("no /proc here")
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}

// idsByToken makes ids in the order of their tokens.
func idsByToken(n int) [][16]byte {
	ids := make([][16]byte, n)
	for i := range ids {
		binary.BigEndian.PutUint64(ids[i][:], uint64(i)*0x9e3779b97f4a7c15)
		binary.BigEndian.PutUint64(ids[i][8:], uint64(i))
	}
	slices.SortFunc(ids, func(a, c [16]byte) int {
		return tokenrange.Murmur3.Token(a[:]).Compare(tokenrange.Murmur3.Token(c[:]))
	})
	return ids
}

func benchmarkBuild(b *testing.B, ids [][16]byte) {
	ctx := context.Background()
	spec := Spec{Tags: parseTags(b, "leaf_spot"), Splits: splits(b, "train=0.8,validation=0.1,test=0.1"), GroupBy: []string{"device"}}
	if *buildPlain {
		spec = Spec{Tags: spec.Tags, AnyStatus: true, NoDedupe: true, Limit: 500_000, Columns: []string{"image_id", "object_key", "device_id", "capture_time"}}
	}
	p, err := NewPlan(spec, imageTables(b))
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	mkdir := func(name string) string {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			b.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	builder, err := p.NewBuilder(Options{Dir: mkdir("work"), Memory: *buildMemory})
	if err != nil {
		b.Fatal(err)
	}
	defer builder.Close()
	gathered := Gathered{}
	for i, read := range p.Reads() {
		runs := gatherGenerated(b, p, read, ids, builder.Candidates(), mkdir(string(read.Role)))
		defer runs.Close()
		gathered[read.Role] = runs
		if i == 0 {
			if err := builder.Select(ctx, runs); err != nil {
				b.Fatal(err)
			}
		}
	}
	w, err := builder.Make(ctx, gathered, nil, WriteOptions{Dir: mkdir("out"), PartsDir: mkdir("parts"), Files: export.Options{NoSync: true}})
	if err != nil {
		b.Fatal(err)
	}
	if w.Counts.Candidates != int64(len(ids)) || w.Counts.Kept < min(int64(len(ids))*9/10, 500_000) {
		b.Fatalf("%+v", w.Counts)
	}
}

// gatherGenerated hands generated rows to a gatherer, in eight splits.
func gatherGenerated(b *testing.B, p *Plan, read *Read, ids [][16]byte, candidates, dir string) *tokensort.Sorter {
	ctx := context.Background()
	g, err := p.Gather(read, GatherOptions{Dir: dir, Memory: *buildMemory / 8, Partitioner: tokenrange.Murmur3, Candidates: candidates})
	if err != nil {
		b.Fatal(err)
	}
	selected, err := read.Table.Select(read.Columns)
	if err != nil {
		b.Fatal(err)
	}
	schema, err := read.Table.Arrow(selected)
	if err != nil {
		b.Fatal(err)
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	var names []string
	next := 0
	for _, r := range tokenrange.Murmur3.Ring().Split(8) {
		part, err := g.Begin(ctx, tokenrange.NewSplit(r))
		if err != nil {
			b.Fatal(err)
		}
		names = append(names, r.ID())
		for next < len(ids) && r.Contains(tokenrange.Murmur3.Token(ids[next][:])) {
			n := 0
			for ; n < 5000 && next < len(ids) && r.Contains(tokenrange.Murmur3.Token(ids[next][:])); n++ {
				id := ids[next]
				if read.Role == Tags { // index rows are in an order of their own
					id = ids[next*7919%len(ids)]
					if len(ids)%7919 == 0 {
						id = ids[next]
					}
				}
				appendGenerated(builder, read.Columns, id)
				next++
			}
			rec := builder.NewRecord()
			if err := part.Write(ctx, rec); err != nil {
				b.Fatal(err)
			}
			rec.Release()
		}
		if err := part.Commit(ctx); err != nil {
			b.Fatal(err)
		}
	}
	runs, err := g.Runs(ctx, tokensort.Options{Dir: dir}, names)
	if err != nil {
		b.Fatal(err)
	}
	return runs
}

func appendGenerated(b *array.RecordBuilder, columns []string, id [16]byte) {
	i := int64(binary.BigEndian.Uint64(id[8:]))
	for c, name := range columns {
		switch f := b.Field(c).(type) {
		case *array.FixedSizeBinaryBuilder:
			f.Append(bytes.Clone(id[:]))
		case *array.Int32Builder:
			f.Append(int32(i%4) * 640)
		case *array.TimestampBuilder:
			f.Append(arrow.Timestamp(1_750_000_000_000 + i*17))
		case *array.Date32Builder:
			f.Append(arrow.Date32(20_250 + i%30))
		case *array.MapBuilder:
			f.Append(true)
			f.KeyBuilder().(*array.StringBuilder).Append("weather")
			f.ItemBuilder().(*array.StringBuilder).Append("rain")
		case *array.StringBuilder:
			switch name {
			case "tag":
				f.Append("leaf_spot")
			case "status":
				f.Append("approved")
			case "device_id":
				f.Append(fmt.Sprint("device-", i%5000))
			case "content_hash":
				n := uint64(i - i%40/39)
				f.Append(fmt.Sprintf("%016x%048x", n*0x9e3779b97f4a7c15, n))
			default:
				f.Append(fmt.Sprint("2025/06/", i, ".jpg"))
			}
		}
	}
}
