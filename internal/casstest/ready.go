package casstest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gocql/gocql"
)

// readyPoll is how often a starting node is looked at. A look reads the new lines of a log; queries follow once it serves.
const readyPoll = 50 * time.Millisecond

// waitReady waits until every node of the list serves: it answers CQL, has all running nodes of the cluster as peers, has seen each of
// them come up, and agrees with them on the schema. It ends at once when one of the processes does.
func (c *Cluster) waitReady(ctx context.Context, nodes []*node) error {
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	pending := "nothing looked at yet"
	for {
		ready := true
		versions := map[string]bool{}
		for _, n := range nodes {
			p := n.current.Load()
			if p.exited() {
				return p.failure(n)
			}
			version, missing := c.look(ctx, n, p.events)
			versions[version] = true
			if missing != "" {
				ready, pending = false, missing
				break
			}
		}
		if ready && len(versions) == 1 {
			return nil
		}
		if ready {
			pending = "the nodes do not agree on the schema"
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until the cluster is ready: %w; last: %s", context.Cause(ctx), pending)
		case <-ticker.C:
		}
	}
}

// look returns the schema version of a node, and what it still lacks to be ready.
func (c *Cluster) look(ctx context.Context, n *node, events *logEvents) (version, missing string) {
	lacks := func(format string, args ...any) (string, string) {
		return "", fmt.Sprintf("node %d (%s): ", n.index, n.address) + fmt.Sprintf(format, args...)
	}
	if err := events.read(); err != nil {
		return lacks("read log: %v", err)
	}
	if !events.isServing() {
		return lacks("does not serve CQL yet: %s", events.tail(1))
	}
	peers := c.observers(n)
	for _, peer := range peers {
		if !events.sees(peer.address) {
			return lacks("has not seen %s come up", peer.address)
		}
	}
	session, err := c.directSession(n)
	if err != nil {
		return lacks("connect: %v", err)
	}
	defer session.Close()
	known := map[string]bool{}
	iter := session.Query("SELECT peer FROM system.peers").WithContext(ctx).Iter()
	for peer := ""; iter.Scan(&peer); {
		known[peer] = true
	}
	if err := iter.Close(); err != nil {
		return lacks("list peers: %v", err)
	}
	for _, peer := range peers {
		if !known[peer.address] {
			return lacks("has no peer %s", peer.address)
		}
	}
	var id gocql.UUID
	if err := session.Query("SELECT schema_version FROM system.local").WithContext(ctx).Scan(&id); err != nil {
		return lacks("read schema version: %v", err)
	}
	return id.String(), ""
}

// directSession connects to one node only, without looking at the others.
func (c *Cluster) directSession(n *node) (*gocql.Session, error) {
	config := c.config([]string{n.address})
	config.DisableInitialHostLookup = true
	config.Events.DisableNodeStatusEvents = true
	config.Events.DisableTopologyEvents = true
	config.Events.DisableSchemaEvents = true
	config.NumConns = 1
	config.Timeout, config.ConnectTimeout = 5*time.Second, 5*time.Second
	config.ReconnectInterval = 0
	return config.CreateSession()
}

// WaitUp waits until every other running node has seen node come up.
func (c *Cluster) WaitUp(ctx context.Context, node int) error { return c.waitSeen(ctx, node, true) }

// WaitDown waits until every other running node takes node to be down. A killed or suspended node is noticed after about 20 seconds.
func (c *Cluster) WaitDown(ctx context.Context, node int) error {
	return c.waitSeen(ctx, node, false)
}

func (c *Cluster) waitSeen(ctx context.Context, index int, up bool) error {
	target, err := c.owned(index)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		var differing []string
		for _, observer := range c.observers(target) {
			events := observer.current.Load().events
			if err := events.read(); err != nil {
				return fmt.Errorf("read log of node %d: %w", observer.index, err)
			}
			if events.sees(target.address) != up {
				differing = append(differing, observer.address)
			}
		}
		if len(differing) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s is seen up=%t: %w; not by %s", target.address, up, context.Cause(ctx),
				strings.Join(differing, ", "))
		case <-ticker.C:
		}
	}
}

// observers returns the other nodes that run and are not suspended: those that see target, and that it sees.
func (c *Cluster) observers(target *node) []*node {
	c.mu.Lock()
	defer c.mu.Unlock()
	var nodes []*node
	for _, n := range c.nodes {
		if n != target && n.running() != nil && !n.suspended.Load() {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
