package scan_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/scan"
	"manifest/tokenrange"
)

// tokens is the schema of the model table: one row per token.
var tokens = arrow.NewSchema([]arrow.Field{{Name: "token", Type: arrow.PrimitiveTypes.Int64}}, nil)

// modelTable is a table whose rows are tokens, with faults to order.
type modelTable struct {
	rows []int64 // ascending
	page int     // rows in a record
	// fault, if set, is asked before each record of each read; an error ends
	// the read.
	fault func(split tokenrange.Split, rowsSoFar int) error
	// poison are rows that can't be read.
	poison map[int64]scan.Class

	mu       sync.Mutex
	reading  map[string]int // by node
	mostRead map[string]int
}

func (m *modelTable) Read(_ context.Context, split tokenrange.Split, _ []string, emit func(arrow.Record) error) (scan.ReadStats, error) {
	node := ""
	if len(split.Replicas) > 0 {
		node = split.Replicas[0]
	}
	m.enter(node)
	defer m.leave(node)
	var page []int64
	sent := 0
	flush := func() error {
		if m.fault != nil {
			if err := m.fault(split, sent); err != nil {
				return err
			}
		}
		if len(page) == 0 {
			return nil
		}
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(page, nil)
		column := b.NewArray()
		defer column.Release()
		rec := array.NewRecord(tokens, []arrow.Array{column}, int64(len(page)))
		defer rec.Release()
		sent += len(page)
		page = page[:0]
		return emit(rec)
	}
	for _, row := range m.rows {
		if !split.Range.Contains(tokenrange.Int64Token(row)) {
			continue
		}
		if class, ok := m.poison[row]; ok {
			return scan.ReadStats{}, &scan.ReadError{Range: split.Range, Node: node, Class: class, Key: fmt.Sprintf("token=%d", row), Err: errors.New("poisoned")}
		}
		page = append(page, row)
		if len(page) == m.page {
			if err := flush(); err != nil {
				return scan.ReadStats{}, err
			}
		}
	}
	return scan.ReadStats{Node: node, Pages: 1}, flush()
}

func (m *modelTable) enter(node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reading == nil {
		m.reading, m.mostRead = map[string]int{}, map[string]int{}
	}
	m.reading[node]++
	m.mostRead[node] = max(m.mostRead[node], m.reading[node])
}

func (m *modelTable) leave(node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reading[node]--
}

// keeper keeps the rows of committed parts, as a consumer should.
type keeper struct {
	mu        sync.Mutex
	committed map[string][]int64 // by split id
	twice     []string           // splits that were committed again
	open      int
	writeErr  error
	commitErr error
}

func (k *keeper) Begin(_ context.Context, split tokenrange.Split) (scan.Part, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open++
	return &keeperPart{keeper: k, split: split.ID}, nil
}

func (k *keeper) rows(ids []string) []int64 {
	var rows []int64
	for _, id := range ids {
		rows = append(rows, k.committed[id]...)
	}
	return rows
}

type keeperPart struct {
	keeper *keeper
	split  string
	rows   []int64
}

func (p *keeperPart) Write(_ context.Context, rec arrow.Record) error {
	p.rows = append(p.rows, rec.Column(0).(*array.Int64).Int64Values()...)
	return p.keeper.writeErr
}

func (p *keeperPart) Commit(context.Context) error {
	p.keeper.mu.Lock()
	defer p.keeper.mu.Unlock()
	if p.keeper.commitErr != nil {
		return p.keeper.commitErr
	}
	if p.keeper.committed == nil {
		p.keeper.committed = map[string][]int64{}
	}
	if _, ok := p.keeper.committed[p.split]; ok {
		p.keeper.twice = append(p.keeper.twice, p.split)
	}
	p.keeper.committed[p.split] = p.rows
	p.keeper.open--
	return nil
}

func (p *keeperPart) Abort() {
	p.keeper.mu.Lock()
	defer p.keeper.mu.Unlock()
	p.keeper.open--
}

// evenPlan cuts the Murmur3 ring into n splits on the nodes in turn.
func evenPlan(t interface {
	Helper()
	Fatal(...any)
}, n int, nodes ...string) tokenrange.Plan {
	t.Helper()
	murmur3, err := tokenrange.PartitionerByName("Murmur3Partitioner")
	if err != nil {
		t.Fatal(err)
	}
	plan := tokenrange.Plan{Partitioner: murmur3.Name(), Asked: []tokenrange.Range{murmur3.Ring()}}
	for i, r := range murmur3.Ring().Split(n) {
		s := tokenrange.Split{ID: r.ID(), Range: r}
		for j := range nodes {
			s.Replicas = append(s.Replicas, nodes[(i+j)%len(nodes)])
		}
		plan.Splits = append(plan.Splits, s)
	}
	return plan
}

// fast are options without long pauses.
func fast(o scan.Options) scan.Options {
	o.Columns = []string{"token"}
	o.Backoff, o.MaxBackoff = time.Microsecond, time.Millisecond
	if o.Patience == 0 {
		o.Patience = 20 * time.Millisecond
	}
	return o
}

func readError(split tokenrange.Split, class scan.Class) error {
	return &scan.ReadError{Range: split.Range, Class: class, Err: errors.New("ordered by the test")}
}

// spread gives n rows all over the ring, in order.
func spread(n int) []int64 {
	rows := make([]int64, n)
	step := ^uint64(0) / uint64(n+1)
	for i := range rows {
		rows[i] = int64(uint64(i+1)*step ^ 1<<63)
	}
	return rows
}

func equal(a, b []int64) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d rows, not %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			return fmt.Errorf("row %d is %d, not %d", i, a[i], b[i])
		}
	}
	return nil
}
