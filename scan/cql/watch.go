package cql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"manifest/internal/cassandra"
	"manifest/internal/schema"
	"manifest/scan"
	"manifest/tokenrange"
)

// Watch sees whether the ring, the keyspace's replication or the table has
// changed since a run was planned. It is the scan.Watcher of live nodes.
//
// It asks for a few small rows of system tables. The driver's events would tell
// sooner, but not of tokens that move nor of tables, and it may miss them while
// it reconnects; and in the end of a run one has to ask anyway.
type Watch struct {
	cluster     *cassandra.Cluster
	table       *schema.Table
	selected    []schema.Selected
	partitioner tokenrange.Partitioner

	view  view // of the last look
	where tokenrange.Placement
}

var _ scan.Watcher = (*Watch)(nil)

// view is what the placement of data depends on.
type view struct {
	nodes       []tokenrange.Node
	replication map[string]string
}

// NewWatch makes a watch over the reading of a source's columns, which were
// planned on the topology with the keyspace's replication.
func NewWatch(source *Source, columns []string, topology cassandra.Topology, replication map[string]string) (*Watch, error) {
	selected, err := source.table.Select(columns)
	if err != nil {
		return nil, err
	}
	w := &Watch{cluster: source.cluster, table: source.table, selected: selected, partitioner: source.opts.Partitioner}
	w.view = newView(topology.Nodes, replication)
	w.where, err = w.place(w.view)
	return w, err
}

// newView sorts the nodes, so that two views of one ring are equal.
func newView(nodes []tokenrange.Node, replication map[string]string) view {
	v := view{nodes: slices.Clone(nodes), replication: replication}
	for i := range v.nodes {
		v.nodes[i].Tokens = slices.SortedFunc(slices.Values(v.nodes[i].Tokens), tokenrange.Token.Compare)
	}
	slices.SortFunc(v.nodes, func(a, b tokenrange.Node) int { return cmp.Compare(a.ID, b.ID) })
	return v
}

func (v view) equal(other view) bool {
	return maps.Equal(v.replication, other.replication) && slices.EqualFunc(v.nodes, other.nodes, func(a, b tokenrange.Node) bool {
		return a.ID == b.ID && a.Datacenter == b.Datacenter && a.Rack == b.Rack && slices.Equal(a.Tokens, b.Tokens)
	})
}

// place gives who holds what.
func (w *Watch) place(v view) (tokenrange.Placement, error) {
	strategy, err := tokenrange.ParseStrategy(v.replication)
	if err != nil {
		return tokenrange.Placement{}, fmt.Errorf("replication of keyspace %q: %w", w.table.Keyspace, err)
	}
	ring, err := tokenrange.NewRing(w.partitioner, v.nodes)
	if err != nil {
		return tokenrange.Placement{}, err
	}
	return ring.Place(strategy, w.cluster.LocalDC()), nil
}

// Look implements scan.Watcher.
func (w *Watch) Look(ctx context.Context) (scan.Place, error) {
	if err := w.lookAtTable(ctx); err != nil {
		return nil, err
	}
	topology, err := w.cluster.Topology(ctx)
	if err != nil {
		return nil, err
	}
	replication, err := w.cluster.Replication(ctx, w.table.Keyspace)
	if err != nil {
		return nil, err
	}
	now := newView(topology.Nodes, replication)
	if now.equal(w.view) {
		return nil, nil
	}
	where, err := w.place(now)
	if err != nil {
		return nil, err // such as two nodes with one token, while one takes over from the other
	}
	before := w.where
	w.view, w.where = now, where
	local := w.cluster.LocalDC()
	return func(s tokenrange.Split) []tokenrange.Split {
		splits := where.Replan(s, before)
		for i := range splits {
			splits[i].Replicas = slices.DeleteFunc(slices.Clone(splits[i].Replicas), func(id string) bool {
				at, ok := slices.BinarySearchFunc(now.nodes, id, func(n tokenrange.Node, id string) int { return cmp.Compare(n.ID, id) })
				return !ok || now.nodes[at].Datacenter != local
			})
		}
		return splits
	}, nil
}

// lookAtTable errs with class SchemaChanged where what is read is another thing now.
func (w *Watch) lookAtTable(ctx context.Context) error {
	changed := func(err error) error { return &scan.ReadError{Class: scan.SchemaChanged, Err: err} }
	now, err := w.cluster.Table(ctx, w.table.Keyspace, w.table.Name)
	if _, gone := errors.AsType[*cassandra.NotFoundError](err); gone {
		return changed(fmt.Errorf("table %s was dropped", w.table)) // not %w: whoever asked for it made no mistake
	}
	if err != nil {
		return err
	}
	if changes := w.table.Changes(w.selected, now); len(changes) > 0 {
		return changed(errors.New(strings.Join(changes, "; ")))
	}
	return nil
}
