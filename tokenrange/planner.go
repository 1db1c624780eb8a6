package tokenrange

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
)

// The numbers of splits that NewPlan decides on; see there.
const (
	splitsPerNode   = 4    // without estimates
	leastByRing     = 32   // without estimates, for small clusters
	keepApartFactor = 4    // replica sets are kept apart up to this many times the splits wanted
	evenShare       = 0.25 // part of the weight that is spread evenly, against estimates of 0
)

// NewPlan plans the reading of a table under the strategy of its keyspace.
//
// The number of splits is opts.Splits; or, by default, the estimated size of the asked part over
// the target; or, without estimates (none, or all of them 0, which is also what a node says of
// data it has not flushed), four for each node and at least 32 for the whole ring.
//
// Neighbouring ranges with the same set of replicas are one range, which is cut evenly where it
// holds more than a split's worth. Ranges of different replicas stay apart as long as that takes
// at most four times the splits wanted, because a split is read best from a node that holds all
// of it. Otherwise, as with a small table on a large ring of vnodes, neighbours are merged down
// to the number wanted.
//
// The replicas of a split are as [Placement.Replicas] has them, except that the first is chosen,
// among those as near that hold the split as well (or, where none holds all of it, half as much
// as the first or more), so that the nodes have equal work. The order of work is a shuffle in
// which splits that follow each other have different first replicas, where there are enough.
//
// The same input gives the same plan, in whatever order the nodes and the estimates come.
func NewPlan(ring *Ring, strategy Strategy, estimates []Estimate, opts PlanOptions) (Plan, error) {
	if err := opts.Validate(); err != nil {
		return Plan{}, fmt.Errorf("plan: %w", err)
	}
	asked, err := opts.asked(ring.partitioner)
	if err != nil {
		return Plan{}, fmt.Errorf("plan: %w", err)
	}
	if err := ring.checkDatacenter(opts.LocalDatacenter); err != nil {
		return Plan{}, fmt.Errorf("plan: %w", err)
	}

	p := newPlanner(ring, strategy, estimates, asked, opts.withDefaults())
	plan := Plan{
		Partitioner: ring.partitioner.Name(),
		Basis:       p.basis,
		Seed:        opts.Seed,
		Asked:       asked.Ranges(),
	}
	drafts := p.drafts(p.pieces())
	balance(drafts)
	plan.Splits = inOrderOfWork(drafts, opts.Seed)
	return plan, nil
}

// planner holds what the steps of NewPlan share.
type planner struct {
	opts      PlanOptions
	asked     IntervalSet
	placement Placement
	estimator estimator
	basis     Basis
	wanted    float64 // splits for the asked part that the targets ask for, or the ring
}

func newPlanner(ring *Ring, strategy Strategy, estimates []Estimate, asked IntervalSet, opts PlanOptions) *planner {
	p := &planner{
		opts:      opts,
		asked:     asked,
		placement: ring.Place(strategy, opts.LocalDatacenter),
		estimator: newEstimator(estimates, ring.Range()),
	}
	switch {
	case opts.Splits > 0:
		p.basis = ByCount
	case len(opts.Ranges) > 0:
		p.basis = ByRanges
	case p.estimator.known:
		p.basis = ByEstimates
	default:
		p.basis = ByRing
	}
	if p.estimator.known {
		for r := range asked.All() {
			p.wanted += p.estimated(r)
		}
	} else {
		p.wanted = float64(max(leastByRing, splitsPerNode*len(ring.nodes))) * asked.Fraction(ring.Range())
	}
	return p
}

// estimated returns how many splits' worth r is by the estimates, 0 without any.
func (p *planner) estimated(r Range) float64 {
	a := p.estimator.of(r)
	return max(a.bytes/float64(p.opts.TargetBytes), a.partitions/float64(p.opts.TargetPartitions))
}

// weight returns what r counts for in dividing the asked part. It is never 0: a quarter of the
// weight is spread evenly over the tokens, as hashing does with the partitions, so that where
// estimates say 0 without reason a split has some four times the tokens of others, not half the ring.
func (p *planner) weight(r Range) float64 {
	even := max(p.wanted, 1) * (r.width().float() / p.asked.width().float())
	return float64((1-evenShare)*p.estimated(r)) + float64(evenShare*even)
}

// run is neighbouring ranges with the same set of replicas.
type run struct {
	Range
	weight float64
}

// runs returns the runs of each range of the asked part.
func (p *planner) runs() [][]run {
	var islands [][]run
	for r := range p.asked.All() {
		var island []run
		first, end := p.placement.within(r)
		for i := first; i < end; i++ {
			part, _ := p.placement.arcs[i].Range.Intersect(r)
			if i > first && p.placement.sameReplicas(i-1, i) {
				island[len(island)-1].End = part.End
				continue
			}
			island = append(island, run{Range: part})
		}
		for i := range island {
			island[i].weight = p.weight(island[i].Range)
		}
		islands = append(islands, island)
	}
	return islands
}

// pieces returns the ranges of the splits, in token order.
func (p *planner) pieces() []Range {
	if p.basis == ByRanges {
		return slices.SortedFunc(slices.Values(p.opts.Ranges), Range.Compare)
	}
	islands := p.runs()
	var runs []run
	for _, island := range islands {
		runs = append(runs, island...)
	}
	count := p.count(len(runs))
	if count >= len(runs) {
		return cut(runs, count)
	}

	// Fewer splits than runs: neighbours are merged, within each range of the asked part.
	wholes := make([]run, len(islands))
	for i, island := range islands {
		wholes[i] = run{Range{island[0].Start, island[len(island)-1].End}, 0}
		for _, r := range island {
			wholes[i].weight += r.weight
		}
	}
	var pieces []Range
	for i, n := range allocate(wholes, count) {
		if n >= len(islands[i]) {
			pieces = append(pieces, cut(islands[i], n)...)
		} else {
			pieces = append(pieces, merge(islands[i], n)...)
		}
	}
	return pieces
}

// count returns the number of splits to make of a number of runs.
func (p *planner) count(runs int) int {
	if p.opts.Splits > 0 {
		return p.opts.Splits
	}
	most := float64(p.opts.MaxSplits)
	wanted := math.Ceil(p.wanted)
	if wanted < float64(runs) && float64(runs) <= keepApartFactor*wanted {
		wanted = float64(runs)
	}
	return int(min(max(wanted, float64(p.opts.MinSplits)), most))
}

// cut returns n ranges, or as many as there are tokens, that each lie within one run, and at
// least one for each run. The heaviest ranges are as light as they can be.
func cut(runs []run, n int) []Range {
	var pieces []Range
	for i, parts := range allocate(runs, n) {
		pieces = append(pieces, runs[i].Split(parts)...)
	}
	return pieces
}

// merge returns n ranges of neighbouring runs and parts of runs with about equal weights, for
// 1 <= n < len(runs).
func merge(runs []run, n int) []Range {
	var total float64
	for _, r := range runs {
		total += r.weight
	}
	share := total / float64(n)

	// A run of far more than its share is cut first, so that it needn't be one range.
	var parts []run
	for _, r := range runs {
		cuts := 1
		if r.weight > 1.5*share {
			cuts = int(min(math.Round(r.weight/share), float64(n)))
		}
		split := r.Split(cuts)
		for _, part := range split {
			parts = append(parts, run{part, r.weight / float64(len(split))})
		}
	}

	pieces := make([]Range, 0, n)
	var done float64
	first := 0
	for i, part := range parts {
		// The range ends before this part where its weight then comes nearer to the share; but no
		// range is empty, and each of those to come needs a part.
		due := share * float64(len(pieces)+1)
		open := n - len(pieces) // ranges to come, with the present one
		left := len(parts) - i  // parts to come, with the present one
		if i > first && open > 1 && (left < open || done+part.weight/2 > due) {
			pieces = append(pieces, Range{parts[first].Start, part.Start})
			first = i
		}
		done += part.weight
	}
	return append(pieces, Range{parts[first].Start, parts[len(parts)-1].End})
}

// allocate divides n pieces among runs, by weight: at least one to each, and no more than it has
// tokens. It gives each next piece to the run whose pieces are the heaviest.
func allocate(runs []run, n int) []int {
	counts := make([]int, len(runs))
	var queue heaviest
	for i, r := range runs {
		counts[i] = 1
		if r.width().atMost(2) > 1 {
			heap.Push(&queue, pieceWeight{i, r.weight})
		}
	}
	for range n - len(runs) {
		if len(queue) == 0 {
			break
		}
		i := queue[0].run
		counts[i]++
		if runs[i].width().atMost(uint64(counts[i])+1) > uint64(counts[i]) {
			queue[0].weight = runs[i].weight / float64(counts[i])
			heap.Fix(&queue, 0)
		} else {
			heap.Pop(&queue)
		}
	}
	return counts
}

// pieceWeight is the weight of each piece that a run is cut into.
type pieceWeight struct {
	run    int
	weight float64
}

// heaviest is a heap with the heaviest pieces first and equal ones in token order.
type heaviest []pieceWeight

func (h heaviest) Len() int      { return len(h) }
func (h heaviest) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h heaviest) Less(i, j int) bool {
	if h[i].weight != h[j].weight {
		return h[i].weight > h[j].weight
	}
	return h[i].run < h[j].run
}
func (h *heaviest) Push(x any) { *h = append(*h, x.(pieceWeight)) }
func (h *heaviest) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	*h = (*h)[:last]
	return s
}
