package tokenrange_test

import (
	"bytes"
	"testing"

	"manifest/tokenrange"
)

func BenchmarkToken(b *testing.B) {
	for _, bench := range []struct {
		name        string
		partitioner tokenrange.Partitioner
		length      int
	}{
		{"murmur3/uuid", tokenrange.Murmur3, 16},
		{"murmur3/device-day", tokenrange.Murmur3, 27},
		{"random/uuid", tokenrange.Random, 16},
	} {
		b.Run(bench.name, func(b *testing.B) {
			key := bytes.Repeat([]byte{0x9f}, bench.length)
			b.SetBytes(int64(bench.length))
			b.ReportAllocs()
			for b.Loop() {
				bench.partitioner.Token(key)
			}
		})
	}
}

// BenchmarkNewPlan plans on 1,000 nodes of 256 vnodes: a table whose ranges are merged, one for
// which the ring decides, and one that reaches the bound.
func BenchmarkNewPlan(b *testing.B) {
	ring := mustRing(b, cluster(1000, 256)...)
	strategy := network(b, "dc:3")
	for _, bench := range []struct {
		name      string
		estimates []tokenrange.Estimate
	}{
		{"small", sized(ring, 1_000_000, 300)},
		{"unknown", nil},
		{"large", sized(ring, 100_000_000_000, 300)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := tokenrange.NewPlan(ring, strategy, bench.estimates, tokenrange.PlanOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewRing(b *testing.B) {
	nodes := cluster(1000, 256)
	for b.Loop() {
		if _, err := tokenrange.NewRing(tokenrange.Murmur3, nodes); err != nil {
			b.Fatal(err)
		}
	}
}
