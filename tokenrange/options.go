package tokenrange

import (
	"errors"
	"fmt"
)

// The defaults of [PlanOptions].
const (
	// DefaultTargetBytes makes a split some hundred thousand rows of 300 bytes: seconds of work,
	// so that little is lost when one is read again, and a part file worth its name.
	DefaultTargetBytes = 32 << 20
	// DefaultTargetPartitions bounds splits of tiny partitions, whose cost is by the row.
	DefaultTargetPartitions = 250_000
	// DefaultMinSplits gives a few workers something to do on a small table, and bounds the harm
	// of estimates that are far too low.
	DefaultMinSplits = 8
	// DefaultMaxSplits bounds the plan, the ledger and the number of part files.
	DefaultMaxSplits = 100_000
)

// PlanOptions says what part of the ring to plan and into how many splits. The zero value plans
// the whole ring by estimates.
type PlanOptions struct {
	// Splits is the number of splits to make, 0 to decide by the estimates. The plan has exactly
	// as many, unless the asked part has fewer tokens or more ranges than that.
	Splits int

	// TargetBytes is the estimated size of a split in bytes, 0 for [DefaultTargetBytes], and
	// TargetPartitions its estimated number of partitions, 0 for [DefaultTargetPartitions];
	// whichever is reached first counts.
	TargetBytes      int64
	TargetPartitions int64

	// MinSplits and MaxSplits bound the number of splits, however the estimates are;
	// 0 for [DefaultMinSplits] and [DefaultMaxSplits].
	MinSplits int
	MaxSplits int

	// LocalDatacenter is the one whose replicas are preferred, "" for none.
	LocalDatacenter string

	// Start and End ask for the tokens after Start up to and including End; nil is the start or
	// the end of the ring. Where both are given and Start is not below End, the part goes around
	// the end of the ring (see [Unwrap]).
	Start *Token
	End   *Token

	// Ranges asks for these ranges instead, which must not overlap. With Splits 0 each is one
	// split as it stands, whatever the other numbers say; otherwise they are cut and merged like
	// any part of the ring. An [ExplicitPartitioner] needs them.
	Ranges []Range

	// Seed selects the order of the splits.
	Seed uint64
}

// Validate reports all faults of the options that can be seen without a ring, joined.
func (o PlanOptions) Validate() error {
	var faults []error
	check := func(fault bool, format string, args ...any) {
		if fault {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	d := o.withDefaults()
	check(o.Splits < 0, "number of splits %d is negative", o.Splits)
	check(o.TargetBytes < 0, "target size of %d bytes is negative", o.TargetBytes)
	check(o.TargetPartitions < 0, "target of %d partitions is negative", o.TargetPartitions)
	check(o.MinSplits < 0, "least number of splits %d is negative", o.MinSplits)
	check(o.MaxSplits < 0, "largest number of splits %d is negative", o.MaxSplits)
	check(o.MaxSplits >= 0 && d.MinSplits > d.MaxSplits, "least number of splits %d exceeds the largest %d", d.MinSplits, d.MaxSplits)
	check(o.MaxSplits >= 0 && o.Splits > d.MaxSplits, "number of splits %d exceeds the largest %d", o.Splits, d.MaxSplits)
	check(len(o.Ranges) > 0 && (o.Start != nil || o.End != nil), "both ranges and a first or last token are given")
	return errors.Join(faults...)
}

// withDefaults returns the options with the defaults in place of zeros.
func (o PlanOptions) withDefaults() PlanOptions {
	if o.TargetBytes == 0 {
		o.TargetBytes = DefaultTargetBytes
	}
	if o.TargetPartitions == 0 {
		o.TargetPartitions = DefaultTargetPartitions
	}
	if o.MaxSplits == 0 {
		o.MaxSplits = max(DefaultMaxSplits, o.MinSplits)
	}
	if o.MinSplits == 0 {
		o.MinSplits = min(DefaultMinSplits, o.MaxSplits)
	}
	return o
}

// asked returns the part of the ring that the options ask for.
func (o PlanOptions) asked(p Partitioner) (IntervalSet, error) {
	if len(o.Ranges) > 0 {
		return o.askedRanges(p)
	}
	if !p.Hashes() {
		return IntervalSet{}, fmt.Errorf("%w %q: its table can only be planned by explicit ranges", ErrUnsupportedPartitioner, p.Name())
	}
	ring := p.Ring()
	part := ring
	var faults []error
	if o.Start != nil {
		part.Start = *o.Start
		faults = append(faults, p.check(*o.Start))
	}
	if o.End != nil {
		part.End = *o.End
		faults = append(faults, p.check(*o.End))
	}
	if err := errors.Join(faults...); err != nil {
		return IntervalSet{}, err
	}
	// One bound alone does not wrap: "after the last token" is a mistake, not the ring.
	asked := NewIntervalSet(part)
	if o.Start != nil && o.End != nil {
		asked = NewIntervalSet(Unwrap(part.Start, part.End, ring)...)
	}
	if asked.IsEmpty() {
		return IntervalSet{}, fmt.Errorf("%s: %w", part, ErrEmptyRange)
	}
	return asked, nil
}

// askedRanges checks the explicit ranges.
func (o PlanOptions) askedRanges(p Partitioner) (IntervalSet, error) {
	asked := NewIntervalSet(o.Ranges...)
	if err := CheckTiling(asked, o.Ranges); err != nil {
		return IntervalSet{}, err
	}
	var faults []error
	for _, r := range o.Ranges {
		faults = append(faults, p.checkRange(r))
	}
	return asked, errors.Join(faults...)
}
