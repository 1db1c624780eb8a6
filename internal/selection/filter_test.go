package selection

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"
)

const filterColumns = "i int; s text; price decimal; id timeuuid; ip inet; m map<text, text>; l list<int>; p frozen<place>; ok boolean; ts timestamp"

// filterCondition reads every kind of column in every kind of test.
const filterCondition = "i > 2 AND s GLOB 'row *' AND price < 1e6 AND id IS NOT NULL AND ip != '10.0.0.2' AND m['k'] IN ('v', 'w') AND l CONTAINS 3 AND p.city = 'Köln' AND ok AND " +
	"day(ts) >= '1970-01-01' AND i != p.Zip AND s != m['k']"

func filterRecord(mem memory.Allocator, n int) arrow.Record {
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = []any{
			i, fmt.Sprintf("row %d", i), fmt.Sprintf("%d.50", i), "00000000-0000-1000-8000-000000000000", "10.0.0.1", []entry{{"j", "x"}, {"k", "v"}}, []any{1, 2, 3},
			[]any{"Köln", -1, nil}, i%3 == 0, i,
		}
	}
	return recordOf(mem, columnsOf(filterColumns), rows)
}

func TestFilterServesManyGoroutines(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	f := mustFilter(t, filterCondition, columnsOf(filterColumns))
	var group errgroup.Group
	for worker := range 8 {
		group.Go(func() error {
			for round := range 20 {
				n := 10 + 7*worker + round
				rec := filterRecord(mem, n)
				got, err := f.Apply(mem, rec)
				rec.Release() // What Apply gives does not depend on it.
				if err != nil {
					return err
				}
				var want []int64
				for i := 3; i < n; i += 3 {
					want = append(want, int64(i))
				}
				var have []int64
				for i := range int(got.NumRows()) {
					have = append(have, valueAt(got.Column(0), i).(int64))
				}
				got.Release()
				if !slices.Equal(have, want) {
					return fmt.Errorf("of %d rows %d are wanted, want %d", n, have, want)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAllocationsDoNotGrowWithRows(t *testing.T) {
	allocations := func(rows int) float64 {
		f := mustFilter(t, filterCondition, columnsOf(filterColumns))
		rec := filterRecord(memory.DefaultAllocator, rows)
		defer rec.Release()
		return testing.AllocsPerRun(20, func() {
			kept, err := f.Apply(memory.DefaultAllocator, rec)
			if err != nil {
				t.Fatal(err)
			}
			kept.Release()
		})
	}
	few, many := allocations(100), allocations(10_000)
	// The list of runs of rows is grown, some times more if it is longer.
	if many > few+50 {
		t.Errorf("%v allocations for 100 rows, %v for 10,000", few, many)
	}
}

func TestMaskAppends(t *testing.T) {
	rec := filterRecord(memory.DefaultAllocator, 3)
	defer rec.Release()
	f := mustFilter(t, "i != 1", columnsOf(filterColumns))
	got, err := f.Mask([]bool{false}, rec)
	if want := []bool{false, true, false, true}; err != nil || !slices.Equal(got, want) {
		t.Errorf("mask %v, %v, want %v", got, err, want)
	}
}
