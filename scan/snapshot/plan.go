package snapshot

import (
	"math"
	"math/big"
	"slices"

	"manifest/internal/sstable"
	"manifest/tokenrange"
)

// defaultTargetBytes is how much of the SSTables' content a split has, where the
// options of a plan don't say: a fraction of a second of work, since nothing but
// a fault of the storage makes a split be read again.
const defaultTargetBytes = 64 << 20

// The splits get smaller towards the end of the work, so that workers come to
// it together: none has more than this part of what is left, unless it is as
// small as the smallest. The numbers don't depend on how many workers there are,
// because the files of an export follow from the splits.
const (
	shareOfRest   = 4
	smallestSplit = 16 << 20
)

// Plan cuts the ring into splits by the sizes of the SSTables. The estimates count
// each copy of a row, for each has to be read. Where nobody says how many splits
// there are to be, the last ones are smaller.
func (s *Source) Plan(opts tokenrange.PlanOptions) (tokenrange.Plan, error) {
	ring, err := tokenrange.NewRing(s.table.Partitioner(), nil)
	if err != nil {
		return tokenrange.Plan{}, err
	}
	if opts.TargetBytes == 0 {
		opts.TargetBytes = defaultTargetBytes
	}
	opts.LocalDatacenter = "" // the files have none
	plan, err := tokenrange.NewPlan(ring, tokenrange.Strategy{}, estimates(s.table), opts)
	if err == nil && plan.Basis == tokenrange.ByEstimates {
		plan.Splits = taper(plan.Splits)
	}
	return plan, err
}

// taper halves splits that have too much of what is left to do when their turn
// comes.
func taper(splits []tokenrange.Split) []tokenrange.Split {
	var left int64
	for _, s := range splits {
		left += s.Bytes
	}
	var tapered []tokenrange.Split
	var add func(tokenrange.Split)
	add = func(s tokenrange.Split) {
		if s.Bytes/2 >= smallestSplit && s.Bytes > left/shareOfRest {
			if a, b, ok := s.Halve(); ok {
				add(a)
				add(b)
				return
			}
		}
		tapered = append(tapered, s)
		left -= s.Bytes
	}
	for _, s := range splits {
		add(s)
	}
	return tapered
}

// content is what an SSTable has between its first and its last token.
type content struct {
	tokens            tokenrange.Range
	partitions, bytes float64
}

// estimates gives what all SSTables have together, in ranges that tile the ring.
func estimates(t *sstable.Table) []tokenrange.Estimate {
	ring := t.Partitioner().Ring()
	var contents []content
	for _, r := range t.Readers() {
		c := content{tokens: tokensOf(r, ring), bytes: float64(r.Size())}
		if s := r.Stats(); s != nil {
			c.partitions = float64(s.Partitions)
		}
		contents = append(contents, c.within(r)...)
	}
	return sumUp(contents, ring)
}

// within gives what of the content is read: all, or that in some ranges.
func (c content) within(r *sstable.Reader) []content {
	owned, ok := r.Restricted()
	if !ok {
		return []content{c}
	}
	var parts []content
	for tokens := range owned.Intersect(tokenrange.NewIntervalSet(c.tokens)).All() {
		share := tokens.Fraction(c.tokens)
		parts = append(parts, content{tokens, c.partitions * share, c.bytes * share})
	}
	return parts
}

// tokensOf is the range from an SSTable's first to its last token.
func tokensOf(r *sstable.Reader, ring tokenrange.Range) tokenrange.Range {
	first, last := r.Bounds()
	if first == nil || last == nil {
		return ring
	}
	start := r.Partitioner().Token(first).Big()
	before, err := tokenrange.ParseToken(start.Sub(start, big.NewInt(1)).String())
	tokens := tokenrange.Range{Start: before, End: r.Partitioner().Token(last)}
	if err != nil || !tokens.IsValid() {
		return ring
	}
	return tokens
}

// sumUp adds contents where they overlap.
func sumUp(contents []content, ring tokenrange.Range) []tokenrange.Estimate {
	turns := []tokenrange.Token{ring.Start, ring.End} // where contents begin and end
	for _, c := range contents {
		turns = append(turns, c.tokens.Start, c.tokens.End)
	}
	slices.SortFunc(turns, tokenrange.Token.Compare)
	turns = slices.Compact(turns)
	slices.SortFunc(contents, func(a, b content) int { return a.tokens.Start.Compare(b.tokens.Start) })

	var found []tokenrange.Estimate
	var open []content
	for i, t := range turns[:len(turns)-1] {
		open = slices.DeleteFunc(open, func(c content) bool { return !t.Less(c.tokens.End) })
		for len(contents) > 0 && contents[0].tokens.Start == t {
			open = append(open, contents[0])
			contents = contents[1:]
		}
		r := tokenrange.Range{Start: t, End: turns[i+1]}
		var partitions, bytes float64
		for _, c := range open {
			share := r.Fraction(c.tokens)
			partitions, bytes = partitions+c.partitions*share, bytes+c.bytes*share
		}
		partitions = max(1, math.Round(partitions))
		found = append(found, tokenrange.Estimate{Range: r, Partitions: int64(partitions), MeanBytes: int64(math.Round(bytes / partitions))})
	}
	return found
}
