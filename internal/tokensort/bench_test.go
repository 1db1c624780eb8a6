package tokensort

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkSort sorts rows of 100 bytes with 16 MiB of memory; the time per row should not grow with the rows.
func BenchmarkSort(b *testing.B) {
	for _, rows := range []int{250_000, 500_000, 1_000_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			key, value := make([]byte, 32), make([]byte, 68)
			for b.Loop() {
				random := rand.New(rand.NewPCG(1, 2))
				s, err := NewSorter(Options{Dir: b.TempDir(), Memory: 16 << 20})
				if err != nil {
					b.Fatal(err)
				}
				for range rows {
					binary.BigEndian.PutUint64(key[8:], random.Uint64())
					binary.BigEndian.PutUint64(value, random.Uint64())
					if err := s.Add(key, value); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Sort(b.Context()); err != nil {
					b.Fatal(err)
				}
				in, err := s.Open()
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				if err := Each(b.Context(), in, func([]byte, []byte) error { n++; return nil }); err != nil || n != rows {
					b.Fatal(n, err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}

// BenchmarkMerge merges runs in memory, as those of the splits of a table.
func BenchmarkMerge(b *testing.B) {
	for _, runs := range []int{4, 32} {
		b.Run(fmt.Sprint(runs), func(b *testing.B) {
			const rows = 400_000
			random := rand.New(rand.NewPCG(1, 2))
			var sorters []*Sorter
			for range runs {
				s, err := NewSorter(Options{Memory: 1 << 30})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				key, value := make([]byte, 34), make([]byte, 60)
				for range rows / runs {
					binary.BigEndian.PutUint64(key[8:], random.Uint64())
					if err := s.Add(key, value); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Sort(b.Context()); err != nil {
					b.Fatal(err)
				}
				sorters = append(sorters, s)
			}
			for b.Loop() {
				var streams []Stream
				for _, s := range sorters {
					in, err := s.Open()
					if err != nil {
						b.Fatal(err)
					}
					streams = append(streams, in)
				}
				n := 0
				if err := Each(b.Context(), Merge(streams...), func([]byte, []byte) error { n++; return nil }); err != nil || n != rows/runs*runs {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
