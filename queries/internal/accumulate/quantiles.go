package accumulate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"unsafe"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"

	"manifest/queries/internal/vector"
)

// quantiles keeps DDSketch bins (Masson, Rim, Lee: "DDSketch", VLDB 2019): bin i counts the values from gamma^i up to gamma^(i+1), with
// gamma = 1.01 / 0.99, so that the middle of a bin is within 1 % of every value in it. Counting is done here, in slices that are
// accounted for; the library computes the bins of values and the quantiles of counts.
//
// Values nearer to 0 than the smallest normal double count as 0, values beyond the last bin, and infinities, count in it.
//
// A state starts with a byte:
//
//	0  bins: the number of zeros as a varint, then twice, for the negative and for the positive values: the number of bins that are not
//	   empty as a varint, and for each, ascending, its index (the first as a zigzag varint, others as the distance to the one before)
//	   and its count as varints
//	2  final: 1 and the results as big-endian doubles, or 0 if there are none
type quantiles struct {
	wanted []float64
	groups []quantilesState
	size   int                // of the bins
	cache  [256]cachedBin     // of values seen before, as measured values repeat
	sketch *ddsketch.DDSketch // scratch
	last   int                // group in sketch, -1 if none
}

type quantilesState struct {
	zeros    uint64
	negative bins
	positive bins
	seen     bool      // a value was counted
	isFinal  bool      // the state came in final, and results are all there is
	results  []float64 // nil if there was no value
}

type cachedBin struct {
	value float64 // above 0, or 0 if nothing is cached
	bin   int
}

const (
	accuracy = 0.01
	maxBin   = 1 << 16 // above the index of the largest double, 35,487
	binSlack = 16      // bins made beyond a new one
)

// binOf is the library's mapping of values to bins. Its only error is an accuracy out of range.
var binOf, _ = mapping.NewLogarithmicMapping(accuracy)

// smallBins returns the bins of the integers from 0, of which the first is unused: a look-up is a fifth of the cost of a logarithm, and
// most integers that are measured are small.
var smallBins = sync.OnceValue(func() []int16 {
	table := make([]int16, 1<<15)
	for i := 1; i < len(table); i++ {
		table[i] = int16(binOf.Index(float64(i)))
	}
	return table
})

func newQuantiles(wanted []float64) *quantiles {
	return &quantiles{wanted: wanted, sketch: ddsketch.NewDDSketch(binOf, store.NewDenseStore(), store.NewDenseStore()), last: -1}
}

func (q *quantiles) Grow(n int) { q.groups = grow(q.groups, n) }

func (q *quantiles) Update(in *vector.Vector, groups []uint32, lo, hi int) error {
	return q.UpdateCounted(in, nil, groups, lo, hi)
}

// UpdateCounted is part of Counting; without counts each row is there once.
func (q *quantiles) UpdateCounted(in *vector.Vector, counts []int64, groups []uint32, lo, hi int) error {
	q.last = -1
	times := func(i int) uint64 {
		if counts == nil {
			return 1
		}
		return uint64(counts[i])
	}
	switch in.Kind.Physical() {
	case vector.Ints:
		small := smallBins()
		for i := lo; i < hi; i++ {
			if in.IsNull(i) {
				continue
			}
			g, v := &q.groups[groups[i]], in.Ints[i]
			if v > 0 && v < int64(len(small)) {
				g.seen = true
				q.count(&g.positive, int(small[v]), times(i))
			} else {
				q.see(g, float64(v), times(i))
			}
		}
	case vector.Floats:
		for i := lo; i < hi; i++ {
			if !in.IsNull(i) {
				q.see(&q.groups[groups[i]], in.Floats[i], times(i))
			}
		}
	default:
		for i := lo; i < hi; i++ {
			if in.IsNull(i) {
				continue
			}
			v, err := strconv.ParseFloat(string(in.Bytes(i)), 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) { // Beyond the largest double it is an infinity.
				return fmt.Errorf("value %q: %w", in.Bytes(i), err)
			}
			q.see(&q.groups[groups[i]], v, times(i))
		}
	}
	return nil
}

// see counts a value that is there n times.
func (q *quantiles) see(g *quantilesState, v float64, n uint64) {
	if v != v {
		return
	}
	g.seen = true
	switch {
	case v >= binOf.MinIndexableValue():
		q.count(&g.positive, q.bin(v), n)
	case v <= -binOf.MinIndexableValue():
		q.count(&g.negative, q.bin(-v), n)
	default:
		g.zeros += n
	}
}

// bin returns the bin of a value that is not too near to 0.
func (q *quantiles) bin(v float64) int {
	cached := &q.cache[math.Float64bits(v)*0x9e3779b97f4a7c15>>56]
	if cached.value != v {
		*cached = cachedBin{v, binOf.Index(min(v, binOf.MaxIndexableValue()))}
	}
	return cached.bin
}

// count adds n to a bin.
func (q *quantiles) count(b *bins, index int, n uint64) {
	if at := index - b.base; uint(at) < uint(len(b.counts)) {
		b.counts[at] += n
		return
	}
	lo, hi := index-binSlack, index+1+binSlack
	if len(b.counts) > 0 {
		if lo = b.base; index < lo {
			lo = index - binSlack
		}
		if hi = b.base + len(b.counts); index >= hi {
			hi = index + 1 + binSlack
		}
	}
	wider := make([]uint64, hi-lo)
	if len(b.counts) > 0 {
		copy(wider[b.base-lo:], b.counts)
	}
	q.size += 8 * (len(wider) - len(b.counts))
	b.base, b.counts = lo, wider
	b.counts[index-lo] += n
}

func (q *quantiles) AppendState(dst []byte, group int, final bool) []byte {
	g := &q.groups[group]
	if !final && !g.isFinal {
		dst = binary.AppendUvarint(append(dst, tagFull), g.zeros)
		dst = g.negative.append(dst)
		return g.positive.append(dst)
	}
	results := q.results(group)
	if results == nil {
		return append(dst, tagFinal, 0)
	}
	dst = append(dst, tagFinal, 1)
	for _, v := range results {
		dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

func (q *quantiles) Merge(group int, src []byte) ([]byte, error) {
	q.last = -1
	g := &q.groups[group]
	if len(src) == 0 {
		return nil, ErrCorrupt
	}
	tag, src := src[0], src[1:]
	if g.isFinal || tag == tagFinal && g.seen {
		return nil, ErrFinal
	}
	switch tag {
	case tagFull:
		zeros, src, err := takeCount(src)
		if err != nil {
			return nil, err
		}
		g.zeros += uint64(zeros)
		g.seen = g.seen || zeros > 0
		if src, err = q.mergeBins(g, &g.negative, src); err != nil {
			return nil, err
		}
		return q.mergeBins(g, &g.positive, src)
	case tagFinal:
		return g.mergeFinal(src, len(q.wanted))
	}
	return nil, ErrCorrupt
}

func (q *quantiles) mergeBins(g *quantilesState, b *bins, src []byte) ([]byte, error) {
	n, src, err := takeUvarint(src)
	if err != nil || n > uint64(len(src)) {
		return nil, ErrCorrupt
	}
	index := int64(0)
	for i := range n {
		var step int64
		if i == 0 {
			step, src, err = takeVarint(src)
		} else {
			step, src, err = takeCount(src)
		}
		if err != nil || step < -maxBin || step > 2*maxBin {
			return nil, ErrCorrupt
		}
		if index += step; index > maxBin {
			return nil, ErrCorrupt
		}
		var count int64
		if count, src, err = takeCount(src); err != nil {
			return nil, err
		}
		g.seen = true
		q.count(b, int(index), uint64(count))
	}
	return src, nil
}

func (g *quantilesState) mergeFinal(src []byte, wanted int) ([]byte, error) {
	if len(src) == 0 || src[0] > 1 {
		return nil, ErrCorrupt
	}
	g.isFinal = true
	if src[0] == 0 {
		return src[1:], nil
	}
	src = src[1:]
	g.results = make([]float64, wanted)
	for i := range g.results {
		bits, rest, err := takeUint64(src)
		if err != nil {
			return nil, err
		}
		g.results[i], src = math.Float64frombits(bits), rest
	}
	return src, nil
}

func (q *quantiles) Results() []vector.Kind {
	return slices.Repeat([]vector.Kind{vector.Float64}, len(q.wanted))
}

func (q *quantiles) Result(g, i int) (vector.Value, error) {
	results := q.results(g)
	if results == nil {
		return vector.Value{Null: true}, nil
	}
	return vector.Value{Float: results[i]}, nil
}

// results returns the wanted quantiles of a group, nil if it saw no value.
func (q *quantiles) results(group int) []float64 {
	g := &q.groups[group]
	if g.isFinal || group == q.last {
		return g.results
	}
	q.last = group
	q.sketch.Clear()
	g.negative.addTo(q.sketch.GetNegativeValueStore())
	g.positive.addTo(q.sketch.GetPositiveValueStore())
	if g.zeros > 0 {
		// The only error of these calls is a count or quantile out of range.
		_ = q.sketch.AddWithCount(0, float64(g.zeros))
	}
	g.results = nil
	if !q.sketch.IsEmpty() {
		g.results, _ = q.sketch.GetValuesAtQuantiles(q.wanted)
	}
	return g.results
}

func (q *quantiles) Reset() {
	clear(q.groups)
	q.groups, q.size, q.last = q.groups[:0], 0, -1
}

func (q *quantiles) Size() int { return int(unsafe.Sizeof(quantilesState{}))*len(q.groups) + q.size }
