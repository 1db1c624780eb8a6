package sstable_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/sstable"
	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/oracle"
	"manifest/tokenrange"
)

var benchRows = flag.Int("rows", 1_000_000, "rows of the table that benchmarks read; it is written once, to the folder for temporary files")

// images gives the folder of the benchmarks' table.
func images(b *testing.B, version string) string {
	b.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("manifest-images-%s-%d", version, *benchRows))
	if _, err := os.Stat(filepath.Join(dir, "schema.cql")); err != nil {
		if err := oracle.WriteImages(b.Context(), version, *benchRows, dir); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// report adds rows per second of processor time, which other programs on the
// machine disturb less than that of the clock.
func report(b *testing.B, run func()) {
	cpu := cpuTime(b)
	for b.Loop() {
		run()
	}
	rows := float64(*benchRows) * float64(b.N)
	b.ReportMetric(rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
	b.ReportMetric(rows/(cpuTime(b)-cpu).Seconds()/1e6, "Mrows/cpu-s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkChunks only decompresses and verifies: what no reader can do without.
func BenchmarkChunks(b *testing.B) {
	sets, err := component.Find(b.Context(), component.Dir(images(b, "oa")))
	if err != nil {
		b.Fatal(err)
	}
	f, err := chunk.Open(b.Context(), sets[0])
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	report(b, func() {
		w := f.NewWindow(chunk.WindowOptions{})
		defer w.Close()
		for view := []byte(nil); w.Offset()+int64(len(view)) < w.Size(); {
			if view, err = w.Next(len(view), 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for _, c := range []struct {
		name    string
		version string
		columns []string
		workers int
	}{
		{"Sizes", "oa", []string{"width", "height"}, 1},
		{"Sizes/bti", "da", []string{"width", "height"}, 1},
		{"Sizes/2 workers", "oa", []string{"width", "height"}, 2},
		{"Attributes", "oa", []string{"attributes"}, 1},
		{"All", "oa", nil, 1},
		{"All/2 workers", "oa", nil, 2},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := images(b, c.version)
			text, err := os.ReadFile(filepath.Join(dir, "schema.cql"))
			if err != nil {
				b.Fatal(err)
			}
			table, err := openFolders(string(text), component.Dir(dir))
			if err != nil {
				b.Fatal(err)
			}
			defer table.Close()
			columns := c.columns
			if columns == nil {
				columns = table.Schema().Table.Names()
			}
			report(b, func() { scanParallel(b, table, columns, c.workers) })
		})
	}
}

// scanParallel reads the table in ranges, by so many workers.
func scanParallel(b *testing.B, table *sstable.Table, columns []string, workers int) {
	var wg sync.WaitGroup
	ranges := make(chan tokenrange.Range, 64)
	for _, r := range table.Partitioner().Ring().Split(16 * workers) {
		ranges <- r
	}
	close(ranges)
	for range workers {
		wg.Go(func() {
			for r := range ranges {
				q := sstable.Query{Range: r, Columns: columns, Now: time.Now().Unix()}
				if _, err := table.Scan(b.Context(), q, sstable.Options{}, func(arrow.Record) error { return nil }); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
