package sampling

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"manifest/internal/tokensort"
)

// modelRow is a row as the model knows it.
type modelRow struct {
	id, hash, device, tag string
	time                  int64
	pinned                bool
}

func (r modelRow) row(caps int) Row {
	out := Row{ID: []byte("k" + r.id), Name: []byte(r.id), ContentHash: []byte(r.hash), Pinned: r.pinned, Balance: []byte(r.tag)}
	if r.time >= 0 {
		out.Time, out.HasTime = r.time, true
	}
	out.Group, _ = GroupKey(nil, []byte(r.device))
	for range caps {
		out.Strata = append(out.Strata, []byte(r.device))
	}
	return out
}

func drawRows(t *rapid.T) []modelRow {
	rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) modelRow {
		return modelRow{
			hash:   rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "f", "g", "h\x00", "i"}).Draw(t, "hash"),
			device: rapid.SampledFrom([]string{"d1", "d2", "d3", "d4", "d5", "d6"}).Draw(t, "device"),
			tag:    rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "tag"),
			time:   rapid.Int64Range(-1, 3).Draw(t, "time"),
			pinned: rapid.IntRange(0, 9).Draw(t, "pinned") == 0,
		}
	}), 0, 80).Draw(t, "rows")
	for i := range rows {
		rows[i].id = fmt.Sprintf("id%03d", i)
	}
	return rows
}

// byHash sorts rows by their sample hashes.
func byHash(salt string, rows []modelRow) []modelRow {
	return slices.SortedFunc(slices.Values(rows), func(a, b modelRow) int {
		return cmp.Or(cmp.Compare(SampleHash(salt, []byte(a.id)), SampleHash(salt, []byte(b.id))), cmp.Compare(a.id, b.id))
	})
}

// modelDedupe gives the rows that stay, and whose duplicate the others are.
func modelDedupe(rows []modelRow) (kept []modelRow, of map[string]string) {
	of = map[string]string{}
	first := map[string]modelRow{}
	for _, r := range rows {
		if r.hash == "" {
			continue
		}
		o, ok := first[r.hash]
		age := func(r modelRow) int64 {
			if r.time < 0 {
				return math.MaxInt64
			}
			return r.time
		}
		better := r.pinned && !o.pinned || r.pinned == o.pinned && (age(r) < age(o) || age(r) == age(o) && r.id < o.id)
		if !ok || better {
			first[r.hash] = r
		}
	}
	for _, r := range rows {
		if r.hash != "" && first[r.hash].id != r.id {
			of[r.id] = first[r.hash].id
			continue
		}
		kept = append(kept, r)
	}
	return kept, of
}

func modelCap(salt string, rows []modelRow, stratum func(modelRow) string, limit int) []modelRow {
	seen := map[string]int{}
	var kept []modelRow
	for _, r := range byHash(salt, rows) {
		if seen[stratum(r)]++; seen[stratum(r)] <= limit {
			kept = append(kept, r)
		}
	}
	return kept
}

// modelBalance takes one row of each stratum in turn, of smallest hash first, until there are enough.
func modelBalance(salt string, rows []modelRow, limit int) []modelRow {
	strata := map[string][]modelRow{}
	for _, r := range byHash(salt, rows) {
		strata[r.tag] = append(strata[r.tag], r)
	}
	var kept []modelRow
	for round := 0; len(kept) < limit; round++ {
		var next []modelRow
		for _, s := range strata {
			if round < len(s) {
				next = append(next, s[round])
			}
		}
		if len(next) == 0 {
			break
		}
		next = byHash(salt, next)
		kept = append(kept, next[:min(len(next), limit-len(kept))]...)
	}
	return kept
}

type decided struct {
	Decision
	of string
}

func decide(t interface{ Fatal(...any) }, opts Options, rows []Row) (map[string]decided, Counts) {
	d, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := d.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	decisions, err := d.Decide(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	in, err := decisions.Open()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]decided{}
	err = tokensort.Each(context.Background(), in, func(key, value []byte) error {
		dec, err := ParseDecision(bytes.Clone(value))
		if _, twice := got[string(key[1:])]; twice {
			return fmt.Errorf("two decisions about %q", key)
		}
		got[string(key[1:])] = decided{dec, string(dec.Of)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := decisions.Close(); err != nil {
		t.Fatal(err)
	}
	return got, decisions.Counts
}

// drawOptions with little memory, so that most of it is on the disk.
func drawOptions(t *rapid.T, dir string) Options {
	o := Options{
		Salt: rapid.SampledFrom([]string{"", "s"}).Draw(t, "salt"), Dedupe: rapid.Bool().Draw(t, "dedupe"),
		Limit: rapid.Int64Range(0, 30).Draw(t, "limit"), Dir: dir, Memory: rapid.SampledFrom([]int64{1, 1 << 28}).Draw(t, "memory"),
	}
	if cap := rapid.Int64Range(0, 5).Draw(t, "cap"); cap > 0 {
		o.Caps = []int64{cap}
	}
	o.Balance = o.Limit > 0 && rapid.Bool().Draw(t, "balance")
	if f := rapid.SampledFrom([]string{"", "0.5", "100%", "0"}).Draw(t, "fraction"); f != "" {
		o.Fraction, _ = ParseShare(f)
	}
	o.Splits, _ = ParseSplits("train=0.5,validation=0.2,test=0.3")
	return o
}

func TestDecidesAsTheModel(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rows, opts := drawRows(t), drawOptions(t, dir)
		kept, of := rows, map[string]string{}
		if opts.Dedupe {
			kept, of = modelDedupe(rows)
		}
		deduped := kept
		if opts.Fraction.IsSet() {
			f, _ := opts.Fraction.rat().Float64()
			kept = slices.DeleteFunc(slices.Clone(kept), func(r modelRow) bool {
				return float64(SampleHash(opts.Salt, []byte(r.id))) >= f*(1<<63)
			})
		}
		for _, c := range opts.Caps {
			kept = modelCap(opts.Salt, kept, func(r modelRow) string { return r.device }, int(c))
		}
		switch {
		case opts.Balance:
			kept = modelBalance(opts.Salt, kept, int(opts.Limit))
		case opts.Limit > 0:
			kept = modelCap(opts.Salt, kept, func(modelRow) string { return "" }, int(opts.Limit))
		}
		var in []Row
		for _, i := range rapid.Permutation(rows).Draw(t, "order") {
			in = append(in, i.row(len(opts.Caps)))
		}
		got, counts := decide(t, opts, in)
		want := map[string]string{}
		for _, r := range kept {
			want[r.id] = ""
		}
		for id, owner := range of {
			want[id] = owner
		}
		if len(got) != len(want) {
			t.Fatalf("%d decisions, want %d", len(got), len(want))
		}
		for id, owner := range want {
			d, ok := got[id]
			if !ok || (d.Outcome == Duplicate) != (owner != "") || d.of != owner {
				t.Fatalf("%s: %+v, want duplicate of %q", id, d, owner)
			}
			if d.SampleHash != SampleHash(opts.Salt, []byte(id)) {
				t.Fatalf("%s has the sample hash %d", id, d.SampleHash)
			}
		}
		if counts.Rows != int64(len(rows)) || counts.Duplicates != int64(len(rows)-len(deduped)) || counts.Kept[0]+counts.Kept[1]+counts.Kept[2] != int64(len(kept)) {
			t.Fatalf("counts %+v of %d rows, %d kept", counts, len(rows), len(kept))
		}
	})
}

// Weights are unbiased where all strata are drawn from: they add up to the rows that there were.
func TestWeightsAddUpToTheRows(t *testing.T) {
	var rows []Row
	for i := range 900 {
		m := modelRow{id: fmt.Sprint("i", i), device: "d", tag: []string{"x", "y", "y", "z", "z", "z"}[i%6]}
		rows = append(rows, m.row(0))
	}
	got, _ := decide(t, Options{Limit: 302, Balance: true, Dir: t.TempDir()}, rows)
	var sum float64
	strata := map[float32]int{}
	for _, d := range got {
		sum += float64(d.Weight)
		strata[d.Weight]++
	}
	// 150 of x all stay? No: 302 rows from three strata are 100 each and one more of two: 150/(100+2/3), 300/(100+2/3), 450/(100+2/3).
	if len(got) != 302 || len(strata) != 3 || math.Abs(sum-900) > 9 {
		t.Fatalf("%d rows in strata %v weigh %f", len(got), strata, sum)
	}
	for _, w := range []float32{150 / (100 + 2.0/3), 300 / (100 + 2.0/3), 450 / (100 + 2.0/3)} {
		if n := strata[w]; n != 100 && n != 101 {
			t.Errorf("weight %f has %d rows", w, n)
		}
	}
}
