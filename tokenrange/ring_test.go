package tokenrange_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

// mustRing returns the ring of nodes of the Murmur3Partitioner.
func mustRing(t testing.TB, nodes ...tokenrange.Node) *tokenrange.Ring {
	t.Helper()
	ring, err := tokenrange.NewRing(tokenrange.Murmur3, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// node returns a node of the rack "datacentre/rack" with tokens.
func node(id, place string, tokens ...int64) tokenrange.Node {
	datacenter, rack, _ := strings.Cut(place, "/")
	n := tokenrange.Node{ID: id, Address: "address of " + id, Datacenter: datacenter, Rack: rack}
	for _, v := range tokens {
		n.Tokens = append(n.Tokens, token(v))
	}
	return n
}

func TestPrimaryRanges(t *testing.T) {
	const lowest, highest = math.MinInt64, math.MaxInt64
	tests := []struct {
		name  string
		nodes []tokenrange.Node
		want  []tokenrange.PrimaryRange
	}{
		{"no nodes", nil, []tokenrange.PrimaryRange{{Range: span(lowest, highest)}}},
		{"a node without tokens", []tokenrange.Node{node("a", "dc/r")}, []tokenrange.PrimaryRange{{Range: span(lowest, highest)}}},
		{"one node, one token", []tokenrange.Node{node("a", "dc/r", 7)},
			[]tokenrange.PrimaryRange{{Range: span(lowest, 7), Node: "a"}, {Range: span(7, highest), Node: "a"}}},
		{"vnodes", []tokenrange.Node{node("b", "dc/r", 0, 20), node("a", "dc/r", 10)},
			[]tokenrange.PrimaryRange{{Range: span(lowest, 0), Node: "b"}, {Range: span(0, 10), Node: "a"}, {Range: span(10, 20), Node: "b"}, {Range: span(20, highest), Node: "b"}}},
		{"the minimum as a token", []tokenrange.Node{node("a", "dc/r", lowest), node("b", "dc/r", 0)},
			[]tokenrange.PrimaryRange{{Range: span(lowest, 0), Node: "b"}, {Range: span(0, highest), Node: "a"}}},
		{"the maximum as a token", []tokenrange.Node{node("a", "dc/r", highest), node("b", "dc/r", 0)},
			[]tokenrange.PrimaryRange{{Range: span(lowest, 0), Node: "b"}, {Range: span(0, highest), Node: "a"}}},
		{"the minimum alone", []tokenrange.Node{node("a", "dc/r", lowest)},
			[]tokenrange.PrimaryRange{{Range: span(lowest, highest), Node: "a"}}},
		{"both ends", []tokenrange.Node{node("a", "dc/r", highest), node("b", "dc/r", lowest)},
			[]tokenrange.PrimaryRange{{Range: span(lowest, highest), Node: "a"}}},
	}
	for _, test := range tests {
		if got := mustRing(t, test.nodes...).PrimaryRanges(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestPrimaryRangesTileTheRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := partitioner().Draw(t, "partitioner")
		ring, err := tokenrange.NewRing(p, nodes(p, 8).Draw(t, "nodes"))
		if err != nil {
			t.Fatal(err)
		}
		var ranges []tokenrange.Range
		for _, r := range ring.PrimaryRanges() {
			ranges = append(ranges, r.Range)
			if owner, ok := ring.Primary(r.Range.End); owner.ID != r.Node || ok != (r.Node != "") {
				t.Fatalf("%s is of %q, its end of %q", r.Range, r.Node, owner.ID)
			}
		}
		if err := tokenrange.CheckTiling(tokenrange.NewIntervalSet(p.Ring()), ranges); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNewRingRefuses(t *testing.T) {
	tests := []struct {
		name  string
		nodes []tokenrange.Node
		err   error
		names []string
	}{
		{"a token of two nodes", []tokenrange.Node{node("a", "dc/r", 1, 5), node("b", "dc/r", 5)}, tokenrange.ErrDuplicateToken, []string{"5", "node a", "node b"}},
		{"a token twice", []tokenrange.Node{node("a", "dc/r", 5, 5)}, tokenrange.ErrDuplicateToken, []string{"5", "node a"}},
		{"an id of two nodes", []tokenrange.Node{node("a", "dc/r", 1), node("a", "dc/r", 2)}, tokenrange.ErrDuplicateNode, []string{"id a"}},
		{"no id", []tokenrange.Node{node("", "dc/r", 1)}, tokenrange.ErrDuplicateNode, []string{"address of "}},
		{"a token off the ring", []tokenrange.Node{{ID: "a", Tokens: []tokenrange.Token{tokenrange.Random.Ring().End}}}, tokenrange.ErrOutOfRing, []string{"node a", "170141183460469231731687303715884105728"}},
	}
	for _, test := range tests {
		_, err := tokenrange.NewRing(tokenrange.Murmur3, test.nodes)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.err)
			continue
		}
		for _, name := range test.names {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%s: error %v does not name %s", test.name, err, name)
			}
		}
	}

	_, err := tokenrange.NewRing(tokenrange.Murmur3, []tokenrange.Node{node("a", "dc/r", 5, 6), node("b", "dc/r", 5, 6)})
	if err == nil || strings.Count(err.Error(), "is also of") != 2 {
		t.Errorf("error %v does not report both tokens", err)
	}
}

func TestRingKeepsItsNodes(t *testing.T) {
	given := []tokenrange.Node{node("b", "dc2/r1", 30, 10), node("a", "dc1/r1", 20)}
	ring := mustRing(t, given...)
	given[0].ID, given[0].Tokens[0] = "changed", token(-9)

	if got := fmt.Sprint(ring.Nodes()); got != "[{a address of a dc1 r1 [20]} {b address of b dc2 r1 [10 30]}]" {
		t.Errorf("nodes %s", got)
	}
	if n, ok := ring.Node("b"); !ok || n.Datacenter != "dc2" {
		t.Errorf("Node(b) = %v, %t", n, ok)
	}
	if n, ok := ring.Node("c"); ok {
		t.Errorf("Node(c) = %v", n)
	}
	if ring.Partitioner() != tokenrange.Murmur3 || ring.Range() != tokenrange.Murmur3.Ring() {
		t.Error("partitioner or range is not Murmur3's")
	}
	for tok, want := range map[int64]string{math.MinInt64: "b", 10: "b", 11: "a", 20: "a", 21: "b", 31: "b", math.MaxInt64: "b"} {
		if n, ok := ring.Primary(token(tok)); !ok || n.ID != want {
			t.Errorf("Primary(%d) = %s, want %s", tok, n.ID, want)
		}
	}
}
