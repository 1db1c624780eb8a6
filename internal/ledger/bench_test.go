package ledger

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// counted counts the fsyncs of a file.
type counted struct {
	logFile
	syncs atomic.Int64
}

func (c *counted) Sync() error {
	c.syncs.Add(1)
	return c.logFile.Sync()
}

// BenchmarkCommit commits from more and more goroutines at a time, on the disk
// that holds the temporary directory.
func BenchmarkCommit(b *testing.B) {
	for _, goroutines := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			l, err := Create(filepath.Join(b.TempDir(), "run"), testHeader())
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			file := &counted{logFile: l.file}
			l.file = file
			var next atomic.Int64
			b.ResetTimer()
			var workers sync.WaitGroup
			for range goroutines {
				workers.Go(func() {
					for {
						i := int(next.Add(1)) - 1
						if i >= b.N {
							return
						}
						if err := l.Commit(b.Context(), testReceipt(i)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			workers.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(float64(file.syncs.Load())/float64(b.N), "fsyncs/commit")
		})
	}
}

// BenchmarkRead reads the ledger of a run of 100,000 splits in shuffled order.
func BenchmarkRead(b *testing.B) {
	file := &memory{}
	l, err := begin(file, testHeader())
	if err != nil {
		b.Fatal(err)
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(100_000) {
		if err := l.Commit(b.Context(), testReceipt(i)); err != nil {
			b.Fatal(err)
		}
	}
	data := file.data
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
