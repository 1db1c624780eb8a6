package queries

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"manifest/queries/internal/groups"
	"manifest/queries/internal/partial"
	"manifest/queries/internal/vector"
	"manifest/tokenrange"
)

// Aggregation runs a Query over the splits of a table. Begin may be called from any goroutine, and the parts it returns are independent
// of each other; Finish is called when the last part has ended. It has no goroutines and holds no file open between calls.
type Aggregation struct {
	query   *Query
	options Options
	open    atomic.Int64 // parts
}

// New returns an Aggregation and creates its directory.
func New(q *Query, o Options) (*Aggregation, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("aggregate %s: %w", q.name, err)
	}
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("aggregate %s: %w", q.name, err)
	}
	return &Aggregation{query: q, options: o.withDefaults()}, nil
}

// share is the memory of one of the open parts.
func (a *Aggregation) share() int { return int(a.options.Memory / max(1, a.open.Load())) }

// Begin returns a Part that takes the rows of the split. One of Commit and Abort ends it.
func (a *Aggregation) Begin(_ context.Context, split tokenrange.Split) (*Part, error) {
	if split.ID == "" || split.ID != filepath.Base(split.ID) || strings.HasPrefix(split.ID, ".") {
		return nil, fmt.Errorf("begin part %q: not fit as a file name", split.ID)
	}
	p := &Part{
		store:       store{options: a.options, query: a.query.text, name: split.ID},
		aggregation: a,
		split:       split.ID,
		machine:     a.query.program.NewMachine(),
		combiner:    combiner{query: a.query},
	}
	for _, g := range a.query.groupings {
		found, err := groups.New(g.shape, g.states)
		if err != nil {
			return nil, fmt.Errorf("begin part %s: %w", split.ID, err)
		}
		s := set{groups: found}
		for _, slot := range g.keys {
			s.keys = append(s.keys, p.machine.Vector(slot))
		}
		for _, slot := range g.arguments {
			var argument *vector.Vector
			if slot != noSlot {
				argument = p.machine.Vector(slot)
			}
			s.arguments = append(s.arguments, argument)
		}
		p.sets = append(p.sets, s)
	}
	if a.query.partition != nil {
		p.boundaries = newBoundaries(p.machine, a.query.partition)
	}
	if a.query.counted != nil {
		p.tally = newTally(p.machine, a.query.counted)
	}
	a.open.Add(1)
	return p, nil
}

// partPath is the place of the part of a split.
func (a *Aggregation) partPath(split string) string {
	return filepath.Join(a.options.Dir, split+".part")
}

// maxFanIn is how many files a merge has open at most, few enough for the usual limit of 1,024 and for several merges at a time.
const (
	maxFanIn    = 64
	readerBytes = 256 << 10 // A file being merged takes about twice a block of 64 KiB, and a block may be larger.
)

// merger merges files of the query with as many open as fit in the memory.
func (a *Aggregation) merger(memory int, combine partial.Combine) partial.Merger {
	return partial.Merger{
		TempDir: a.options.TempDir,
		FanIn:   max(2, min(maxFanIn, memory/readerBytes)),
		Query:   a.query.text,
		Combine: combine,
	}
}
