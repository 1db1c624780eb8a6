package sstable

import "manifest/tokenrange"

// Restrict limits what is read of the SSTable to some tokens: those that the node
// it is of replicates. What a node has of others may be left over from when it
// did, and lack the deletions since. It is for before the first scan.
func (r *Reader) Restrict(tokens tokenrange.IntervalSet) {
	r.restricted, r.tokens = true, tokens
}

// Restricted gives the tokens that the SSTable is read within; ok is false where
// those are all.
func (r *Reader) Restricted() (tokens tokenrange.IntervalSet, ok bool) {
	return r.tokens, r.restricted
}

// reads tells whether a token is one to read.
func (r *Reader) reads(t tokenrange.Token) bool { return !r.restricted || r.tokens.Contains(t) }

// within gives the parts of a range that are read, in token order; none where
// nothing is.
func (r *Reader) within(tokens tokenrange.Range) []tokenrange.Range {
	if !r.restricted {
		return []tokenrange.Range{tokens}
	}
	return r.tokens.Intersect(tokenrange.NewIntervalSet(tokens)).Ranges()
}
