package queries

import (
	"bytes"
	"cmp"
	"container/heap"
)

// pair is a pair of tags with the number of images that have both.
type pair struct {
	images int64
	key    []byte
}

// compare is positive if a is to be listed before b.
func (a pair) compare(b pair) int {
	return cmp.Or(cmp.Compare(a.images, b.images), bytes.Compare(b.key, a.key))
}

// topPairs is a heap whose first is the one to give way.
type topPairs []pair

// offer keeps a copy of a pair if it is among the first limit.
func (t *topPairs) offer(p pair, limit int) {
	if len(*t) < limit {
		p.key = bytes.Clone(p.key)
		heap.Push(t, p)
		return
	}
	if least := &(*t)[0]; p.compare(*least) > 0 {
		least.images, least.key = p.images, append(least.key[:0], p.key...)
		heap.Fix(t, 0)
	}
}

func (t topPairs) Len() int           { return len(t) }
func (t topPairs) Less(i, j int) bool { return t[i].compare(t[j]) < 0 }
func (t topPairs) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *topPairs) Push(p any)        { *t = append(*t, p.(pair)) }

// Pop is not called: pairs that are not listed are replaced.
func (t *topPairs) Pop() any {
	last := len(*t) - 1
	p := (*t)[last]
	*t = (*t)[:last]
	return p
}
