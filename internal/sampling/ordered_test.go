package sampling

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Rows in the order of their sample hashes are decided about as all of them together are.
func TestOrderedDecidesAsDecider(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		model, opts := drawRows(t), drawOptions(t, dir)
		opts.Dedupe, opts.Balance, opts.Caps = false, false, nil
		var rows []Row
		for _, r := range byHash(opts.Salt, model) {
			rows = append(rows, r.row(0))
		}
		want, wantCounts := decide(t, opts, rows)
		o, err := NewOrdered(opts)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]Decision{}
		for _, r := range rows {
			d, kept, err := o.Add(r)
			if err != nil {
				t.Fatal(err)
			}
			if kept {
				got[string(r.Name)] = d
			}
		}
		counts, weight := o.Counts(), o.Weight()
		if len(got) != len(want) {
			t.Fatalf("%d rows are kept, not %d", len(got), len(want))
		}
		for id, w := range want {
			d, ok := got[id]
			d.Weight = weight
			if !ok || d.Outcome != w.Outcome || d.Split != w.Split || d.Group != w.Group || d.SampleHash != w.SampleHash || d.Weight != w.Weight {
				t.Fatalf("%s: %+v, not %+v", id, d, w.Decision)
			}
		}
		if counts.Rows != wantCounts.Rows || counts.NoHash != wantCounts.NoHash || !slices.Equal(counts.Stages, wantCounts.Stages) || !slices.Equal(counts.Kept, wantCounts.Kept) {
			t.Fatalf("counts %+v, not %+v", counts, wantCounts)
		}
	})
}

func TestOrderedRefusesWhatItCannotDecide(t *testing.T) {
	for name, o := range map[string]Options{
		"dedupe": {Dedupe: true}, "connect": {Connect: true}, "balance": {Balance: true, Limit: 1}, "cap": {Caps: []int64{0, 1}}, "pins": {Pins: &Pins{}},
	} {
		if _, err := NewOrdered(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o, err := NewOrdered(Options{Caps: []int64{0}})
	if err != nil {
		t.Fatal(err)
	}
	rows := []modelRow{{id: "a"}, {id: "b"}, {id: "c"}}
	sorted := byHash("", rows)
	for _, at := range []int{1, 0} {
		_, _, err = o.Add(sorted[at].row(1))
	}
	if !errors.Is(err, ErrRow) {
		t.Errorf("a row that is out of order gave %v", err)
	}
	if _, _, err := o.Add(sorted[2].row(0)); !errors.Is(err, ErrRow) {
		t.Errorf("a row without its strata gave %v", err)
	}
}
