package tokenrange_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"manifest/tokenrange"
)

// mustPlan returns a plan and fails on one that does not tile.
func mustPlan(t testing.TB, ring *tokenrange.Ring, strategy tokenrange.Strategy, estimates []tokenrange.Estimate, opts tokenrange.PlanOptions) tokenrange.Plan {
	t.Helper()
	plan, err := tokenrange.NewPlan(ring, strategy, estimates, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Check(); err != nil {
		t.Fatal(err)
	}
	return plan
}

// cluster returns nodes of one datacentre on three racks, with random tokens.
func cluster(count, vnodes int) []tokenrange.Node {
	random := rand.New(rand.NewPCG(1, uint64(count*vnodes)))
	nodes := make([]tokenrange.Node, count)
	for i := range nodes {
		nodes[i] = node(fmt.Sprintf("node%04d", i), fmt.Sprintf("dc/r%d", i%3))
		for range vnodes {
			nodes[i].Tokens = append(nodes[i].Tokens, token(int64(random.Uint64())))
		}
	}
	return nodes
}

// sized returns the estimates of every node for a table of partitions of a mean size, spread
// over the ring as hashing does.
func sized(ring *tokenrange.Ring, partitions, mean int64) []tokenrange.Estimate {
	var estimates []tokenrange.Estimate
	var before float64
	for _, r := range ring.PrimaryRanges() {
		upTo := tokenrange.Range{Start: ring.Range().Start, End: r.Range.End}.Fraction(ring.Range())
		count := int64(upTo*float64(partitions)) - int64(before*float64(partitions))
		before = upTo
		estimates = append(estimates, tokenrange.Estimate{Range: r.Range, Partitions: count, MeanBytes: mean})
	}
	return estimates
}

func TestNumberOfSplits(t *testing.T) {
	const MiB = 1 << 20
	tests := []struct {
		name                    string
		nodes, vnodes           int
		partitions, mean        int64 // 0 partitions: no estimates
		opts                    tokenrange.PlanOptions
		least, most             int
		basis                   tokenrange.Basis
		replicasApart, balanced bool // splits are of one replica set; nodes are first for equal numbers
	}{
		{"40 rows on 100 nodes of 256 vnodes", 100, 256, 40, 92, tokenrange.PlanOptions{}, 2, 16, tokenrange.ByEstimates, false, false},
		{"40 rows on one node", 1, 1, 40, 92, tokenrange.PlanOptions{}, 2, 16, tokenrange.ByEstimates, true, true},
		{"40 rows on 6 nodes of 16 vnodes", 6, 16, 40, 92, tokenrange.PlanOptions{}, 2, 16, tokenrange.ByEstimates, false, false},
		{"1 GiB on 3 nodes", 3, 16, 1 << 20, 1024, tokenrange.PlanOptions{}, 32, 32, tokenrange.ByEstimates, true, true},
		{"1 GiB at 4 MiB a split", 3, 16, 1 << 20, 1024, tokenrange.PlanOptions{TargetBytes: 4 * MiB}, 256, 257, tokenrange.ByEstimates, true, true},
		{"10 GiB on 100 nodes of 256 vnodes: not a split for each", 100, 256, 10 << 20, 1024, tokenrange.PlanOptions{}, 318, 322, tokenrange.ByEstimates, false, false},
		{"500 GiB there: near a split for each", 100, 256, 500 << 20, 1024, tokenrange.PlanOptions{}, 24000, 25600, tokenrange.ByEstimates, true, true},
		{"2 TiB there: ranges are cut", 100, 256, 2 << 30, 1024, tokenrange.PlanOptions{}, 64000, 68000, tokenrange.ByEstimates, true, true},
		{"20 TiB there: the bound", 100, 256, 20 << 30, 1024, tokenrange.PlanOptions{}, 100_000, 100_000, tokenrange.ByEstimates, true, true},
		{"tiny partitions count by number", 3, 1, 100_000_000, 1, tokenrange.PlanOptions{}, 399, 401, tokenrange.ByEstimates, true, true},
		{"partitions without a size", 3, 1, 1_000_000, 0, tokenrange.PlanOptions{TargetPartitions: 10_000}, 99, 101, tokenrange.ByEstimates, true, true},
		{"nothing known, one node", 1, 1, 0, 0, tokenrange.PlanOptions{}, 32, 32, tokenrange.ByRing, true, true},
		{"nothing known, 3 nodes of 256 vnodes", 3, 256, 0, 0, tokenrange.PlanOptions{}, 32, 32, tokenrange.ByRing, true, true},
		{"nothing known, 100 nodes of 16 vnodes", 100, 16, 0, 0, tokenrange.PlanOptions{}, 1400, 1601, tokenrange.ByRing, true, false},
		{"nothing known, 100 nodes of 256 vnodes", 100, 256, 0, 0, tokenrange.PlanOptions{}, 400, 400, tokenrange.ByRing, false, false},
		{"nothing known, no nodes", 0, 0, 0, 0, tokenrange.PlanOptions{}, 32, 32, tokenrange.ByRing, true, false},
		{"7 splits of 48 ranges", 3, 16, 0, 0, tokenrange.PlanOptions{Splits: 7}, 7, 7, tokenrange.ByCount, true, false},
		{"7 splits of 1536 ranges", 6, 256, 1 << 20, 1024, tokenrange.PlanOptions{Splits: 7}, 7, 7, tokenrange.ByCount, false, false},
		{"2000 splits of 1536 ranges", 6, 256, 1 << 20, 1024, tokenrange.PlanOptions{Splits: 2000}, 2000, 2000, tokenrange.ByCount, true, true},
		{"one split", 6, 256, 1 << 20, 1024, tokenrange.PlanOptions{Splits: 1}, 1, 1, tokenrange.ByCount, false, false},
		{"at least", 3, 1, 40, 92, tokenrange.PlanOptions{MinSplits: 60}, 60, 60, tokenrange.ByEstimates, true, true},
		{"at least one", 1, 1, 40, 92, tokenrange.PlanOptions{MinSplits: 1}, 1, 1, tokenrange.ByEstimates, true, true},
		{"at most", 6, 256, 1 << 30, 1024, tokenrange.PlanOptions{MaxSplits: 50}, 50, 50, tokenrange.ByEstimates, false, false},
		{"at most, below the default of at least", 6, 256, 1 << 30, 1024, tokenrange.PlanOptions{MaxSplits: 3}, 3, 3, tokenrange.ByEstimates, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ring := mustRing(t, cluster(test.nodes, test.vnodes)...)
			strategy := network(t, "dc:3")
			var estimates []tokenrange.Estimate
			if test.partitions > 0 {
				estimates = sized(ring, test.partitions, test.mean)
			}
			plan := mustPlan(t, ring, strategy, estimates, test.opts)
			if n := len(plan.Splits); n < test.least || n > test.most {
				t.Errorf("%d splits, want %d to %d", n, test.least, test.most)
			}
			if plan.Basis != test.basis {
				t.Errorf("basis %s, want %s", plan.Basis, test.basis)
			}
			if test.replicasApart {
				for _, s := range plan.Splits {
					if want := min(3, test.nodes); len(s.Replicas) != want {
						t.Fatalf("split %s has the replicas %v, want %d", s.Range, s.Replicas, want)
					}
				}
			}
			if test.balanced {
				loads := plan.Load()
				if len(loads) != test.nodes {
					t.Errorf("%d of %d nodes are first for a split", len(loads), test.nodes)
				}
				low := slices.MinFunc(loads, func(a, b tokenrange.NodeLoad) int { return int(a.Bytes - b.Bytes) })
				high := slices.MaxFunc(loads, func(a, b tokenrange.NodeLoad) int { return int(a.Bytes - b.Bytes) })
				if spread := float64(high.Bytes-low.Bytes) / float64(max(high.Bytes, 1)); spread > 0.35 {
					t.Errorf("load of the nodes from %+v to %+v", low, high)
				}
			}
		})
	}
}

func TestAskedPart(t *testing.T) {
	const lowest, highest = math.MinInt64, math.MaxInt64
	at := func(v int64) *tokenrange.Token { return new(token(v)) }
	tests := []struct {
		name       string
		start, end *tokenrange.Token
		want       []tokenrange.Range
		err        error
	}{
		{"all", nil, nil, []tokenrange.Range{span(lowest, highest)}, nil},
		{"after 0", at(0), nil, []tokenrange.Range{span(0, highest)}, nil},
		{"up to 0", nil, at(0), []tokenrange.Range{span(lowest, 0)}, nil},
		{"between", at(-4), at(9), []tokenrange.Range{span(-4, 9)}, nil},
		{"around the end", at(9), at(-4), []tokenrange.Range{span(lowest, -4), span(9, highest)}, nil},
		{"once around", at(9), at(9), []tokenrange.Range{span(lowest, highest)}, nil},
		{"from the minimum", at(lowest), at(3), []tokenrange.Range{span(lowest, 3)}, nil},
		{"minimum as an end", at(3), at(lowest), []tokenrange.Range{span(3, highest)}, nil},
		{"after the last", at(highest), nil, nil, tokenrange.ErrEmptyRange},
		{"up to before the first", nil, at(lowest), nil, tokenrange.ErrEmptyRange},
		{"after the last, up to before the first", at(highest), at(lowest), nil, tokenrange.ErrEmptyRange},
		{"off the ring", new(tokenrange.Random.Ring().End), nil, nil, tokenrange.ErrOutOfRing},
	}
	for _, test := range tests {
		plan, err := tokenrange.NewPlan(mustRing(t, cluster(3, 2)...), network(t, "dc:3"), nil, tokenrange.PlanOptions{Start: test.start, End: test.end})
		if !errors.Is(err, test.err) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.err)
		} else if !slices.Equal(plan.Asked, test.want) {
			t.Errorf("%s: asked %s, want %s", test.name, plan.Asked, test.want)
		} else if err := plan.Check(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestSplitsOfUnequalParts asks for a fifth of the tokens in one range of the ring and the rest
// in 64, which are merged. Each part gets its share of the splits.
func TestSplitsOfUnequalParts(t *testing.T) {
	nodes := make([]tokenrange.Node, 4)
	for i := range nodes {
		nodes[i] = node(fmt.Sprint(i), "dc/r")
	}
	for i := range 64 {
		nodes[i%4].Tokens = append(nodes[i%4].Tokens, token(int64(i)<<57))
	}
	alone, shared := span(-1<<62, -1<<61), span(0, math.MaxInt64)
	plan := mustPlan(t, mustRing(t, nodes...), network(t, "dc:1"), nil, tokenrange.PlanOptions{Ranges: []tokenrange.Range{alone, shared}, Splits: 20})
	count := 0
	for _, s := range plan.Splits {
		if alone.ContainsRange(s.Range) {
			count++
		}
	}
	if count != 4 || len(plan.Splits) != 20 {
		t.Errorf("%d of %d splits are of the fifth, want 4 of 20", count, len(plan.Splits))
	}
}

// TestOneRangeOutweighsAll has 49 ranges of one token each, which are merged, and one of all
// others, which is cut all the same.
func TestOneRangeOutweighsAll(t *testing.T) {
	nodes := []tokenrange.Node{node("a", "dc/r"), node("b", "dc/r")}
	for i := range 50 {
		nodes[i%2].Tokens = append(nodes[i%2].Tokens, token(int64(i)))
	}
	ring := mustRing(t, nodes...)
	plan := mustPlan(t, ring, network(t, "dc:1"), nil, tokenrange.PlanOptions{Splits: 10})
	if len(plan.Splits) != 10 {
		t.Errorf("%d splits", len(plan.Splits))
	}
	for _, s := range plan.Splits {
		if share := s.Range.Fraction(ring.Range()); share > 0.15 {
			t.Errorf("split %s has %.0f%% of the ring", s.Range, 100*share)
		}
	}
}

func TestExplicitRanges(t *testing.T) {
	given := []tokenrange.Range{span(50, 90), span(0, 10), span(10, 20)}
	sorted := []tokenrange.Range{span(0, 10), span(10, 20), span(50, 90)}
	unknown, err := tokenrange.NewRing(tokenrange.ExplicitPartitioner("com.example.Own"), []tokenrange.Node{node("a", "dc/r")})
	if err != nil {
		t.Fatal(err)
	}
	for _, ring := range []*tokenrange.Ring{unknown, mustRing(t, cluster(4, 2)...)} {
		plan := mustPlan(t, ring, network(t, "dc:3"), nil, tokenrange.PlanOptions{Ranges: given})
		if got := rangesOf(plan.ByToken()); !slices.Equal(got, sorted) || plan.Basis != tokenrange.ByRanges {
			t.Errorf("splits %s by %s, want the ranges %s", got, plan.Basis, sorted)
		}
		data, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		var back tokenrange.Plan
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, plan) {
			t.Errorf("JSON gave %+v, %v, want %+v", back, err, plan)
		}

		plan = mustPlan(t, ring, network(t, "dc:3"), nil, tokenrange.PlanOptions{Ranges: given, Splits: 6})
		if want := []tokenrange.Range{span(0, 20), span(50, 90)}; len(plan.Splits) != 6 || !slices.Equal(plan.Asked, want) {
			t.Errorf("%d splits of %s, want 6 of %s", len(plan.Splits), plan.Asked, want)
		}
	}

	_, err = tokenrange.NewPlan(unknown, tokenrange.Strategy{}, nil, tokenrange.PlanOptions{})
	if !errors.Is(err, tokenrange.ErrUnsupportedPartitioner) || !strings.Contains(err.Error(), "com.example.Own") {
		t.Errorf("without ranges: error %v", err)
	}
	var tiling *tokenrange.TilingError
	_, err = tokenrange.NewPlan(unknown, tokenrange.Strategy{}, nil, tokenrange.PlanOptions{Ranges: []tokenrange.Range{span(0, 10), span(9, 20)}})
	if !errors.As(err, &tiling) || tiling.Fault != tokenrange.Overlap || tiling.Range != span(9, 10) {
		t.Errorf("overlapping ranges: error %v", err)
	}
	_, err = tokenrange.NewPlan(mustRing(t), tokenrange.Strategy{}, nil, tokenrange.PlanOptions{Ranges: []tokenrange.Range{tokenrange.Random.Ring()}})
	if !errors.Is(err, tokenrange.ErrOutOfRing) {
		t.Errorf("ranges of another partitioner: error %v", err)
	}
}

func rangesOf(splits []tokenrange.Split) []tokenrange.Range {
	var ranges []tokenrange.Range
	for _, s := range splits {
		ranges = append(ranges, s.Range)
	}
	return ranges
}

func TestPlanOptionsValidateReportsAll(t *testing.T) {
	err := tokenrange.PlanOptions{
		Splits: -1, TargetBytes: -2, TargetPartitions: -3, MinSplits: -4, MaxSplits: -5,
		Start: new(token(0)), Ranges: []tokenrange.Range{span(0, 1)},
	}.Validate()
	for _, part := range []string{"-1", "-2", "-3", "-4", "-5", "both"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not tell of %s", err, part)
		}
	}
	for _, opts := range []tokenrange.PlanOptions{{MinSplits: 9, MaxSplits: 8}, {Splits: 9, MaxSplits: 8}, {Splits: tokenrange.DefaultMaxSplits + 1}} {
		if err := opts.Validate(); err == nil {
			t.Errorf("%+v: no error", opts)
		}
	}
	if _, err := tokenrange.NewPlan(mustRing(t), tokenrange.Strategy{}, nil, tokenrange.PlanOptions{Splits: -1}); err == nil {
		t.Error("a plan of -1 splits")
	}
	for _, opts := range []tokenrange.PlanOptions{{}, {MaxSplits: 1}, {Splits: 8, MaxSplits: 8}, {MinSplits: 200_000}, {Splits: 200_000, MaxSplits: 300_000}} {
		if err := opts.Validate(); err != nil {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

func TestUnknownDatacentre(t *testing.T) {
	_, err := tokenrange.NewPlan(mustRing(t, cluster(3, 1)...), network(t, "dc:3"), nil, tokenrange.PlanOptions{LocalDatacenter: "DC"})
	if !errors.Is(err, tokenrange.ErrUnknownDatacenter) || !strings.Contains(err.Error(), `"DC"`) || !strings.Contains(err.Error(), `"dc"`) {
		t.Errorf("error %v does not name it and those there are", err)
	}
}

// TestSeed checks that the seed changes the order and nothing else.
func TestSeed(t *testing.T) {
	ring := mustRing(t, cluster(6, 16)...)
	one := mustPlan(t, ring, network(t, "dc:3"), nil, tokenrange.PlanOptions{Splits: 500, Seed: 1})
	two := mustPlan(t, ring, network(t, "dc:3"), nil, tokenrange.PlanOptions{Splits: 500, Seed: 2})
	if !reflect.DeepEqual(one.ByToken(), two.ByToken()) {
		t.Error("the seed changed the splits")
	}
	if reflect.DeepEqual(one.Splits, two.Splits) || reflect.DeepEqual(one.Splits, one.ByToken()) {
		t.Error("the order is not shuffled by the seed")
	}
	// Each node's splits are spread over the whole of the work.
	for _, l := range one.Load() {
		first := 0
		for _, s := range one.Splits[:250] {
			if s.Replicas[0] == l.Node {
				first++
			}
		}
		if first < l.Splits/2-2 || first > l.Splits/2+2 {
			t.Errorf("node %s has %d of its %d splits in the first half", l.Node, first, l.Splits)
		}
	}
}

// TestOrderKeepsNodesApart gives each of three nodes, without other replicas, up to five ranges:
// a node is first twice in a row only where it has more than half of all.
func TestOrderKeepsNodesApart(t *testing.T) {
	ring := mustRing(t, node("a", "dc/r", 100), node("b", "dc/r", 200), node("c", "dc/r", 300))
	for counts := range 6 * 6 * 6 {
		var opts tokenrange.PlanOptions
		for i, count := range []int{counts % 6, counts / 6 % 6, counts / 36} {
			for j := range count {
				start := int64(100*i + j)
				opts.Ranges = append(opts.Ranges, span(start, start+1))
			}
		}
		if counts == 0 {
			continue
		}
		for opts.Seed = range 4 {
			checkOrder(t, mustPlan(t, ring, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 1}), nil, opts))
		}
	}
}

// TestBalanceIsByWeight has one range as wide as six others together: one node is first for it,
// the other for those.
func TestBalanceIsByWeight(t *testing.T) {
	ring := mustRing(t, node("a", "dc/r", 0), node("b", "dc/r", 1000))
	opts := tokenrange.PlanOptions{Ranges: []tokenrange.Range{span(500, 560)}}
	for i := range int64(6) {
		opts.Ranges = append(opts.Ranges, span(200+20*i, 210+20*i))
	}
	plan := mustPlan(t, ring, network(t, "dc:2"), nil, opts)
	for _, l := range plan.Load() {
		if l.Splits != 1 && l.Splits != 6 {
			t.Errorf("load %+v, want one split or six", l)
		}
	}
}

// TestMergedToTheCountAsked has its weight in the last ranges, none of which holds enough to be
// cut: there are as many splits all the same.
func TestMergedToTheCountAsked(t *testing.T) {
	a, b := node("a", "dc/r", 1, 3, 5, 1006, 3006), node("b", "dc/r", 2, 4, 6, 2006, 4006)
	opts := tokenrange.PlanOptions{Start: new(token(0)), End: new(token(4006)), Splits: 6}
	if plan := mustPlan(t, mustRing(t, a, b), network(t, "dc:1"), nil, opts); len(plan.Splits) != 6 {
		t.Errorf("splits %s, want 6", rangesOf(plan.ByToken()))
	}
}

// TestEstimatesDoNotLeaveHugeSplits has a node that says 0 of its part, as one does that has not
// flushed, and another whose word for one range is nonsense within belief.
func TestEstimatesDoNotLeaveHugeSplits(t *testing.T) {
	ring := mustRing(t, node("a", "dc/r", math.MinInt64), node("b", "dc/r", -1<<62), node("c", "dc/r", 0), node("d", "dc/r", 1<<62))
	guesses := sized(ring, 1<<22, 1024)
	guesses[1].Partitions = 0
	plan := mustPlan(t, ring, network(t, "dc:1"), guesses, tokenrange.PlanOptions{})
	for _, s := range plan.Splits {
		if share := s.Range.Fraction(ring.Range()); share > 0.05 {
			t.Errorf("split %s has %.0f%% of the ring", s.Range, 100*share)
		}
	}
	guesses[1].Partitions = 1 << 40
	plan = mustPlan(t, ring, network(t, "dc:1"), guesses, tokenrange.PlanOptions{MaxSplits: 1000})
	for _, s := range plan.Splits {
		if share := s.Range.Fraction(ring.Range()); share > 0.05 {
			t.Errorf("split %s has %.0f%% of the ring", s.Range, 100*share)
		}
	}
}

func TestSplitHalve(t *testing.T) {
	s := tokenrange.NewSplit(span(0, 7), "b", "a")
	s.Partitions, s.Bytes = 11, 100
	a, b, ok := s.Halve()
	if !ok || a.Range != span(0, 3) || b.Range != span(3, 7) {
		t.Fatalf("halves %s and %s, %t", a.Range, b.Range, ok)
	}
	if a.ID != a.Range.ID() || b.ID != b.Range.ID() || a.ID >= b.ID {
		t.Errorf("ids %q and %q", a.ID, b.ID)
	}
	if a.Partitions+b.Partitions != 11 || a.Bytes+b.Bytes != 100 || a.Bytes != 43 { // 3/7 of 100
		t.Errorf("estimates %d+%d and %d+%d", a.Partitions, b.Partitions, a.Bytes, b.Bytes)
	}
	if want := []string{"b", "a"}; !slices.Equal(a.Replicas, want) || !slices.Equal(b.Replicas, want) {
		t.Errorf("replicas %v and %v", a.Replicas, b.Replicas)
	}
	if _, _, ok := tokenrange.NewSplit(span(6, 7)).Halve(); ok {
		t.Error("one token was halved")
	}
	s.Bytes = math.MaxInt64
	if a, b, _ := s.Halve(); a.Bytes < 0 || b.Bytes < 0 || a.Bytes+b.Bytes != math.MaxInt64 {
		t.Errorf("halves of the largest estimate %d and %d", a.Bytes, b.Bytes)
	}
}

func TestLoad(t *testing.T) {
	split := func(r tokenrange.Range, partitions, bytes int64, replicas ...string) tokenrange.Split {
		s := tokenrange.NewSplit(r, replicas...)
		s.Partitions, s.Bytes = partitions, bytes
		return s
	}
	plan := tokenrange.Plan{Splits: []tokenrange.Split{
		split(span(0, 1), 5, 50, "b", "a"), split(span(1, 2), 6, 60), split(span(2, 3), 7, math.MaxInt64, "b"), split(span(3, 4), 8, 80, "a"),
	}}
	want := []tokenrange.NodeLoad{{Node: "", Splits: 1, Partitions: 6, Bytes: 60}, {Node: "a", Splits: 1, Partitions: 8, Bytes: 80}, {Node: "b", Splits: 2, Partitions: 12, Bytes: math.MaxInt64}}
	if got := plan.Load(); !slices.Equal(got, want) {
		t.Errorf("load %+v, want %+v", got, want)
	}
}
