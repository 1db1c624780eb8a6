package tokenrange

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Limits to what is believed of an estimate.
const (
	// maxBelieved bounds the partitions of one estimate and their mean size in bytes. Beyond a
	// quadrillion a number is an overflow in the server, not data.
	maxBelieved = 1 << 50
	// minCoverage is the share of the ring that estimates must cover to say something about the
	// rest of it: less than one node's part in any cluster that exists.
	minCoverage = 1e-4
)

// Estimate is a guess at what a table holds in a range, such as a row of system.size_estimates.
type Estimate struct {
	Range      Range
	Partitions int64 // number of partitions
	MeanBytes  int64 // mean size of a partition in bytes
}

// UnwrapEstimates returns the estimate of a range as Cassandra reports it, which may go around
// the end of the ring: as [Unwrap] does, with the partitions divided by width.
func UnwrapEstimates(start, end Token, ring Range, partitions, meanBytes int64) []Estimate {
	var estimates []Estimate
	ranges := Unwrap(start, end, ring)
	width := NewIntervalSet(ranges...).width().float()
	for _, r := range ranges {
		share := saturate(float64(partitions) * (r.width().float() / width))
		estimates = append(estimates, Estimate{r, share, meanBytes})
	}
	return estimates
}

// amount is a number of partitions and their bytes. It is in floating point because the
// estimates of a large or damaged system table add up past 64 bits.
type amount struct{ partitions, bytes float64 }

func (a amount) plus(b amount) amount { return amount{a.partitions + b.partitions, a.bytes + b.bytes} }

func (a amount) minus(b amount) amount {
	return amount{a.partitions - b.partitions, a.bytes - b.bytes}
}

// times rounds before anything is added, so that no machine fuses the two steps into one and
// makes a different plan of the same input.
func (a amount) times(f float64) amount {
	return amount{float64(a.partitions * f), float64(a.bytes * f)}
}

// estimator answers how much a range is likely to hold, from the estimates of others.
//
// Estimates are what the nodes believe about themselves: they can be missing, of a ring that is
// no more, of ranges that overlap (replicas report the same data), or nonsense. The estimator
// takes the densest of those that cover a token (too many splits cost less than a huge one), fills
// what is not covered with the mean of the rest (hashing spreads partitions evenly), and drops
// what can't be true.
type estimator struct {
	known    bool     // whether there is any estimate of something
	starts   []Token  // of segments that tile the ring, each of one density
	density  []amount // of each segment, per token
	upToHere []amount // sum of the segments before each
}

func newEstimator(estimates []Estimate, ring Range) estimator {
	layers := densities(estimates, ring)
	covered := cover(layers)
	var width uint128
	var sum amount
	for _, d := range covered {
		width = width.add(d.width())
		sum = sum.plus(d.amount.times(d.width().float()))
	}
	if sum == (amount{}) || width.float()/ring.width().float() < minCoverage {
		return estimator{}
	}

	e := estimator{known: true}
	mean := sum.times(1 / width.float())
	at, before := ring.Start, amount{}
	segment := func(end Token, d amount) {
		if at.Less(end) {
			e.starts = append(e.starts, at)
			e.density = append(e.density, d)
			e.upToHere = append(e.upToHere, before)
			before = before.plus(d.times(at.distance(end).float()))
			at = end
		}
	}
	for _, d := range covered {
		segment(d.Start, mean)
		segment(d.End, d.amount)
	}
	segment(ring.End, mean)
	return e
}

// of returns how much r is likely to hold: nothing where nothing is known.
func (e estimator) of(r Range) amount {
	if !e.known {
		return amount{}
	}
	return e.upTo(r.End).minus(e.upTo(r.Start))
}

// upTo returns what the ring holds up to t. It never falls as t grows, in spite of rounding,
// because each step of the computation is monotone.
func (e estimator) upTo(t Token) amount {
	i, exact := slices.BinarySearchFunc(e.starts, t, Token.Compare)
	if exact {
		return e.upToHere[i]
	}
	i--
	return e.upToHere[i].plus(e.density[i].times(e.starts[i].distance(t).float()))
}

// saturate rounds a number to an int64.
func saturate(f float64) int64 {
	if f >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(f))
}

// addSaturated returns a+b for numbers that are not negative.
func addSaturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// layer is one density over one range.
type layer struct {
	Range
	amount // per token
}

// compareDensity orders layers by what they say, so that which of several is taken does not
// depend on the order in which the nodes were asked.
func compareDensity(a, b layer) int {
	return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.partitions, b.partitions), a.End.Compare(b.End))
}

// densities returns the believable estimates on the ring, sorted by their start.
func densities(estimates []Estimate, ring Range) []layer {
	layers := make([]layer, 0, len(estimates))
	for _, e := range estimates {
		if !e.Range.IsValid() || e.Partitions < 0 || e.MeanBytes < 0 || e.Partitions > maxBelieved || e.MeanBytes > maxBelieved {
			continue
		}
		width, partitions := e.Range.width().float(), float64(e.Partitions)
		// The part outside of the ring goes with its share of the partitions.
		if r, ok := e.Range.Intersect(ring); ok {
			layers = append(layers, layer{r, amount{partitions / width, partitions * float64(e.MeanBytes) / width}})
		}
	}
	slices.SortFunc(layers, func(a, b layer) int {
		return cmp.Or(a.Start.Compare(b.Start), compareDensity(a, b))
	})
	return layers
}

// cover returns the densest layer at each token that has any, in token order and disjoint.
func cover(layers []layer) []layer {
	turns := make([]Token, 0, 2*len(layers)) // where a layer starts or ends
	for _, l := range layers {
		turns = append(turns, l.Start, l.End)
	}
	slices.SortFunc(turns, Token.Compare)
	turns = slices.Compact(turns)

	covered := make([]layer, 0, len(turns))
	var open densest
	for i, t := range turns {
		for len(layers) > 0 && layers[0].Start == t {
			heap.Push(&open, layers[0])
			layers = layers[1:]
		}
		for len(open) > 0 && !t.Less(open[0].End) {
			heap.Pop(&open)
		}
		if len(open) > 0 {
			covered = append(covered, layer{Range{t, turns[i+1]}, open[0].amount})
		}
	}
	return covered
}

// densest is a heap of layers with the densest first.
type densest []layer

func (d densest) Len() int           { return len(d) }
func (d densest) Less(i, j int) bool { return compareDensity(d[i], d[j]) > 0 }
func (d densest) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *densest) Push(x any)        { *d = append(*d, x.(layer)) }
func (d *densest) Pop() any {
	last := len(*d) - 1
	l := (*d)[last]
	*d = (*d)[:last]
	return l
}
