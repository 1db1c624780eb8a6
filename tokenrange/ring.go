package tokenrange

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Node is a member of the cluster.
type Node struct {
	ID         string  `json:"id"` // host id, unique in the cluster
	Address    string  `json:"address"`
	Datacenter string  `json:"datacenter"`
	Rack       string  `json:"rack"`
	Tokens     []Token `json:"tokens"` // in any order; none for a node that owns no data, such as one that is joining
}

// Ring is which node owns which tokens: a node that has the token t owns the tokens after the
// next smaller token of any node up to and including t. A Ring does not change and may be used
// by many goroutines.
type Ring struct {
	partitioner Partitioner
	nodes       []Node // sorted by ID
	tokens      []Token
	owners      []int32 // owners[i] is the index of the node that has tokens[i]
}

// NewRing returns the ring of the nodes, which may come in any order and of which it keeps
// copies. All faults of the nodes are reported at once: a node without an id of its own
// ([ErrDuplicateNode]), a token of two nodes ([ErrDuplicateToken], naming both), a token that is
// not the partitioner's ([ErrOutOfRing]). A ring without nodes or without tokens is legal: no
// range of it has replicas.
func NewRing(partitioner Partitioner, nodes []Node) (*Ring, error) {
	r := &Ring{partitioner: partitioner, nodes: slices.Clone(nodes)}
	slices.SortFunc(r.nodes, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })

	type ownedToken struct {
		token Token
		owner int32
	}
	var faults []error
	var owned []ownedToken
	for i, n := range r.nodes {
		switch {
		case n.ID == "":
			faults = append(faults, fmt.Errorf("node at %q has no id: %w", n.Address, ErrDuplicateNode))
		case i > 0 && n.ID == r.nodes[i-1].ID:
			faults = append(faults, fmt.Errorf("nodes at %q and %q share the id %s: %w", r.nodes[i-1].Address, n.Address, n.ID, ErrDuplicateNode))
		}
		r.nodes[i].Tokens = slices.SortedFunc(slices.Values(n.Tokens), Token.Compare)
		for _, t := range n.Tokens {
			if err := partitioner.check(t); err != nil {
				faults = append(faults, fmt.Errorf("node %s: %w", n.ID, err))
			}
			owned = append(owned, ownedToken{t, int32(i)})
		}
	}
	slices.SortFunc(owned, func(a, b ownedToken) int { return a.token.Compare(b.token) })
	r.tokens, r.owners = make([]Token, len(owned)), make([]int32, len(owned))
	for i, o := range owned {
		r.tokens[i], r.owners[i] = o.token, o.owner
		if i > 0 && o.token == r.tokens[i-1] {
			faults = append(faults, fmt.Errorf("token %s of node %s is also of node %s: %w",
				o.token, r.nodes[o.owner].ID, r.nodes[r.owners[i-1]].ID, ErrDuplicateToken))
		}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("build ring: %w", errors.Join(faults...))
	}
	return r, nil
}

// Partitioner returns the partitioner whose tokens the ring has.
func (r *Ring) Partitioner() Partitioner { return r.partitioner }

// Range returns the range of all tokens that a row can have.
func (r *Ring) Range() Range { return r.partitioner.Ring() }

// Nodes returns the nodes sorted by id, as a new slice. Their tokens are shared and must not be changed.
func (r *Ring) Nodes() []Node { return slices.Clone(r.nodes) }

// Node returns the node with the id, and whether there is one.
func (r *Ring) Node(id string) (Node, bool) {
	i, ok := slices.BinarySearchFunc(r.nodes, id, func(n Node, id string) int { return strings.Compare(n.ID, id) })
	if !ok {
		return Node{}, false
	}
	return r.nodes[i], true
}

// Primary returns the node that owns t, the first replica under most strategies, and false where
// the ring has no tokens.
func (r *Ring) Primary(t Token) (Node, bool) {
	if len(r.tokens) == 0 {
		return Node{}, false
	}
	i, _ := slices.BinarySearchFunc(r.tokens, t, Token.Compare)
	return r.nodes[r.owners[i%len(r.tokens)]], true
}

// PrimaryRange is a range that one node owns.
type PrimaryRange struct {
	Range Range
	Node  string // its id; "" where the ring has no tokens
}

// PrimaryRanges returns what each node owns, in token order. The ranges tile the ring, and the
// one that goes around its end is two.
func (r *Ring) PrimaryRanges() []PrimaryRange {
	var ranges []PrimaryRange
	for _, a := range r.arcs() {
		p := PrimaryRange{Range: a.Range}
		if len(r.tokens) > 0 {
			p.Node = r.nodes[r.owners[a.token]].ID
		}
		ranges = append(ranges, p)
	}
	return ranges
}

// arc is a range between two neighbouring tokens of the ring.
type arc struct {
	Range
	token int // index in Ring.tokens of the one at the arc's end, whose owner is its primary
}

// arcs returns the ranges between the tokens, in token order. They tile the ring. Where the ring
// has no tokens there is one arc, which is nobody's.
func (r *Ring) arcs() []arc {
	whole := r.Range()
	if len(r.tokens) == 0 {
		return []arc{{whole, 0}}
	}
	arcs := make([]arc, 0, len(r.tokens)+1)
	start := whole.Start
	for i, t := range r.tokens {
		// The first token may be the exclusive start of the ring itself: single-token clusters
		// give it to their first node, whose tokens are then those after the last token.
		if start.Less(t) {
			arcs = append(arcs, arc{Range{start, t}, i})
		}
		start = t
	}
	if start.Less(whole.End) {
		arcs = append(arcs, arc{Range{start, whole.End}, 0})
	}
	return arcs
}

// checkDatacenter errs with ErrUnknownDatacenter, naming those there are, where none of the
// nodes, if there are any, is in the named datacentre.
func (r *Ring) checkDatacenter(name string) error {
	if name == "" || len(r.nodes) == 0 {
		return nil
	}
	var known []string
	for _, n := range r.nodes {
		known = append(known, n.Datacenter)
	}
	if slices.Contains(known, name) {
		return nil
	}
	slices.Sort(known)
	return fmt.Errorf("%w %q: the ring has %q", ErrUnknownDatacenter, name, slices.Compact(known))
}
