package cassandra

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/gocql/gocql"

	"manifest/tokenrange"
)

// Topology is who owns which tokens, as one node sees it.
type Topology struct {
	ClusterName string
	// Version is the release of the node that answered.
	Version string
	// Partitioner is the class name of the cluster's partitioner.
	Partitioner string
	// Nodes are all nodes of all datacentres.
	Nodes []tokenrange.Node
}

// Topology asks a node for its view of the ring.
func (c *Cluster) Topology(ctx context.Context) (Topology, error) {
	locals, err := c.queryRows(ctx, `SELECT cluster_name, release_version, partitioner, host_id, data_center, rack, tokens, rpc_address, broadcast_address FROM system.local`)
	if err == nil && len(locals) != 1 {
		err = fmt.Errorf("system.local has %d rows", len(locals))
	}
	if err != nil {
		return Topology{}, fmt.Errorf("ask for the topology: %w", err)
	}
	local := locals[0]
	t := Topology{
		ClusterName: text(local["cluster_name"]),
		Version:     text(local["release_version"]),
		Partitioner: text(local["partitioner"]),
	}
	// The peers as the same node sees them: another one would list this node
	// among its own peers, and leave itself out.
	peers, err := c.peers(WithNodes(ctx, text(local["host_id"])))
	if err != nil {
		return Topology{}, fmt.Errorf("ask for the peers: %w", err)
	}
	for _, row := range append(peers, local) {
		n, err := t.node(row)
		if err != nil {
			return Topology{}, err
		}
		if n.ID != "" { // a peer that has not said who it is yet owns nothing
			t.Nodes = append(t.Nodes, n)
		}
	}
	return t, nil
}

// peers reads system.peers_v2, which knows each node's port, or system.peers
// of a server older than 4.0.
func (c *Cluster) peers(ctx context.Context) ([]map[string]any, error) {
	rows, err := c.queryRows(ctx, `SELECT host_id, data_center, rack, tokens, native_address, native_port FROM system.peers_v2`)
	if request, ok := errors.AsType[gocql.RequestError](err); ok && request.Code() == gocql.ErrCodeInvalid {
		return c.queryRows(ctx, `SELECT host_id, data_center, rack, tokens, rpc_address FROM system.peers`)
	}
	return rows, err
}

func (t Topology) node(row map[string]any) (tokenrange.Node, error) {
	n := tokenrange.Node{ID: text(row["host_id"]), Datacenter: text(row["data_center"]), Rack: text(row["rack"])}
	for _, column := range []string{"native_address", "rpc_address", "broadcast_address"} {
		if a := text(row[column]); a != "" && a != "0.0.0.0" && a != "::" {
			n.Address = a
			break
		}
	}
	if port, ok := row["native_port"].(int); ok && port != 0 {
		n.Address = net.JoinHostPort(n.Address, strconv.Itoa(port))
	}
	tokens, _ := row["tokens"].([]string)
	for _, s := range tokens {
		tok, err := tokenrange.ParseToken(s)
		if _, unsupported := tokenrange.PartitionerByName(t.Partitioner); err != nil && unsupported != nil {
			return n, fmt.Errorf("token %q of node %s: %w", s, n.Address, unsupported)
		}
		if err != nil {
			return n, fmt.Errorf("token of node %s (partitioner %s): %w", n.Address, t.Partitioner, err)
		}
		n.Tokens = append(n.Tokens, tok)
	}
	return n, nil
}

// text gives a driver's value as text; a missing one as "".
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case net.IP:
		if v == nil {
			return ""
		}
		return v.String()
	case gocql.UUID:
		if v == (gocql.UUID{}) {
			return ""
		}
		return v.String()
	default:
		return fmt.Sprint(v)
	}
}

// Ping asks one node, by its id, for its own id.
func (c *Cluster) Ping(ctx context.Context, id string) error {
	var answered gocql.UUID
	return c.queryRow(WithNodes(ctx, id), `SELECT host_id FROM system.local`, nil, &answered)
}
