package snapshot

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"manifest/internal/sstable"
	"manifest/internal/sstable/ddl"
	"manifest/tokenrange"
)

// Ownership is which tokens of a table the nodes replicate whose folders there
// are. What a node has of others is left over from when it replicated them: it may
// lack deletions whose tombstones the replicas have dropped since.
type Ownership struct {
	// Nodes has the tokens of each node that is known, by Folder.Node: those that it
	// replicates, and Unreplicated.
	Nodes map[string]tokenrange.IntervalSet
	// Unreplicated are tokens of which there is no replica among the known nodes.
	// Whatever else has something of them is the best there is.
	Unreplicated tokenrange.IntervalSet
	// Unknown says of each other node, or of all under the name "", why it is
	// unknown.
	Unknown map[string]string

	hosts map[string]string // by Folder.Node: host ids, where SSTables may be of another
}

// Ownership finds which tokens of a table each node replicates, by the ring and the
// keyspace's replication as the same trees have them. What can't be found out is
// said in the result; an error is that of ctx. text is CQL of the caller's that
// may define the keyspace, or "".
func (c *Catalog) Ownership(ctx context.Context, table Table, text string, partitioner tokenrange.Partitioner) (Ownership, error) {
	o := Ownership{Unknown: map[string]string{}}
	views, whole := c.viewsOf(ctx, table, o.Unknown)
	err := o.place(ctx, c, table, text, partitioner, views, whole)
	if ctx.Err() != nil {
		return Ownership{}, context.Cause(ctx)
	}
	if err != nil {
		return Ownership{Unknown: map[string]string{"": err.Error()}}, nil
	}
	return o, nil
}

// viewsOf gives the views of the table's nodes. If any node has the tables of its
// system, those count; else the token maps of backups, which are of single
// datacentres. Why a node has none goes to unknown.
func (c *Catalog) viewsOf(ctx context.Context, table Table, unknown map[string]string) (views map[string]view, whole bool) {
	folders := map[string][]Folder{}
	for _, f := range table.Folders {
		folders[f.Node] = append(folders[f.Node], f)
	}
	read := func(kind string, of viewReader) map[string]view {
		views := map[string]view{}
		for _, node := range table.Nodes() {
			var v view
			err := errNoView
			if node != "" {
				v, err = c.remembered(ctx, kind, folders[node], of)
			}
			if err != nil {
				unknown[node] = err.Error()
				continue
			}
			views[node] = v
		}
		return views
	}
	if views := read("system", c.systemView); len(views) > 0 {
		return views, true
	}
	ofSystem := maps.Clone(unknown)
	clear(unknown)
	views = read("token map", c.tokenMapView)
	for node, reason := range unknown {
		if reason == errNoView.Error() {
			unknown[node] = ofSystem[node]
		}
	}
	return views, false
}

// place finds the tokens of the nodes that have views.
func (o *Ownership) place(ctx context.Context, c *Catalog, table Table, text string, partitioner tokenrange.Partitioner, views map[string]view, whole bool) error {
	if len(views) == 0 {
		return nil
	}
	replication, err := c.replication(ctx, table, text)
	if err != nil {
		return err
	}
	strategy, err := strategyOf(replication)
	if err != nil {
		return err
	}
	switch class := strings.TrimPrefix(replication["class"], "org.apache.cassandra.locator."); {
	case class == "LocalStrategy":
		return fmt.Errorf("keyspace %s is not replicated: each node has its own", table.Keyspace)
	case class != "NetworkTopologyStrategy" && !whole:
		return fmt.Errorf("the token maps are of single datacentres, and keyspace %s is replicated by %s over all", table.Keyspace, class)
	}
	nodes, err := joinViews(views, whole)
	if err != nil {
		return err
	}
	ring, err := tokenrange.NewRing(partitioner, nodes)
	if err != nil {
		return err
	}
	owned := map[string][]tokenrange.Range{} // by id in the ring
	for _, r := range ring.Place(strategy, "").Ranges() {
		for _, id := range r.Replicas {
			owned[id] = append(owned[id], r.Range)
		}
	}
	var here []tokenrange.Range
	for _, v := range views {
		here = append(here, owned[v.self]...)
	}
	o.Unreplicated = tokenrange.NewIntervalSet(ring.Range()).Minus(tokenrange.NewIntervalSet(here...))
	o.Nodes, o.hosts = map[string]tokenrange.IntervalSet{}, map[string]string{}
	for node, v := range views {
		o.Nodes[node] = tokenrange.NewIntervalSet(owned[v.self]...).Union(o.Unreplicated)
		if whole {
			o.hosts[node] = v.self
		}
	}
	return nil
}

// Known tells whether any node is.
func (o Ownership) Known() bool { return len(o.Nodes) > 0 }

// Silent tells whether nothing is known because no files say anything of the ring.
func (o Ownership) Silent() bool {
	for _, reason := range o.Unknown {
		if reason != errNoView.Error() {
			return false
		}
	}
	return !o.Known()
}

// Reasons says why not all is known, for people.
func (o Ownership) Reasons() []string {
	var reasons []string
	if o.Silent() {
		return []string{"no node's place in the ring is known: there is neither system.local of the same snapshot nor a token map"}
	}
	for _, node := range slices.Sorted(maps.Keys(o.Unknown)) {
		reason := o.Unknown[node]
		if node != "" {
			reason = fmt.Sprintf("node %s: %s", node, reason)
		}
		reasons = append(reasons, reason)
	}
	if share := o.Unreplicated; o.Known() && !share.IsEmpty() {
		reasons = append(reasons, fmt.Sprintf("of %d token ranges there is no replica among these nodes: what others have of them is read", share.Len()))
	}
	return reasons
}

// Restrict limits each SSTable of an opened table to the tokens of its node. It
// returns how many it leaves whole, because their node is unknown.
func (o Ownership) Restrict(opened *Opened) (whole int) {
	for i, r := range opened.Readers() {
		tokens, ok := o.Tokens(opened.Nodes[i], r)
		if !ok {
			whole++
			continue
		}
		r.Restrict(tokens)
	}
	return whole
}

// Tokens gives what an SSTable of a node is to be read within; ok is false where the
// node is unknown. An SSTable that says that another wrote it has come over whole,
// or is in the wrong place: it may be anyone's.
func (o Ownership) Tokens(node string, r *sstable.Reader) (tokens tokenrange.IntervalSet, ok bool) {
	if s := r.Stats(); s != nil && s.Host != "" && o.hosts[node] != "" && s.Host != o.hosts[node] {
		return tokenrange.IntervalSet{}, false
	}
	tokens, ok = o.Nodes[node]
	return tokens, ok
}

// replicationIn gives what a text says of a keyspace's replication.
func replicationIn(text, keyspace string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	return ddl.Replication(text, keyspace)
}
