package scan

import (
	"cmp"
	"slices"

	"manifest/tokenrange"
)

// LargestKept is how many partitions are kept as the largest by rows, and how
// many by bytes.
const LargestKept = 10

// Partition is a partition with what was read of it.
type Partition struct {
	// Key is its key as text, like device_id='x', day_bucket=2026-01-02.
	Key string `json:"key"`
	// Token is where it lies.
	Token tokenrange.Token `json:"token"`
	// Rows counts its rows, and Bytes the serialized bytes of the values of
	// them that were read: those of the columns asked for.
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
}

// Largest are the largest partitions of a run, the first ones largest. Equal
// ones come in token order.
type Largest struct {
	ByRows  []Partition `json:"by_rows,omitempty"`
	ByBytes []Partition `json:"by_bytes,omitempty"`
}

// LargestPartitions gives the largest partitions of a run from its receipts,
// those of earlier processes too. It is exact: a partition is in one split, and
// a receipt leaves out only what [LargestKept] others had surpassed already.
func LargestPartitions(receipts []Receipt) Largest {
	var l Largest
	for _, r := range receipts {
		l.add(r.Largest)
	}
	return l
}

// Wants tells whether a partition of that size may be among the largest. Where
// partitions are added in token order it is exact.
func (l *Largest) Wants(rows, bytes int64) bool {
	return rows > 1 && wants(l.ByRows, rows, byRows) || wants(l.ByBytes, bytes, byBytes)
}

// Add takes a partition in, and tells whether it is among the largest so far.
// A partition of one row is ranked by its bytes alone.
func (l *Largest) Add(p Partition) bool {
	kept := p.Rows > 1 && keep(&l.ByRows, p, byRows)
	return keep(&l.ByBytes, p, byBytes) || kept
}

// All gives the partitions of both lists, each once, in token order.
func (l *Largest) All() []Partition {
	all := slices.Concat(l.ByRows, l.ByBytes)
	slices.SortFunc(all, func(a, b Partition) int { return cmp.Or(a.Token.Compare(b.Token), cmp.Compare(a.Key, b.Key)) })
	return slices.CompactFunc(all, func(a, b Partition) bool { return a.Token == b.Token && a.Key == b.Key })
}

// add takes partitions in, and gives those of them that are among the largest.
func (l *Largest) add(partitions []Partition) (kept []Partition) {
	for _, p := range partitions {
		if l.Add(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

func byRows(p Partition) int64  { return p.Rows }
func byBytes(p Partition) int64 { return p.Bytes }

func wants(list []Partition, size int64, by func(Partition) int64) bool {
	return len(list) < LargestKept || size > by(list[LargestKept-1])
}

// keep puts p into the list if it is among the largest.
func keep(list *[]Partition, p Partition, size func(Partition) int64) bool {
	at, _ := slices.BinarySearchFunc(*list, p, func(have, p Partition) int {
		return cmp.Or(cmp.Compare(size(p), size(have)), have.Token.Compare(p.Token), cmp.Compare(have.Key, p.Key))
	})
	if at == LargestKept {
		return false
	}
	*list = slices.Insert(*list, at, p)
	*list = (*list)[:min(len(*list), LargestKept)]
	return true
}
