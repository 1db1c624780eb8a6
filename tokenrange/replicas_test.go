package tokenrange_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

// mustStrategy returns the strategy of a replication map.
func mustStrategy(t testing.TB, replication map[string]string) tokenrange.Strategy {
	t.Helper()
	s, err := tokenrange.ParseStrategy(replication)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// network returns a NetworkTopologyStrategy from "dc1:3 dc2:1".
func network(t testing.TB, factors string) tokenrange.Strategy {
	t.Helper()
	replication := map[string]string{"class": "NetworkTopologyStrategy"}
	for _, field := range strings.Fields(factors) {
		dc, factor, _ := strings.Cut(field, ":")
		replication[dc] = factor
	}
	return mustStrategy(t, replication)
}

// TestReplicasOfCassandra compares with the full replicas that Cassandra 5.0.6's own strategies
// gave on rings of up to 17 nodes; testdata/CassandraVectors.java wrote the file.
func TestReplicasOfCassandra(t *testing.T) {
	data, err := os.ReadFile("testdata/replicas.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Nodes     []tokenrange.Node
		Keyspaces []struct {
			Replication map[string]string
			Full        map[tokenrange.Token][]string
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, c := range cases {
		ring := mustRing(t, c.Nodes...)
		for _, ks := range c.Keyspaces {
			ranges := ring.Place(mustStrategy(t, ks.Replication), "").Ranges()
			for _, r := range ranges {
				// The range after the last token is the rest of the one that ends at the first.
				end := r.Range.End
				if _, ok := ks.Full[end]; !ok {
					end = ring.PrimaryRanges()[0].Range.End
					if first := token(math.MinInt64); ks.Full[first] != nil {
						end = first
					}
				}
				want, ok := ks.Full[end]
				if !ok {
					t.Fatalf("ring %d: no outcome for %s", i, end)
				}
				if !slices.Equal(r.Replicas, want) {
					t.Errorf("ring %d, %v: replicas of %s are %v, want %v", i, ks.Replication, r.Range, r.Replicas, want)
				}
				compared++
			}
		}
	}
	if compared < 1000 {
		t.Fatalf("only %d ranges compared", compared)
	}
}

// modelReplicas is what the strategies promise, written for clarity: the replicas of the tokens
// up to end, without transient ones. In a datacentre racks without a replica come first, and
// nodes that were passed over make up for racks that are missing.
func modelReplicas(nodes []tokenrange.Node, replication map[string]string, end tokenrange.Token) map[string]bool {
	type owned struct {
		tokenrange.Token
		node tokenrange.Node
	}
	var walk []owned
	for _, n := range nodes {
		for _, tok := range n.Tokens {
			walk = append(walk, owned{tok, n})
		}
	}
	slices.SortFunc(walk, func(a, b owned) int { return a.Compare(b.Token) })
	if len(walk) == 0 {
		return nil
	}
	start := 0
	for start < len(walk) && walk[start].Less(end) {
		start++
	}
	walk = slices.Concat(walk[start%len(walk):], walk[:start%len(walk)])

	replicas := make(map[string]bool)
	factor := func(s string) int {
		all, _ := strconv.Atoi(s) // 0 of the class, which names no datacentre
		return all
	}
	class := replication["class"]
	switch class[strings.LastIndex(class, ".")+1:] {
	case "SimpleStrategy":
		for _, o := range walk {
			if len(replicas) < factor(replication["replication_factor"]) {
				replicas[o.node.ID] = true
			}
		}
	case "EverywhereStrategy":
		for _, o := range walk {
			replicas[o.node.ID] = true
		}
	case "NetworkTopologyStrategy":
		for dc := range replication {
			seen, chosen := make(map[string]bool), make(map[string]bool)
			for pass := range 2 {
				for _, o := range walk {
					first := o.node.Datacenter == dc && !chosen[o.node.ID] && len(chosen) < factor(replication[dc])
					if first && (pass == 1 || !seen[o.node.Rack]) {
						chosen[o.node.ID], seen[o.node.Rack] = true, true
					}
				}
			}
			for id := range chosen {
				replicas[id] = true
			}
		}
	}
	return replicas
}

func TestReplicasAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := partitioner().Draw(t, "partitioner")
		cluster := nodes(p, 12).Draw(t, "nodes")
		keyspace := replication().Filter(func(m map[string]string) bool {
			return !strings.Contains(m["class"], "Local") && !strings.Contains(fmt.Sprint(m), "/")
		}).Draw(t, "replication")
		ring, err := tokenrange.NewRing(p, cluster)
		if err != nil {
			t.Fatal(err)
		}
		strategy, err := tokenrange.ParseStrategy(keyspace)
		if err != nil {
			t.Fatal(err)
		}
		local := rapid.SampledFrom([]string{"", "dc1", "dc2"}).Draw(t, "local")
		var ranges []tokenrange.Range
		for _, r := range ring.Place(strategy, local).Ranges() {
			ranges = append(ranges, r.Range)
			want := modelReplicas(cluster, keyspace, r.Range.End)
			got := make(map[string]bool)
			remoteSeen := false
			for _, id := range r.Replicas {
				got[id] = true
				n, _ := ring.Node(id)
				if n.Datacenter == local && remoteSeen {
					t.Fatalf("%s: a local node after a remote one in %v", r.Range, r.Replicas)
				}
				remoteSeen = remoteSeen || n.Datacenter != local
			}
			if len(got) != len(r.Replicas) || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%v: replicas of %s are %v, want %v", keyspace, r.Range, r.Replicas, want)
			}
		}
		if err := tokenrange.CheckTiling(tokenrange.NewIntervalSet(p.Ring()), ranges); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReplicasByHand(t *testing.T) {
	const lowest, highest = math.MinInt64, math.MaxInt64
	oneRackTwice := []tokenrange.Node{node("a1", "dc/r1", 10), node("a2", "dc/r1", 20), node("a3", "dc/r1", 30), node("b1", "dc/r2", 40)}
	twoDatacentres := []tokenrange.Node{
		node("e1", "east/r1", 10), node("e2", "east/r2", 30), node("e3", "east/r3", 50),
		node("w1", "west/r1", 20), node("w2", "west/r1", 40),
	}
	tests := []struct {
		name     string
		nodes    []tokenrange.Node
		strategy tokenrange.Strategy
		local    string
		of       tokenrange.Range
		want     string
	}{
		{"simple", oneRackTwice, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 2}), "", span(10, 20), "a2 a3"},
		{"simple, around the end", oneRackTwice, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 3}), "", span(40, highest), "a1 a2 a3"},
		{"simple, more than nodes", oneRackTwice, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 9}), "", span(20, 30), "a3 b1 a1 a2"},
		{"more transient than there are, by datacentre", oneRackTwice, tokenrange.NetworkTopologyStrategy(map[string]tokenrange.ReplicationFactor{"dc": {All: 1, Transient: 5}}), "", span(20, 30), ""},
		{"more transient than there are", oneRackTwice, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 1, Transient: 5}), "", span(20, 30), ""},
		{"simple, none", oneRackTwice, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{}), "", span(20, 30), ""},
		{"both racks", oneRackTwice, network(t, "dc:2"), "dc", span(lowest, 10), "a1 b1"},
		{"racks fewer than replicas: the first repeats", oneRackTwice, network(t, "dc:3"), "dc", span(lowest, 10), "a1 a2 b1"},
		{"racks fewer than replicas, other rack first", oneRackTwice, network(t, "dc:3"), "dc", span(30, 40), "b1 a1 a2"},
		{"every node", oneRackTwice, network(t, "dc:4"), "dc", span(10, 20), "a2 a3 b1 a1"},
		{"local datacentre first", twoDatacentres, network(t, "east:2 west:1"), "west", span(lowest, 10), "w1 e1 e2"},
		{"other datacentre first", twoDatacentres, network(t, "east:2 west:1"), "east", span(lowest, 10), "e1 e2 w1"},
		{"no preference: as on the ring", twoDatacentres, network(t, "east:2 west:1"), "", span(lowest, 10), "e1 w1 e2"},
		{"nothing in the local datacentre", twoDatacentres, network(t, "east:2 west:0"), "west", span(10, 20), "e2 e3"},
		{"no datacentre of the ring", twoDatacentres, network(t, "north:3"), "west", span(10, 20), ""},
		{"transient replica left out", twoDatacentres, network(t, "east:3/1"), "", span(lowest, 10), "e1 e2"},
		{"too few nodes: none is transient", twoDatacentres, network(t, "west:3/1"), "", span(lowest, 10), "w1 w2"},
		{"a factor for every datacentre", twoDatacentres, network(t, "replication_factor:1 west:2"), "", span(lowest, 10), "e1 w1 w2"},
		{"everywhere", twoDatacentres, tokenrange.EverywhereStrategy(), "west", span(10, 20), "w1 w2 e1 e2 e3"},
		{"local strategy", twoDatacentres, tokenrange.LocalStrategy(), "west", span(10, 20), "w1"},
		{"local strategy without a datacentre", twoDatacentres, tokenrange.LocalStrategy(), "", span(10, 20), "e1"},
		{"local strategy of no node", nil, tokenrange.LocalStrategy(), "", span(10, 20), ""},
		{"no strategy", twoDatacentres, tokenrange.Strategy{}, "west", span(10, 20), ""},
		{"a node without tokens holds nothing", append([]tokenrange.Node{node("c", "dc/r3")}, oneRackTwice...), network(t, "dc:3"), "", span(lowest, 10), "a1 a2 b1"},
		{"a part of a range", oneRackTwice, network(t, "dc:2"), "dc", span(12, 13), "a2 b1"},
		{"what holds both ranges", oneRackTwice, network(t, "dc:2"), "dc", span(15, 25), "b1"},
		{"what holds most, where nothing holds all", oneRackTwice, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 1}), "dc", span(14, 29), "a3 a2"},
		{"one token makes the difference", []tokenrange.Node{node("a", "dc/r", 0), node("b", "dc/r", 1)}, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 1}), "dc", span(-1<<63, 1), "a b"},
		{"held whole against all but one token", []tokenrange.Node{node("a", "dc/r", 0), node("b", "dc/r", 1), node("c", "dc/r", 2)}, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 2}), "dc", span(-1<<63, 1), "b"},
		{"local before larger shares", twoDatacentres, network(t, "east:3 west:1"), "west", span(18, 25), "w2 w1 e2 e3 e1"},
	}
	for _, test := range tests {
		got := mustRing(t, test.nodes...).Place(test.strategy, test.local).Replicas(test.of)
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: replicas of %s are %v, want %v", test.name, test.of, got, test.want)
		}
	}
}

func TestPartialReplicasAreFew(t *testing.T) {
	var cluster []tokenrange.Node
	for i := range 40 {
		cluster = append(cluster, node(fmt.Sprintf("n%02d", i), "dc/r", int64(i)*1000))
	}
	got := mustRing(t, cluster...).Place(tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 1}), "").Replicas(tokenrange.Murmur3.Ring())
	if len(got) != 16 || got[0] != "n00" { // n00 has nearly all: the range around the end
		t.Errorf("replicas of the ring are %v", got)
	}
}

func TestParseStrategy(t *testing.T) {
	good := []map[string]string{
		{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "3"},
		{"class": "SimpleStrategy", "replication_factor": "3/1"},
		{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3", "dc 2": "0"},
		{"class": "NetworkTopologyStrategy"},
		{"class": "org.apache.cassandra.locator.LocalStrategy"},
		{"class": "org.apache.cassandra.locator.EverywhereStrategy"},
	}
	for _, replication := range good {
		if _, err := tokenrange.ParseStrategy(replication); err != nil {
			t.Errorf("ParseStrategy(%v): %v", replication, err)
		}
	}
	bad := []struct {
		replication map[string]string
		err         error
		names       []string
	}{
		{nil, tokenrange.ErrUnsupportedStrategy, []string{`""`}},
		{map[string]string{"class": "com.example.OwnStrategy"}, tokenrange.ErrUnsupportedStrategy, []string{"com.example.OwnStrategy"}},
		{map[string]string{"class": "SimpleStrategy"}, tokenrange.ErrMalformed, []string{"SimpleStrategy", `""`}},
		{map[string]string{"class": "SimpleStrategy", "replication_factor": "-1"}, tokenrange.ErrMalformed, []string{`"-1"`}},
		{map[string]string{"class": "SimpleStrategy", "replication_factor": "1/2"}, tokenrange.ErrMalformed, []string{`"1/2"`}},
		{map[string]string{"class": "SimpleStrategy", "replication_factor": "3/"}, tokenrange.ErrMalformed, []string{`"3/"`}},
		{map[string]string{"class": "NetworkTopologyStrategy", "dc1": "three", "dc2": "", "dc3": "3"}, tokenrange.ErrMalformed, []string{"dc1", "three", "dc2"}},
	}
	for _, test := range bad {
		_, err := tokenrange.ParseStrategy(test.replication)
		if !errors.Is(err, test.err) {
			t.Errorf("ParseStrategy(%v): error %v, want %v", test.replication, err, test.err)
			continue
		}
		for _, name := range test.names {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("ParseStrategy(%v): error %v does not name %s", test.replication, err, name)
			}
		}
	}
}

func TestStrategyIsNotItsMap(t *testing.T) {
	factors := map[string]tokenrange.ReplicationFactor{"dc": {All: 1}}
	strategy := tokenrange.NetworkTopologyStrategy(factors)
	factors["dc"] = tokenrange.ReplicationFactor{}
	if got := mustRing(t, node("a", "dc/r", 1)).Place(strategy, "").Replicas(span(0, 1)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("replicas %v", got)
	}
}
