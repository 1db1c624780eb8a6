package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"manifest/internal/sstable"
	"manifest/tokenrange"
)

// view is the ring as one node knew it.
type view struct {
	// self is the id in the ring of the node whose view it is.
	self  string
	nodes []tokenrange.Node // with tokens, by id
}

// add takes a node into the view, if it owns anything.
func (v *view) add(id, datacenter, rack string, tokens []string) error {
	if id == "" || len(tokens) == 0 {
		return nil // a node that is joining, or has not said yet who it is
	}
	if datacenter == "" || rack == "" {
		return fmt.Errorf("node %s has tokens, and no datacentre or no rack", id)
	}
	n := tokenrange.Node{ID: id, Datacenter: datacenter, Rack: rack}
	for _, text := range tokens {
		t, err := tokenrange.ParseToken(text)
		if err != nil {
			return fmt.Errorf("node %s: %w", id, err)
		}
		n.Tokens = append(n.Tokens, t)
	}
	slices.SortFunc(n.Tokens, tokenrange.Token.Compare)
	v.nodes = append(v.nodes, n)
	return nil
}

// finish orders the view, so that views can be compared.
func (v *view) finish() {
	slices.SortFunc(v.nodes, func(a, b tokenrange.Node) int { return cmp.Compare(a.ID, b.ID) })
}

// equalNodes tells whether two views are of the same ring.
func equalNodes(a, b []tokenrange.Node) bool {
	return slices.EqualFunc(a, b, func(a, b tokenrange.Node) bool {
		return a.ID == b.ID && a.Datacenter == b.Datacenter && a.Rack == b.Rack && slices.Equal(a.Tokens, b.Tokens)
	})
}

var (
	// errNoView means that nothing of a node's files says where in the ring it is.
	errNoView = errors.New("its files have neither system.local of the same snapshot nor a token map")
	// errSeveralHosts means that files of several nodes are in one place.
	errSeveralHosts = errors.New("its system.local is of several nodes")
)

// viewReader reads the view of a node that has these folders of a table.
type viewReader func(ctx context.Context, folders []Folder) (view, error)

// foundView is what a viewReader gave.
type foundView struct {
	view view
	err  error
}

// remembered reads a view once for all tables.
func (c *Catalog) remembered(ctx context.Context, kind string, folders []Folder, read viewReader) (view, error) {
	key := kind
	for _, f := range folders {
		key = fmt.Sprintf("%s\x00%s\x00%s\x00%t", key, f.Node, f.Tag, f.Backup)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.views[key]
	if !ok {
		found.view, found.err = read(ctx, folders)
		if c.views == nil {
			c.views = map[string]foundView{}
		}
		if ctx.Err() == nil {
			c.views[key] = found
		}
	}
	return found.view, found.err
}

// systemView reads a node's view from the tables that it keeps of itself and of
// its peers.
func (c *Catalog) systemView(ctx context.Context, folders []Folder) (view, error) {
	var v view
	node := func(r row) error {
		return v.add(r.text("host_id"), r.text("data_center"), r.text("rack"), r.list("tokens"))
	}
	err := c.readLocal(ctx, folders, func(r row) error {
		v.self = r.text("host_id")
		return node(r)
	})
	if err != nil {
		return v, err
	}
	if v.self == "" {
		return v, errNoView
	}
	// Since 4.0 there are both, and system.peers is for clients of before.
	peers, err := c.foldersOf("system", "peers_v2", folders)
	name, clustering := "peers_v2", []string{"peer_port"}
	if errors.Is(err, ErrNoTable) {
		name, clustering = "peers", nil
		peers, err = c.foldersOf("system", "peers", folders)
	}
	// A node that is alone has no SSTable of peers. Where it is not alone, and its
	// peers are not among the files, others know them.
	if err != nil && !errors.Is(err, ErrNoTable) {
		return v, err
	}
	if err := readRows(ctx, "system", name, []string{"peer"}, clustering, peers, node); err != nil {
		return v, err
	}
	v.finish()
	return v, nil
}

// foldersOf gives the folders of a table that are of the same node and the same
// snapshot as those of another. That the table has other snapshots is no fault here.
func (c *Catalog) foldersOf(keyspace, name string, like []Folder) ([]Folder, error) {
	t, err := c.table(keyspace, name)
	if t.ID == "" {
		return nil, cmp.Or[error](err, &UnknownTableError{Name: keyspace + "." + name})
	}
	folders := slices.DeleteFunc(slices.Clone(t.Folders), func(f Folder) bool {
		return !slices.ContainsFunc(like, func(l Folder) bool { return l.Node == f.Node && (l.Tag == f.Tag || l.Backup) })
	})
	if len(folders) == 0 {
		return nil, &UnknownTableError{Name: keyspace + "." + name}
	}
	return folders, nil
}

// readLocal gives the row of system.local. It errs where the SSTables of that are
// not all of one node.
func (c *Catalog) readLocal(ctx context.Context, folders []Folder, each func(row) error) (err error) {
	local, err := c.foldersOf("system", "local", folders)
	if errors.Is(err, ErrNoTable) {
		return errNoView
	}
	if err != nil {
		return err
	}
	readers, err := openFolders(ctx, local)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sstable.CloseAll(readers)) }()
	var self string
	for _, r := range readers {
		// One SSTable may have only some of the columns.
		err := readSSTables(ctx, "system", "local", []string{"key"}, nil, []*sstable.Reader{r}, func(r row) error {
			id := r.text("host_id")
			if id != "" && self != "" && id != self {
				return errSeveralHosts
			}
			self = cmp.Or(id, self)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return readSSTables(ctx, "system", "local", []string{"key"}, nil, readers, each)
}

// tokenMapView reads a node's view from the token map of its backup by Medusa. It
// has the node's own datacentre alone.
func (c *Catalog) tokenMapView(ctx context.Context, folders []Folder) (view, error) {
	i := slices.IndexFunc(folders, func(f Folder) bool { return f.backup != nil })
	if i < 0 {
		return view{}, errNoView
	}
	b := folders[i].backup
	text, err := b.tree.ReadFile(ctx, b.meta("tokenmap.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return view{}, errNoView
	}
	if err != nil {
		return view{}, err
	}
	var nodes map[string]struct {
		Tokens     []json.Number `json:"tokens"` // or strings
		Datacenter string        `json:"dc"`
		Rack       string        `json:"rack"`
	}
	if err := json.Unmarshal(text, &nodes); err != nil {
		return view{}, fmt.Errorf("tokenmap.json: %w", err)
	}
	v := view{self: b.node}
	for name, n := range nodes {
		var tokens []string
		for _, t := range n.Tokens {
			tokens = append(tokens, t.String())
		}
		if err := v.add(name, n.Datacenter, n.Rack, tokens); err != nil {
			return view{}, fmt.Errorf("tokenmap.json: %w", err)
		}
	}
	v.finish()
	if !slices.ContainsFunc(v.nodes, func(n tokenrange.Node) bool { return n.ID == v.self }) {
		return view{}, errors.New("its token map does not have it")
	}
	return v, nil
}

// datacenters gives the nodes of a view apart by datacentre, or together under "".
func (v view) datacenters(apart bool) map[string][]tokenrange.Node {
	found := map[string][]tokenrange.Node{}
	for _, n := range v.nodes {
		key := ""
		if apart {
			key = n.Datacenter
		}
		found[key] = append(found[key], n)
	}
	return found
}

// joinViews makes one ring of views, of which each is of the whole ring or of a
// datacentre. It errs where two of them don't agree: the ring that a node's files
// are of can't be told then.
func joinViews(views map[string]view, whole bool) ([]tokenrange.Node, error) {
	type part struct {
		from  string
		nodes []tokenrange.Node
	}
	parts := map[string]part{}
	for _, name := range slices.Sorted(maps.Keys(views)) {
		for dc, nodes := range views[name].datacenters(!whole) {
			first, ok := parts[dc]
			if ok && !equalNodes(first.nodes, nodes) {
				return nil, fmt.Errorf("the files of %s and %s don't agree about the ring: it changed between their snapshots, or one had not heard of a change", first.from, name)
			}
			if !ok {
				parts[dc] = part{name, nodes}
			}
		}
	}
	var ring []tokenrange.Node
	for _, p := range parts {
		ring = append(ring, p.nodes...)
	}
	return ring, nil
}

// replication finds how a keyspace is replicated: in a text of the caller's, in
// system_schema of the same trees, in the schema of a backup by Medusa.
func (c *Catalog) replication(ctx context.Context, table Table, text string) (map[string]string, error) {
	found, err := replicationIn(text, table.Keyspace)
	if found != nil || err != nil {
		return found, err
	}
	folders, err := c.foldersOf(systemKeyspace, "keyspaces", table.Folders)
	if err == nil {
		err = readRows(ctx, systemKeyspace, "keyspaces", []string{"keyspace_name"}, nil, folders, func(r row) error {
			if r.text("keyspace_name") == table.Keyspace {
				found = r.texts("replication")
			}
			return nil
		})
	}
	if found != nil || err != nil && !errors.Is(err, ErrNoTable) {
		return found, err
	}
	var from string
	for _, f := range table.Folders {
		if f.backup == nil {
			continue
		}
		text, err := f.backup.tree.ReadFile(ctx, f.backup.meta("schema.cql"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		other, err := replicationIn(string(text), table.Keyspace)
		if err != nil {
			return nil, fmt.Errorf("schema.cql of node %s: %w", f.Node, err)
		}
		switch {
		case other == nil:
		case found == nil:
			found, from = other, f.Node
		case !maps.Equal(found, other):
			return nil, fmt.Errorf("schema.cql of nodes %s and %s replicate keyspace %s differently", from, f.Node, table.Keyspace)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("nothing says how keyspace %s is replicated", table.Keyspace)
	}
	return found, nil
}

// strategyOf reads a replication. Transient replicas count like others: what they
// hold is theirs, though it is not all.
func strategyOf(replication map[string]string) (tokenrange.Strategy, error) {
	plain := map[string]string{}
	for key, value := range replication {
		plain[key], _, _ = strings.Cut(value, "/")
	}
	return tokenrange.ParseStrategy(plain)
}
