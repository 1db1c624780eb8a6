package tokenrange_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

// options returns any options, some of them unusual.
func options(p tokenrange.Partitioner) *rapid.Generator[tokenrange.PlanOptions] {
	return rapid.Custom(func(t *rapid.T) tokenrange.PlanOptions {
		opts := tokenrange.PlanOptions{
			TargetBytes:      rapid.SampledFrom([]int64{0, 1, 1000, math.MaxInt64}).Draw(t, "target bytes"),
			TargetPartitions: rapid.SampledFrom([]int64{0, 1, 1000, math.MaxInt64}).Draw(t, "target partitions"),
			MinSplits:        rapid.SampledFrom([]int{0, 1, 30}).Draw(t, "at least"),
			MaxSplits:        rapid.SampledFrom([]int{30, 31, 300}).Draw(t, "at most"),
			LocalDatacenter:  rapid.SampledFrom([]string{"", "dc1", "dc2"}).Draw(t, "local"),
			Seed:             rapid.Uint64().Draw(t, "seed"),
		}
		if rapid.Bool().Draw(t, "count") {
			opts.Splits = rapid.IntRange(1, opts.MaxSplits).Draw(t, "splits")
		}
		if rapid.Bool().Draw(t, "has start") {
			start := tokenOn(p).Draw(t, "start")
			opts.Start = &start
		}
		if rapid.Bool().Draw(t, "has end") {
			end := tokenOn(p).Draw(t, "end")
			opts.End = &end
		}
		return opts
	})
}

// asks reports whether options without ranges ask for a token, by their documentation.
func asks(opts tokenrange.PlanOptions, tok tokenrange.Token) bool {
	afterStart := opts.Start == nil || opts.Start.Less(tok)
	upToEnd := opts.End == nil || !opts.End.Less(tok)
	if opts.Start != nil && opts.End != nil && !opts.Start.Less(*opts.End) {
		return *opts.Start == *opts.End || afterStart || upToEnd
	}
	return afterStart && upToEnd
}

func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := partitioner().Draw(t, "partitioner")
		members := nodes(p, 9).Draw(t, "nodes")
		keyspace := replication().Draw(t, "replication")
		guesses := estimates(p).Draw(t, "estimates")
		opts := options(p).Draw(t, "options")

		ring, err := tokenrange.NewRing(p, members)
		if err != nil {
			t.Fatal(err)
		}
		strategy, err := tokenrange.ParseStrategy(keyspace)
		if err != nil {
			t.Fatal(err)
		}
		known := slices.ContainsFunc(members, func(n tokenrange.Node) bool { return n.Datacenter == opts.LocalDatacenter })
		plan, err := tokenrange.NewPlan(ring, strategy, guesses, opts)
		if opts.LocalDatacenter != "" && len(members) > 0 && !known {
			if !errors.Is(err, tokenrange.ErrUnknownDatacenter) && !errors.Is(err, tokenrange.ErrEmptyRange) {
				t.Fatalf("no node is in %q: error %v", opts.LocalDatacenter, err)
			}
			return
		}
		if errors.Is(err, tokenrange.ErrEmptyRange) {
			for range 20 {
				if tok := tokenOn(p).Draw(t, "probe"); p.Ring().Contains(tok) && asks(opts, tok) {
					t.Fatalf("%v, but %s was asked for", err, tok)
				}
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkTiles(t, p, opts, plan)
		checkCount(t, opts, plan)
		checkReplicas(t, ring, strategy, opts.LocalDatacenter, plan)
		checkOrder(t, plan)
		checkRemaining(t, p, plan)
		for _, s := range plan.Splits {
			if s.Partitions < 0 || s.Bytes < 0 {
				t.Fatalf("split %+v has negative estimates", s)
			}
		}

		// The same plan for the same input in another order.
		for i := range members {
			members[i].Tokens = rapid.Permutation(members[i].Tokens).Draw(t, "tokens")
		}
		again, err := tokenrange.NewRing(p, rapid.Permutation(members).Draw(t, "nodes again"))
		if err != nil {
			t.Fatal(err)
		}
		same, err := tokenrange.NewPlan(again, strategy, rapid.Permutation(guesses).Draw(t, "estimates again"), opts)
		if err != nil || !reflect.DeepEqual(plan, same) {
			t.Fatalf("another order of the input gave another plan: %v\n%+v\n%+v", err, plan, same)
		}

		data, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		var back tokenrange.Plan
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(plan, back) {
			t.Fatalf("JSON gave another plan: %v\n%+v\n%+v", err, plan, back)
		}
	})
}

// checkTiles checks the plan as a whole, and some tokens against the options themselves.
func checkTiles(t *rapid.T, p tokenrange.Partitioner, opts tokenrange.PlanOptions, plan tokenrange.Plan) {
	if err := plan.Check(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		tok := tokenOn(p).Draw(t, "probe")
		want := 0
		if p.Ring().Contains(tok) && asks(opts, tok) {
			want = 1
		}
		got := 0
		for _, s := range plan.Splits {
			if s.Range.Contains(tok) {
				got++
			}
		}
		if got != want {
			t.Fatalf("token %s is in %d splits, want %d", tok, got, want)
		}
	}
}

// checkCount checks the number of splits against what was asked for and what there is room for.
func checkCount(t *rapid.T, opts tokenrange.PlanOptions, plan tokenrange.Plan) {
	room := new(big.Int) // a split needs a token
	for _, r := range plan.Asked {
		room.Add(room, new(big.Int).Sub(r.End.Big(), r.Start.Big()))
	}
	fit := func(n int) int {
		n = max(n, len(plan.Asked))
		if room.Cmp(big.NewInt(int64(n))) < 0 {
			return int(room.Int64())
		}
		return n
	}
	got := len(plan.Splits)
	if opts.Splits > 0 {
		if want := fit(opts.Splits); got != want {
			t.Fatalf("%d splits, want %d", got, want)
		}
		return
	}
	least := opts.MinSplits
	if least == 0 {
		least = tokenrange.DefaultMinSplits
	}
	if got < fit(least) || got > fit(opts.MaxSplits) {
		t.Fatalf("%d splits, want %d to %d", got, fit(least), fit(opts.MaxSplits))
	}
}

// checkReplicas checks the replicas of each split against those of the ranges it is made of.
func checkReplicas(t *rapid.T, ring *tokenrange.Ring, strategy tokenrange.Strategy, local string, plan tokenrange.Plan) {
	isLocal := func(id string) bool {
		n, _ := ring.Node(id)
		return local == "" || n.Datacenter == local
	}
	placed := ring.Place(strategy, local).Ranges()
	for _, s := range plan.Splits {
		var of []tokenrange.ReplicaRange
		for _, r := range placed {
			if _, ok := r.Range.Intersect(s.Range); ok {
				of = append(of, r)
			}
		}
		holdAll, holdSome := make(map[string]bool), make(map[string]bool)
		anyLocal, anyLocalHoldsAll := false, false
		for _, r := range of {
			for _, id := range r.Replicas {
				holdSome[id] = true
				anyLocal = anyLocal || isLocal(id)
				inEach := !slices.ContainsFunc(of, func(r tokenrange.ReplicaRange) bool { return !slices.Contains(r.Replicas, id) })
				if inEach {
					holdAll[id] = true
					anyLocalHoldsAll = anyLocalHoldsAll || isLocal(id)
				}
			}
		}
		want := holdSome
		if anyLocalHoldsAll || (!anyLocal && len(holdAll) > 0) {
			want = holdAll
		}
		got := make(map[string]bool)
		for i, id := range s.Replicas {
			got[id] = true
			if i > 0 && isLocal(id) && !isLocal(s.Replicas[i-1]) {
				t.Fatalf("split %s: a local node after a remote one in %v", s.Range, s.Replicas)
			}
		}
		if len(got) != len(s.Replicas) || !reflect.DeepEqual(got, want) {
			t.Fatalf("split %s of %v has the replicas %v, want %v", s.Range, of, s.Replicas, want)
		}
	}
}

// checkOrder checks that splits with the same first replica are apart where that can be.
func checkOrder(t rapid.TB, plan tokenrange.Plan) {
	total := 0
	for _, l := range plan.Load() {
		total += l.Splits
	}
	if total != len(plan.Splits) {
		t.Fatalf("load of %d splits, plan of %d", total, len(plan.Splits))
	}
	first := func(s tokenrange.Split) string { return strings.Join(s.Replicas[:min(1, len(s.Replicas))], "") }
	for _, l := range plan.Load() {
		if l.Splits > (total+1)/2 {
			return
		}
	}
	for i, s := range plan.Splits {
		if i > 0 && first(s) == first(plan.Splits[i-1]) {
			t.Fatalf("splits %d and %d are both of %q first", i-1, i, first(s))
		}
	}
}

// checkRemaining checks that what is left after any part is done tiles the rest.
func checkRemaining(t *rapid.T, p tokenrange.Partitioner, plan tokenrange.Plan) {
	done := tokenrange.NewIntervalSet(rapid.SliceOfN(rangeOn(p), 0, 4).Draw(t, "done")...)
	for _, s := range plan.Splits {
		if rapid.IntRange(0, 3).Draw(t, "is done") == 0 {
			done = done.Union(tokenrange.NewIntervalSet(s.Range))
		}
	}
	left := plan.Remaining(done)
	if err := left.Check(); err != nil {
		t.Fatal(err)
	}
	want := tokenrange.NewIntervalSet(plan.Asked...).Minus(done)
	if got := tokenrange.NewIntervalSet(left.Ranges()...); !got.Equal(want) {
		t.Fatalf("left are %s, want %s", got.Ranges(), want.Ranges())
	}
	rest := plan.Splits
	for _, s := range left.Splits {
		i := slices.IndexFunc(rest, func(whole tokenrange.Split) bool { return whole.Range.ContainsRange(s.Range) })
		if i < 0 {
			t.Fatalf("split %s of the rest is out of order", s.Range)
		}
		rest = rest[i:]
		if !slices.Equal(s.Replicas, rest[0].Replicas) || s.Bytes > rest[0].Bytes || s.Partitions > rest[0].Partitions {
			t.Fatalf("split %+v of the rest is of %+v", s, rest[0])
		}
	}
}
