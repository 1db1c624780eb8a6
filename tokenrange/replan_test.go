package tokenrange_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

// smallRing is of up to six nodes on a ring whose tokens lie close together.
func smallRing(t *rapid.T, name string) *tokenrange.Ring {
	var nodes []tokenrange.Node
	taken := map[int]bool{}
	for i := range rapid.IntRange(1, 6).Draw(t, name+" nodes") {
		n := tokenrange.Node{ID: fmt.Sprintf("n%d", i), Datacenter: "dc", Rack: fmt.Sprint(i % 3)}
		for range rapid.IntRange(1, 4).Draw(t, "tokens") {
			v := rapid.IntRange(-100, 100).Draw(t, "token")
			if !taken[v] {
				taken[v] = true
				n.Tokens = append(n.Tokens, token(int64(v)))
			}
		}
		nodes = append(nodes, n)
	}
	ring, err := tokenrange.NewRing(tokenrange.Murmur3, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// Whatever becomes of the ring, what is read in place of a split covers the same
// tokens once, from nodes that hold them now.
func TestReplanTilesTheSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rf := tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: rapid.IntRange(1, 3).Draw(t, "replicas")})
		before, now := smallRing(t, "before").Place(rf, "dc"), smallRing(t, "now").Place(rf, "dc")
		start := rapid.IntRange(-120, 110).Draw(t, "start")
		r := span(int64(start), int64(rapid.IntRange(start+1, 120).Draw(t, "end")))
		s := tokenrange.NewSplit(r, before.Replicas(r)...)
		s.Partitions, s.Bytes = int64(rapid.IntRange(0, 1000).Draw(t, "partitions")), int64(rapid.IntRange(0, 1000).Draw(t, "bytes"))

		whole := true // before, one set of replicas held all of it; found token by token
		holders := func(p tokenrange.Placement, v int64) []string {
			return slices.Sorted(slices.Values(p.Replicas(span(v-1, v))))
		}
		low, _ := r.Start.Int64()
		high, _ := r.End.Int64()
		for v := low + 2; v <= high; v++ {
			whole = whole && slices.Equal(holders(before, v), holders(before, low+1))
		}

		got := now.Replan(s, before)
		var pieces []tokenrange.Range
		var partitions, bytes int64
		for i, piece := range got {
			pieces = append(pieces, piece.Range)
			partitions, bytes = partitions+piece.Partitions, bytes+piece.Bytes
			if piece.ID != piece.Range.ID() || piece.Partitions < 0 || piece.Bytes < 0 {
				t.Fatalf("piece %+v", piece)
			}
			if !slices.Equal(piece.Replicas, now.Replicas(piece.Range)) {
				t.Fatalf("replicas of %v are %v, not %v", piece.Range, piece.Replicas, now.Replicas(piece.Range))
			}
			if !whole {
				continue
			}
			low, _ := piece.Range.Start.Int64()
			high, _ := piece.Range.End.Int64()
			for v := low + 1; v <= high; v++ {
				if !slices.Equal(holders(now, v), slices.Sorted(slices.Values(piece.Replicas))) {
					t.Fatalf("piece %v crosses a boundary at %d", piece.Range, v)
				}
			}
			if i > 0 && slices.Equal(slices.Sorted(slices.Values(got[i-1].Replicas)), slices.Sorted(slices.Values(piece.Replicas))) {
				t.Fatalf("cut at %v for nothing", piece.Range.Start)
			}
		}
		if err := tokenrange.CheckTiling(tokenrange.NewIntervalSet(r), pieces); err != nil {
			t.Fatal(err)
		}
		if partitions != s.Partitions || bytes != s.Bytes {
			t.Fatalf("estimates add up to %d and %d, not %d and %d", partitions, bytes, s.Partitions, s.Bytes)
		}
		if !whole && len(got) != 1 {
			t.Fatalf("a split of several sets of replicas was cut into %d", len(got))
		}
	})
}

// Parts of a tenth of five bytes are half a byte each, and were rounded up: the last had -1.
func TestReplanDividesWhatThereIs(t *testing.T) {
	one := []tokenrange.Node{{ID: "a", Datacenter: "dc", Rack: "r", Tokens: []tokenrange.Token{token(100)}}}
	var many []tokenrange.Node
	for v := range int64(10) {
		many = append(many, tokenrange.Node{ID: fmt.Sprint("n", v), Datacenter: "dc", Rack: "r", Tokens: []tokenrange.Token{token(v + 1)}})
	}
	rf := tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 1})
	place := func(nodes []tokenrange.Node) tokenrange.Placement {
		ring, err := tokenrange.NewRing(tokenrange.Murmur3, nodes)
		if err != nil {
			t.Fatal(err)
		}
		return ring.Place(rf, "dc")
	}
	s := tokenrange.NewSplit(span(0, 10), "a")
	s.Partitions, s.Bytes = 5, 5
	var partitions, bytes int64
	got := place(many).Replan(s, place(one))
	for _, piece := range got {
		if piece.Partitions < 0 || piece.Bytes < 0 {
			t.Errorf("piece %+v", piece)
		}
		partitions, bytes = partitions+piece.Partitions, bytes+piece.Bytes
	}
	if len(got) != 10 || partitions != 5 || bytes != 5 {
		t.Errorf("%d pieces of %d partitions and %d bytes, not 10, 5 and 5", len(got), partitions, bytes)
	}
}
