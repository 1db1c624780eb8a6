package tokenrange

import (
	"cmp"
	"slices"
)

// draft is a split on its way into a plan.
type draft struct {
	Split
	weight float64
	equals int // how many of the first replicas may stand in for the very first
}

// drafts returns the splits of ranges, with their replicas and estimates.
func (p *planner) drafts(pieces []Range) []draft {
	drafts := make([]draft, len(pieces))
	for i, r := range pieces {
		nodes, equals := p.placement.holders(r)
		held := p.estimator.of(r)
		split := NewSplit(r, p.placement.ids(nodes)...)
		split.Partitions, split.Bytes = saturate(held.partitions), saturate(held.bytes)
		drafts[i] = draft{split, p.weight(r), equals}
	}
	return drafts
}

// balance turns the replicas of the drafts so that each node is first for about equal weights,
// dealing with the heaviest first so that the others can make up for them. The order behind the
// first stays that of the ring, so that the work of a node that fails goes to several others.
func balance(drafts []draft) {
	order := make([]*draft, 0, len(drafts))
	for i := range drafts {
		order = append(order, &drafts[i])
	}
	slices.SortFunc(order, func(a, b *draft) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), a.Range.Compare(b.Range))
	})
	load := make(map[string]float64)
	for _, d := range order {
		if d.equals == 0 {
			continue
		}
		equals := d.Replicas[:d.equals]
		first := 0
		for i, node := range equals {
			if load[node] < load[equals[first]] {
				first = i
			}
		}
		copy(equals, slices.Concat(equals[first:], equals[:first]))
		load[equals[0]] += d.weight
	}
}

// inOrderOfWork returns the splits in the order in which to read them: those of each node in an
// order that the seed gives, and the nodes in turns that spread the splits of each evenly
// over the whole. Two splits with the same first replica follow each other only where one node is
// first for more than half of them.
func inOrderOfWork(drafts []draft, seed uint64) []Split {
	queues := make(map[string][]Split)
	for _, d := range drafts {
		queues[d.preferred()] = append(queues[d.preferred()], d.Split)
	}
	type turn struct {
		splits []Split
		share  int // number of splits at first
		credit int // what is owed to the node, in splits times the number of all splits
	}
	var turns []*turn
	for _, q := range queues {
		slices.SortFunc(q, func(a, b Split) int {
			return cmp.Or(cmp.Compare(shuffled(a, seed), shuffled(b, seed)), a.Range.Compare(b.Range))
		})
		turns = append(turns, &turn{splits: q, share: len(q)})
	}
	slices.SortFunc(turns, func(a, b *turn) int {
		x, y := a.splits[0], b.splits[0]
		return cmp.Or(cmp.Compare(shuffled(x, seed), shuffled(y, seed)), x.Range.Compare(y.Range))
	})

	ordered := make([]Split, 0, len(drafts))
	var last *turn
	for left := len(drafts); left > 0; left-- {
		// Each turn gives every node its share of credit; the node with most goes and pays one
		// split. The one that went before waits, and one that has more than half of what is left
		// goes in any case, or the end would be all its own.
		var next *turn
		for _, t := range turns {
			t.credit += t.share
			if t == last || len(t.splits) == 0 {
				continue
			}
			if 2*len(t.splits) > left {
				next = t
			}
			if next == nil || (2*len(next.splits) <= left && t.credit > next.credit) {
				next = t
			}
		}
		if next == nil {
			next = last
		}
		next.credit -= len(drafts)
		ordered = append(ordered, next.splits[0])
		next.splits = next.splits[1:]
		last = next
	}
	return ordered
}

// shuffled returns a number for the split that depends on the seed and looks random: the mix of
// SplitMix64 (Steele, Lea and Flood 2014), fixed here so that a seed always gives the same order.
func shuffled(s Split, seed uint64) uint64 {
	h := seed
	for _, part := range [...]uint64{s.Range.Start.hi, s.Range.Start.lo} {
		h += part + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
