package merge

import (
	"encoding/binary"
	"fmt"

	"manifest/internal/sstable/data"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/order"
	"manifest/internal/sstable/primitive"
)

// Column says how the cells of a column merge. Cells name columns by their
// places in a list of these.
type Column struct {
	// Name is for errors.
	Name string
	// Path orders the elements of a complex column; nil if it is a simple one.
	Path order.Comparator
	// Counter tells that values are counter contexts; the merger gives sums.
	Counter bool
	// Wanted tells that the merger gives the column's cells. Those of other
	// columns only count for whether a row is visible.
	Wanted bool
}

// rows merges versions of one row. It belongs to one goroutine.
type rows struct {
	columns []Column
	now     int64
	strict  bool

	// runs are the cells of each column, one slice for each version that has any.
	runs    [][][]data.Cell
	deleted []primitive.DeletionTime // by complex column
	touched []int32                  // columns with runs

	cells  []data.Cell // memory for the result
	shards []shard
	sums   []byte // values of counters

	// result are the live cells of wanted columns, those of a column together.
	result []data.Cell
}

func newRows(columns []Column, now int64, strict bool) *rows {
	r := &rows{columns: columns, now: now, strict: strict, runs: make([][][]data.Cell, len(columns)), deleted: make([]primitive.DeletionTime, len(columns))}
	for i := range r.deleted {
		r.deleted[i] = primitive.Live
	}
	return r
}

// merge merges the versions under a deletion that covers them all, leaves the
// result, and tells whether the row is visible. It may change the versions.
func (r *rows) merge(versions []*data.Row, active primitive.DeletionTime) (visible bool, err error) {
	r.result = nil
	liveness, deletion, shadowable := data.NoLiveness, primitive.Live, false
	for _, v := range versions {
		if livenessSupersedes(v.Liveness, liveness) {
			liveness = v.Liveness
		}
		if v.Deletion.Supersedes(deletion) {
			deletion, shadowable = v.Deletion, v.Shadowable
		}
	}
	if shadowable && liveness.Timestamp > deletion.MarkedForDeleteAt {
		deletion = primitive.Live
	}
	if deletion.Supersedes(active) {
		active = deletion
	}
	if active.Deletes(liveness.Timestamp) {
		liveness = data.NoLiveness
	}
	visible = liveness.Live(r.now)
	if !visible && r.strict {
		return false, nil
	}
	if len(versions) == 1 {
		live, err := r.one(versions[0], active)
		return visible || live, err
	}
	r.gather(versions)
	r.cells, r.sums = r.cells[:0], r.sums[:0]
	for _, column := range r.touched {
		live, e := r.column(column, active, !visible)
		if e != nil && err == nil {
			err = r.fault(column, e)
		}
		visible = visible || live
	}
	r.clear()
	r.result = r.cells
	return visible, err
}

func (r *rows) fault(column int32, err error) error {
	return fmt.Errorf("%w: column %q: %w", fault.ErrCorrupt, r.columns[column].Name, err)
}

// one leaves what is live and wanted of a row's only version, in its place, and
// tells whether anything is live. It takes no notice of liveness and row deletion.
func (r *rows) one(version *data.Row, active primitive.DeletionTime) (live bool, err error) {
	cells := version.Cells
	n, column, deletion := 0, int32(-1), active
	r.sums = r.sums[:0]
	for i := range cells {
		c := &cells[i]
		if c.Column != column {
			column, deletion = c.Column, active
			for _, d := range version.ComplexDeletions {
				if d.Column == column && d.Time.Supersedes(deletion) {
					deletion = d.Time
				}
			}
		}
		if deletion.Deletes(c.Timestamp) || !c.Live(r.now) {
			continue
		}
		live = true
		to := &r.columns[column]
		if !to.Wanted {
			continue
		}
		if to.Counter {
			if r.shards, err = appendShards(r.shards[:0], c.Value); err != nil {
				return false, r.fault(column, err)
			}
			c.Value = r.sum()
		}
		if n != i {
			cells[n] = *c
		}
		n++
	}
	r.result = cells[:n]
	return live, nil
}

// sum is the value that the shards make.
func (r *rows) sum() []byte {
	at := len(r.sums)
	r.sums = binary.BigEndian.AppendUint64(r.sums, uint64(total(r.shards)))
	return r.sums[at:len(r.sums):len(r.sums)]
}

// gather sorts the cells of all versions by column.
func (r *rows) gather(versions []*data.Row) {
	for _, v := range versions {
		for cells := v.Cells; len(cells) > 0; {
			column, n := cells[0].Column, 1
			for n < len(cells) && cells[n].Column == column {
				n++
			}
			r.touch(column)
			r.runs[column] = append(r.runs[column], cells[:n])
			cells = cells[n:]
		}
		for _, d := range v.ComplexDeletions {
			r.touch(d.Column)
			if d.Time.Supersedes(r.deleted[d.Column]) {
				r.deleted[d.Column] = d.Time
			}
		}
	}
}

func (r *rows) touch(column int32) {
	if len(r.runs[column]) == 0 && r.deleted[column].IsLive() {
		r.touched = append(r.touched, column)
	}
}

func (r *rows) clear() {
	for _, column := range r.touched {
		r.runs[column] = r.runs[column][:0]
		r.deleted[column] = primitive.Live
	}
	r.touched = r.touched[:0]
}

// column merges the cells of one column and tells whether any is live. It keeps
// those of a wanted column; of others it only looks if needed.
func (r *rows) column(i int32, active primitive.DeletionTime, needed bool) (live bool, err error) {
	c := &r.columns[i]
	if !c.Wanted && !needed {
		return false, nil
	}
	before := len(r.cells)
	switch runs := r.runs[i]; {
	case c.Path != nil:
		if r.deleted[i].Supersedes(active) {
			active = r.deleted[i]
		}
		r.complex(runs, active, c.Path)
	case c.Counter:
		err = r.counter(runs, active)
	default:
		r.simple(runs, active)
	}
	live = len(r.cells) > before
	if !c.Wanted {
		r.cells = r.cells[:before]
	}
	return live, err
}

// simple keeps the winner of one cell from each version, if it is live.
func (r *rows) simple(runs [][]data.Cell, active primitive.DeletionTime) {
	var best *data.Cell
	for _, run := range runs {
		c := &run[0]
		if !active.Deletes(c.Timestamp) && (best == nil || supersedes(c, best)) {
			best = c
		}
	}
	r.keep(best)
}

func (r *rows) keep(c *data.Cell) {
	if c != nil && c.Live(r.now) {
		r.cells = append(r.cells, *c)
	}
}

// complex merges the elements of the versions by their paths.
func (r *rows) complex(runs [][]data.Cell, active primitive.DeletionTime, path order.Comparator) {
	if len(runs) == 1 {
		for i := range runs[0] {
			if c := &runs[0][i]; !active.Deletes(c.Timestamp) {
				r.keep(c)
			}
		}
		return
	}
	for {
		// The next path is the smallest of those in front.
		var next []byte
		some := false
		for _, run := range runs {
			if len(run) > 0 && (!some || path(run[0].Path, next) < 0) {
				next, some = run[0].Path, true
			}
		}
		if !some {
			return
		}
		var best *data.Cell
		for i, run := range runs {
			if len(run) == 0 || path(run[0].Path, next) != 0 {
				continue
			}
			runs[i] = run[1:]
			c := &run[0]
			if !active.Deletes(c.Timestamp) && (best == nil || supersedes(c, best)) {
				best = c
			}
		}
		r.keep(best)
	}
}

// counter adds up what the versions count together. A tombstone wins over any
// count, whenever that was (CASSANDRA-7346).
func (r *rows) counter(runs [][]data.Cell, active primitive.DeletionTime) error {
	r.shards = r.shards[:0]
	sum := data.Cell{Timestamp: primitive.NoTimestamp, LocalDeletionTime: primitive.NoDeletionTime}
	some := false
	for _, run := range runs {
		c := &run[0]
		switch {
		case active.Deletes(c.Timestamp):
			continue
		case c.Tombstone():
			return nil
		case c.TTL != 0:
			return errCounter
		}
		some = true
		sum.Column = c.Column
		sum.Timestamp = max(sum.Timestamp, c.Timestamp)
		var err error
		if r.shards, err = appendShards(r.shards, c.Value); err != nil {
			return err
		}
	}
	if !some {
		return nil
	}
	sum.Value = r.sum()
	r.cells = append(r.cells, sum)
	return nil
}
