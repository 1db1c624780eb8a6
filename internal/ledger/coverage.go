package ledger

import (
	"fmt"
	"slices"

	"manifest/scan"
	"manifest/tokenrange"
)

// coverage is a set of receipts.
//
// Invariant: sorted is in token order and no two of its ranges overlap; splits
// has the range of every id in it. An insertion moves what lies behind it, a
// few microseconds even among 100,000 receipts.
type coverage struct {
	sorted []*scan.Receipt
	splits map[string]tokenrange.Range
}

// place gives the index of the first receipt that ends behind the start of r.
func (c *coverage) place(r tokenrange.Range) int {
	i, _ := slices.BinarySearchFunc(c.sorted, r.Start, func(have *scan.Receipt, start tokenrange.Token) int {
		if start.Less(have.Range.End) {
			return 1
		}
		return -1
	})
	return i
}

// check tells whether put may be called with r.
func (c *coverage) check(r scan.Receipt) error {
	if !r.Range.IsValid() {
		return fmt.Errorf("split %q with range %v: %w", r.Split, r.Range, tokenrange.ErrEmptyRange)
	}
	if other, ok := c.splits[r.Split]; ok && other != r.Range {
		return fmt.Errorf("%w: %q is %v and also %v", ErrOverlap, r.Split, other, r.Range)
	}
	if i := c.place(r.Range); i < len(c.sorted) {
		have := c.sorted[i]
		if _, overlap := have.Range.Intersect(r.Range); overlap && have.Range != r.Range {
			return fmt.Errorf("%w: %q is %v and %q is %v", ErrOverlap, have.Split, have.Range, r.Split, r.Range)
		}
	}
	return nil
}

// put adds r, instead of the receipt with the same range if there is one.
func (c *coverage) put(r scan.Receipt) {
	if c.splits == nil {
		c.splits = map[string]tokenrange.Range{}
	}
	i := c.place(r.Range)
	if i < len(c.sorted) && c.sorted[i].Range == r.Range {
		delete(c.splits, c.sorted[i].Split)
		c.sorted[i] = &r
	} else {
		c.sorted = slices.Insert(c.sorted, i, &r)
	}
	c.splits[r.Split] = r.Range
}

// find gives the index of the receipt of a split with that range.
func (c *coverage) find(split string, r tokenrange.Range) (int, bool) {
	i := c.place(r)
	return i, i < len(c.sorted) && c.sorted[i].Split == split && c.sorted[i].Range == r
}

// has tells whether there is a receipt of a split with that range.
func (c *coverage) has(split string, r tokenrange.Range) bool {
	_, ok := c.find(split, r)
	return ok
}

// remove takes back such a receipt, and tells whether there was one.
func (c *coverage) remove(split string, r tokenrange.Range) bool {
	i, ok := c.find(split, r)
	if ok {
		c.sorted = slices.Delete(c.sorted, i, i+1)
		delete(c.splits, split)
	}
	return ok
}

// receipts gives copies, in token order.
func (c *coverage) receipts() []scan.Receipt {
	all := make([]scan.Receipt, len(c.sorted))
	for i, r := range c.sorted {
		all[i] = *r
	}
	return all
}

// covers gives the tokens of the receipts' ranges.
func covers(receipts []scan.Receipt) tokenrange.IntervalSet {
	ranges := make([]tokenrange.Range, len(receipts))
	for i, r := range receipts {
		ranges[i] = r.Range
	}
	return tokenrange.NewIntervalSet(ranges...)
}
