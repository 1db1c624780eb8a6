package main

import (
	"testing"

	"manifest/tokenrange"
)

// Partition keys are a few bytes each, of however many bytes of rows: a thousand of them make a split.
func TestSplitsOfKeys(t *testing.T) {
	plan := func(splits int, partitions int64, nodes ...string) (p tokenrange.Plan) {
		for i := range splits {
			p.Splits = append(p.Splits, tokenrange.Split{Partitions: partitions, Replicas: []string{nodes[i%len(nodes)]}})
		}
		return p
	}
	for _, c := range []struct {
		name  string
		asked int
		plan  tokenrange.Plan
		want  int
	}{
		{"few keys of many rows", 0, plan(29, 22, "a"), 1},
		{"each node has its own", 0, plan(30, 22, "a", "b", "c"), 3},
		{"many keys", 0, plan(100, 25_000, "a", "b"), 100},
		{"a split for each thousand", 0, plan(100, 250, "a"), 26},
		{"no more than of rows", 0, plan(2, 1_000_000, "a"), 2},
		{"nothing is known of the size", 0, plan(29, 0, "a"), 0},
		{"--splits", 7, plan(7, 22, "a"), 7},
	} {
		if got := splitsOfKeys(scanOptions{splits: c.asked}, c.plan); got != c.want {
			t.Errorf("%s: %d splits, not %d", c.name, got, c.want)
		}
	}
}
