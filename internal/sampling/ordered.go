package sampling

import "fmt"

// Ordered decides about each row as it is added, where rows come in the order of their sample hashes: the limit is then reached once and
// for all, and nothing is kept. Its decisions are those of a [Decider]. It belongs to one goroutine.
type Ordered struct {
	opts     Options
	splitter splitter
	fraction fraction
	counts   Counts
	last     int64 // sample hash of the row before
	limited  int64 // rows that reached the limit, whether it kept them or not
}

// NewOrdered makes one, for options of which [Options.AtOnce] is true.
func NewOrdered(opts Options) (*Ordered, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if !opts.AtOnce() {
		return nil, fmt.Errorf("%w: rows can't be decided about one by one", ErrOptions)
	}
	o := &Ordered{opts: opts, splitter: newSplitter(opts.Salt, opts.Splits)}
	o.counts.Kept = make([]int64, max(1, len(opts.Splits)))
	if opts.Fraction.IsSet() {
		o.fraction = newFraction(opts.Fraction)
		o.counts.Stages = append(o.counts.Stages, StageCount{Stage: "fraction"})
	}
	if opts.Limit > 0 {
		o.counts.Stages = append(o.counts.Stages, StageCount{Stage: "limit"})
	}
	return o, nil
}

// Add decides about a row, whose ID is of no use here. The decision about a row that is kept lacks its weight, which is that of [Ordered.Weight].
func (o *Ordered) Add(r Row) (d Decision, kept bool, err error) {
	if err := o.opts.check(r); err != nil {
		return Decision{}, false, err
	}
	hash := SampleHash(o.opts.Salt, r.Name)
	if hash < o.last {
		return Decision{}, false, fmt.Errorf("%w: its sample hash is below that of the row before", ErrRow)
	}
	o.last = hash
	o.counts.Rows++
	if len(r.ContentHash) == 0 {
		o.counts.NoHash++
	}
	if o.opts.Fraction.IsSet() {
		if !o.fraction.keeps(hash) {
			return Decision{}, false, nil
		}
		o.counts.Stages[0].Rows++
	}
	if o.opts.Limit > 0 {
		o.limited++
		if o.limited > o.opts.Limit {
			return Decision{}, false, nil
		}
		o.counts.Stages[len(o.counts.Stages)-1].Rows++
	}
	d = Decision{Group: GroupID(r.Group), SampleHash: hash}
	d.Split = o.splitter.of(d.Group)
	o.counts.Kept[d.Split]++
	return d, true, nil
}

// Counts tells what became of the rows.
func (o *Ordered) Counts() Counts { return o.counts }

// Weight is that of every row that is kept. With a limit, it is known when all have been added.
func (o *Ordered) Weight() float32 {
	w := 1.0
	if o.opts.Fraction.IsSet() {
		w /= o.fraction.probability
	}
	if o.opts.Limit > 0 {
		w /= caps{each: o.opts.Limit}.probability(o.limited)
	}
	return float32(w)
}
