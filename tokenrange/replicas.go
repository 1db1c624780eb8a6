package tokenrange

import (
	"cmp"
	"maps"
	"slices"
)

// maxPartialReplicas bounds the replicas named for a range that no node holds whole. Past the
// first few, a node is hardly a better coordinator than any other, and a range that spans the
// ring of a large cluster would name all of it.
const maxPartialReplicas = 16

// Placement is which nodes hold which range: a ring under the strategy of one keyspace, seen
// from a local datacentre. It does not change and may be used by many goroutines.
type Placement struct {
	ring   *Ring
	local  string
	arcs   []arc
	nodes  []int32 // the replicas of all arcs, one after another, as indices into ring.nodes
	bounds []int   // arc i has nodes[bounds[i]:bounds[i+1]], preferred first
}

// ReplicaRange is a range and the nodes that hold it.
type ReplicaRange struct {
	Range    Range
	Replicas []string // node ids, preferred first; none where no node of the ring holds the range
}

// Place returns which nodes hold which range under a strategy. Nodes of the local datacentre are
// preferred; "" prefers none. Transient replicas are left out, since they don't hold what has
// been repaired.
func (r *Ring) Place(strategy Strategy, localDatacenter string) Placement {
	p := Placement{ring: r, local: localDatacenter, arcs: r.arcs()}
	p.bounds = make([]int, 1, len(p.arcs)+1)
	replicas := r.walker(strategy, localDatacenter)
	for _, a := range p.arcs {
		first := len(p.nodes)
		p.nodes = replicas(p.nodes, a.token)
		slices.SortStableFunc(p.nodes[first:], func(a, b int32) int { return cmp.Compare(p.remote(a), p.remote(b)) })
		p.bounds = append(p.bounds, len(p.nodes))
	}
	return p
}

// Ranges returns the ranges between neighbouring tokens with their replicas, those of the local
// datacentre first and each in the order of the ring. The ranges tile the ring, in token order.
func (p Placement) Ranges() []ReplicaRange {
	ranges := make([]ReplicaRange, len(p.arcs))
	for i, a := range p.arcs {
		ranges[i] = ReplicaRange{a.Range, p.ids(p.of(i))}
	}
	return ranges
}

// Replicas returns the nodes that hold all of r, preferred first: those of the local datacentre,
// then the others, each in the order of the ring. Where no node, or none of those in the local
// datacentre that hold some of r, holds all of it, it returns the nodes that hold the
// largest share first, and at most 16.
func (p Placement) Replicas(r Range) []string {
	nodes, _ := p.holders(r)
	return p.ids(nodes)
}

// remote is 1 for a node outside the local datacentre, so that it sorts after the others.
func (p Placement) remote(node int32) int {
	if p.local == "" || p.ring.nodes[node].Datacenter == p.local {
		return 0
	}
	return 1
}

// of returns the replicas of arc i.
func (p Placement) of(i int) []int32 { return p.nodes[p.bounds[i]:p.bounds[i+1]] }

func (p Placement) ids(nodes []int32) []string {
	var ids []string
	for _, n := range nodes {
		ids = append(ids, p.ring.nodes[n].ID)
	}
	return ids
}

// within returns the bounds [first, end) of the arcs that share tokens with r.
func (p Placement) within(r Range) (first, end int) {
	reaching := func(a arc, t Token) int { return a.End.Compare(t) }
	first, _ = slices.BinarySearchFunc(p.arcs, r.Start, reaching)
	if first < len(p.arcs) && p.arcs[first].End == r.Start {
		first++
	}
	end, _ = slices.BinarySearchFunc(p.arcs, r.End, reaching)
	return first, min(end+1, len(p.arcs))
}

// sameReplicas reports whether the same nodes hold the arcs i and j, in any order. A strategy
// finds as many replicas for every arc of a ring, so it is enough that none is missing.
func (p Placement) sameReplicas(i, j int) bool {
	b := p.of(j)
	for _, n := range p.of(i) {
		if !slices.Contains(b, n) {
			return false
		}
	}
	return true
}

// holders returns the replicas of r as [Placement.Replicas] describes, and how many of the first
// of them are so near and hold so much that any of them may go first: the same as the very first,
// or, where no node holds all of r, half as much, since what is missing is read through them anyway.
func (p Placement) holders(r Range) (nodes []int32, equals int) {
	first, end := p.within(r)
	share := make(map[int32]uint128)
	arcs := make(map[int32]int)
	for i := first; i < end; i++ {
		part, _ := p.arcs[i].Range.Intersect(r)
		for _, n := range p.of(i) {
			if arcs[n]++; arcs[n] == 1 {
				nodes = append(nodes, n)
			}
			share[n] = share[n].add(part.width())
		}
	}
	if len(nodes) == 0 {
		return nil, 0
	}
	slices.SortStableFunc(nodes, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.remote(a), p.remote(b)), share[b].compare(share[a]))
	})
	enough, _ := share[nodes[0]].divmod(2)
	if arcs[nodes[0]] == end-first {
		nodes = slices.DeleteFunc(nodes, func(n int32) bool { return arcs[n] < end-first })
	} else {
		nodes = nodes[:min(len(nodes), maxPartialReplicas)]
	}
	for equals < len(nodes) && p.remote(nodes[equals]) == p.remote(nodes[0]) && share[nodes[equals]].compare(enough) >= 0 {
		equals++
	}
	return nodes, equals
}

// walker returns a function that appends the replicas of the arc that ends at a token (by its
// index), in the order in which Cassandra finds them on its way around the ring.
func (r *Ring) walker(strategy Strategy, local string) func(dst []int32, token int) []int32 {
	switch strategy.kind {
	case simpleStrategy:
		return r.walkSimple(strategy.factor)
	case networkTopologyStrategy:
		return r.walkDatacenters(strategy)
	case localStrategy:
		return always(r.oneNode(local))
	case everywhereStrategy:
		return always(slices.Compact(slices.Sorted(slices.Values(r.owners))))
	}
	return always(nil)
}

func always(nodes []int32) func([]int32, int) []int32 {
	return func(dst []int32, _ int) []int32 { return append(dst, nodes...) }
}

// oneNode returns the first node by id, of the local datacentre where it has any.
func (r *Ring) oneNode(local string) []int32 {
	for i, n := range r.nodes {
		if n.Datacenter == local {
			return []int32{int32(i)}
		}
	}
	if len(r.nodes) == 0 {
		return nil
	}
	return []int32{0}
}

// walkSimple is SimpleStrategy.calculateNaturalReplicas of Cassandra.
func (r *Ring) walkSimple(factor ReplicationFactor) func([]int32, int) []int32 {
	full := factor.All - factor.Transient
	return func(dst []int32, token int) []int32 {
		first := len(dst)
		for i := range r.owners {
			if len(dst)-first >= full {
				break
			}
			if n := r.owners[(token+i)%len(r.owners)]; !slices.Contains(dst[first:], n) {
				dst = append(dst, n)
			}
		}
		return dst
	}
}

// datacenter is what NetworkTopologyStrategy needs to know of one datacentre. Each has its
// tokens to itself: a walk for a few nodes among many others' tokens would not end soon.
type datacenter struct {
	tokens      []int32 // indices into Ring.tokens, ascending
	replicas    int     // to find
	full        int     // of these, the first that are not transient
	rackRepeats int     // how many may share a rack with another, because there are too few racks
}

// walkDatacenters is NetworkTopologyStrategy.calculateNaturalReplicas of Cassandra 3.0.7 and
// later: in each datacentre the next nodes around the ring whose rack has no replica yet, and as
// many others, where they come first, as racks are too few for the replication factor.
func (r *Ring) walkDatacenters(strategy Strategy) func([]int32, int) []int32 {
	datacenters := r.datacenters(strategy)
	racks := r.racks()
	type found struct {
		node int32
		away int // tokens passed on the way
	}
	var chosen []found
	var seen []int32
	return func(dst []int32, token int) []int32 {
		chosen = chosen[:0]
		for _, dc := range datacenters {
			next, _ := slices.BinarySearch(dc.tokens, int32(token))
			first, left, repeats := len(chosen), dc.replicas, dc.rackRepeats
			seen = seen[:0]
			for i := range dc.tokens {
				if left == 0 {
					break
				}
				t := int(dc.tokens[(next+i)%len(dc.tokens)])
				n := r.owners[t]
				if slices.ContainsFunc(chosen[first:], func(f found) bool { return f.node == n }) {
					continue
				}
				if slices.Contains(seen, racks[n]) {
					if repeats <= 0 {
						continue
					}
					repeats--
				} else {
					seen = append(seen, racks[n])
				}
				left--
				chosen = append(chosen, found{n, (t - token + len(r.owners)) % len(r.owners)})
			}
			chosen = chosen[:min(len(chosen), first+dc.full)]
		}
		slices.SortFunc(chosen, func(a, b found) int { return cmp.Compare(a.away, b.away) })
		for _, f := range chosen {
			dst = append(dst, f.node)
		}
		return dst
	}
}

// datacenters returns those in which the strategy places replicas. Nodes without tokens, which
// hold nothing, count neither as nodes nor for their racks.
func (r *Ring) datacenters(strategy Strategy) []datacenter {
	tokens := make(map[string][]int32)
	for i, n := range r.owners {
		dc := r.nodes[n].Datacenter
		tokens[dc] = append(tokens[dc], int32(i))
	}
	nodes := make(map[string]int)
	racks := make(map[string]map[string]bool)
	for _, n := range r.nodes {
		if len(n.Tokens) == 0 {
			continue
		}
		nodes[n.Datacenter]++
		if racks[n.Datacenter] == nil {
			racks[n.Datacenter] = make(map[string]bool)
		}
		racks[n.Datacenter][n.Rack] = true
	}
	var datacenters []datacenter
	for _, name := range slices.Sorted(maps.Keys(tokens)) {
		factor := strategy.in(name)
		replicas := min(factor.All, nodes[name])
		if replicas <= 0 {
			continue
		}
		// Replicas that there are too few nodes for are taken off the transient ones.
		transient := max(factor.Transient-(factor.All-replicas), 0)
		datacenters = append(datacenters, datacenter{
			tokens:      tokens[name],
			replicas:    replicas,
			full:        max(replicas-transient, 0),
			rackRepeats: factor.All - len(racks[name]),
		})
	}
	return datacenters
}

// racks returns a number for the rack of each node, the same for nodes of the same rack.
func (r *Ring) racks() []int32 {
	numbers := make(map[[2]string]int32)
	racks := make([]int32, len(r.nodes))
	for i, n := range r.nodes {
		rack := [2]string{n.Datacenter, n.Rack}
		if _, ok := numbers[rack]; !ok {
			numbers[rack] = int32(len(numbers))
		}
		racks[i] = numbers[rack]
	}
	return racks
}
