package queries

import (
	"manifest/queries/internal/groups"
	"manifest/queries/internal/vector"
)

// tallied is how many different values a tally has at most: a few megabytes, and more than a split has of images' days, widths and
// heights, of which there are some dozens a day.
const tallied = 1 << 16

// tally counts rows that are equal in all that a query looks at. What the query makes of them is made once for each of these values,
// with the number of rows, where most rows are like others.
type tally struct {
	last    vector.Slot // of those that are counted
	columns []*vector.Vector
	table   *groups.Table
	ids     []uint32 // of the rows of a block

	// Of each value: its integers, whether they are NULL, and how many rows have it.
	ints   [][]int64
	null   [][]bool
	counts []int64
	rows   int
}

func newTally(m *vector.Machine, slots []vector.Slot) *tally {
	t := &tally{ids: make([]uint32, vector.BlockRows), ints: make([][]int64, len(slots)), null: make([][]bool, len(slots))}
	var shape groups.Shape
	for _, slot := range slots {
		t.last = max(t.last, slot)
		t.columns = append(t.columns, m.Vector(slot))
		shape.Kinds = append(shape.Kinds, m.Kind(slot))
	}
	t.table = groups.NewTable(shape)
	return t
}

// add counts the n rows of a block.
func (t *tally) add(n int) {
	t.table.Find(t.columns, t.ids, 0, n)
	for i, id := range t.ids[:n] {
		if int(id) == len(t.counts) {
			t.counts = append(t.counts, 0)
			for c, v := range t.columns {
				t.ints[c], t.null[c] = append(t.ints[c], v.Ints[i]), append(t.null[c], v.IsNull(i))
			}
		}
		t.counts[id]++
	}
	t.rows += n
}

// size is the memory that the values take.
func (t *tally) size() int { return t.table.Size() + (8+9*len(t.columns))*len(t.counts) }

// show makes some of the values those of a block, and gives how many rows have each.
func (t *tally) show(lo, hi int) (counts []int64) {
	for c, v := range t.columns {
		v.Len, v.Ints, v.Null = hi-lo, t.ints[c][lo:hi], t.null[c][lo:hi]
	}
	return t.counts[lo:hi]
}

// reset forgets the values and keeps at most so many bytes of their keys' memory.
func (t *tally) reset(keep int) {
	t.table.Reset(keep)
	for c := range t.ints {
		t.ints[c], t.null[c] = t.ints[c][:0], t.null[c][:0]
	}
	t.counts, t.rows = t.counts[:0], 0
}

// count counts rows of the record in the tally.
func (p *Part) count(lo, hi int) error {
	t := p.tally
	if err := p.machine.RunTo(t.last, lo, hi); err != nil {
		return err
	}
	t.add(hi - lo)
	if len(t.counts) < tallied && p.memory+t.size() <= p.aggregation.share() {
		return nil
	}
	// Where most rows are unlike all others, counting them only costs.
	pays := t.rows >= 2*len(t.counts)
	if err := p.drain(); err != nil {
		return err
	}
	if !pays {
		p.tally = nil
	}
	return nil
}

// drain adds the rows that were counted to their groups.
func (p *Part) drain() error {
	t := p.tally
	for lo := 0; lo < len(t.counts); lo += vector.BlockRows {
		hi := min(lo+vector.BlockRows, len(t.counts))
		counts := t.show(lo, hi)
		if err := p.machine.RunBehind(t.last); err != nil {
			return err
		}
		for i := range p.sets {
			s := &p.sets[i]
			if err := s.groups.AddCounted(s.keys, s.arguments, counts, 0, hi-lo); err != nil {
				return err
			}
		}
		if err := p.bound(); err != nil {
			return err
		}
	}
	t.reset(p.aggregation.share())
	return nil
}
