package sampling

import (
	"fmt"
	"testing"
)

// BenchmarkDecide deduplicates, balances and splits rows with 16 MiB; the time per row should not grow with the rows.
func BenchmarkDecide(b *testing.B) {
	splits, err := ParseSplits("train=0.8,validation=0.1,test=0.1")
	if err != nil {
		b.Fatal(err)
	}
	for _, rows := range []int{100_000, 200_000, 400_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			for b.Loop() {
				d, err := New(Options{Dedupe: true, Splits: splits, Limit: int64(rows / 2), Balance: true, Dir: b.TempDir(), Memory: 16 << 20})
				if err != nil {
					b.Fatal(err)
				}
				for i := range rows {
					id := fmt.Appendf(nil, "%036d", i)
					group, _ := GroupKey(nil, fmt.Appendf(nil, "device-%d", i%1000))
					r := Row{ID: id, Name: id, ContentHash: fmt.Appendf(nil, "%064d", i*97%(rows*9/10)), Time: int64(i), HasTime: true, Group: group, Balance: group}
					if err := d.Add(r); err != nil {
						b.Fatal(err)
					}
				}
				decisions, err := d.Decide(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if err := decisions.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}
