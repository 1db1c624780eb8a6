package casstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"golang.org/x/sync/errgroup"
)

// Cluster is a running cluster. Its methods are safe for concurrent use, except that Stop comes last.
//
// A cluster that another process runs (see Shared) has no processes here: what needs them fails with ErrNotOwned.
type Cluster struct {
	opts      Options // with defaults
	dist      *Distribution
	dir       string // of the nodes' folders; empty: not on this machine
	temporary bool   // remove dir at Stop
	record    string // path of the record that lets other processes find the cluster; empty: not ours
	own       bool

	adding sync.Mutex // one AddNode at a time; never taken with mu held

	mu    sync.Mutex
	nodes []*node
	locks []*fileLock
}

// Start starts a cluster and returns when it is ready. It waits for addresses that other processes hold, and for the jars, as long as ctx
// lasts. On an error nothing is left running.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	locks, err := lockNodes(ctx, cache, opts, 0, opts.Nodes)
	if err != nil {
		return nil, err
	}
	return startLocked(ctx, cache, opts, locks)
}

// startLocked starts a cluster on addresses whose locks are held, and takes the locks over.
func startLocked(ctx context.Context, cache string, opts Options, locks []*fileLock) (_ *Cluster, err error) {
	c := &Cluster{opts: opts, dir: opts.Dir, own: true, locks: locks, record: recordPath(cache, opts.address(0))}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if c.dist, err = Install(ctx, opts.Version, opts.Log); err != nil {
		return nil, err
	}
	if c.dir == "" {
		// The lock says that nobody else uses this folder: what is in it was left by a process that was killed.
		c.dir, c.temporary = filepath.Join(cache, "data", opts.address(0)), true
		if err := os.RemoveAll(c.dir); err != nil {
			return nil, fmt.Errorf("empty data folder: %w", err)
		}
	}
	began := time.Now()
	for index := range opts.Nodes {
		c.nodes = append(c.nodes, c.newNode(index))
	}
	// The first node makes the ring and the system tables; the others, who ask it for both, then start together.
	if err := c.launch(ctx, c.nodes[:1], false); err != nil {
		return nil, err
	}
	if err := c.launch(ctx, c.nodes[1:], false); err != nil {
		return nil, err
	}
	if err := writeRecord(c.record, opts, c.dir); err != nil {
		return nil, err
	}
	fmt.Fprintf(opts.Log, "casstest: Cassandra %s ready on %s after %.1f s (%d nodes)\n", opts.Version, opts.address(0),
		time.Since(began).Seconds(), opts.Nodes)
	return c, nil
}

func (c *Cluster) newNode(index int) *node {
	return &node{index: index, address: c.opts.address(index), dir: filepath.Join(c.dir, fmt.Sprintf("node%d", index))}
}

// launch configures and starts nodes that have no process, and waits until the whole running cluster is ready.
func (c *Cluster) launch(ctx context.Context, nodes []*node, bootstrap bool) error {
	if len(nodes) == 0 {
		return nil
	}
	for _, n := range nodes {
		// Only what peers say of the new process counts, not of an earlier one.
		for _, observer := range c.observers(n) {
			events := observer.current.Load().events
			if err := events.read(); err != nil {
				return fmt.Errorf("read log of node %d: %w", observer.index, err)
			}
			events.forget(n.address)
		}
	}
	for _, n := range nodes {
		if err := writeConfig(c.opts, n.index, n.dir, bootstrap); err != nil {
			return err
		}
		args, err := serverFlags(c.dist, c.opts, n.index, n.dir)
		if err != nil {
			return err
		}
		p, err := startProcess(n, c.dist.java, args)
		if err != nil {
			return err
		}
		n.suspended.Store(false)
		n.current.Store(p)
	}
	// The new ones are watched whatever has become of them since: one that has
	// ended already is no observer, and its end is what to report.
	watched := slices.Clone(nodes)
	for _, n := range c.observers(nil) {
		if !slices.Contains(watched, n) {
			watched = append(watched, n)
		}
	}
	return c.waitReady(ctx, watched)
}

// Stop stops the nodes and lets the addresses go. A cluster with a folder of its own may flush first; a temporary one is killed and its
// folder removed. Stopping a cluster that this process does not run does nothing.
func (c *Cluster) Stop() error {
	if !c.own {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var group errgroup.Group
	for _, n := range c.nodes {
		if p := n.running(); p != nil {
			group.Go(func() error {
				if c.temporary {
					p.kill()
				} else {
					p.terminate(context.Background())
				}
				return nil
			})
		}
	}
	group.Wait()
	err := removeRecord(c.record)
	if c.temporary {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	unlockAll(c.locks)
	c.locks = nil
	if err != nil {
		return fmt.Errorf("stop cluster: %w", err)
	}
	return nil
}

// Hosts returns the addresses of the nodes, in the order of their numbers.
func (c *Cluster) Hosts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	hosts := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		hosts[i] = n.address
	}
	return hosts
}

// Port returns the CQL port of every node.
func (c *Cluster) Port() int { return c.opts.Port }

// Options returns how the cluster was started, defaults filled in. Of a foreign cluster only the number of nodes and the port are known.
func (c *Cluster) Options() Options { return c.opts }

// Distribution returns the server's jars, for its offline tools. ErrNotOwned on a foreign cluster.
func (c *Cluster) Distribution() (*Distribution, error) {
	if c.dist == nil {
		return nil, fmt.Errorf("find distribution: %w", ErrNotOwned)
	}
	return c.dist, nil
}

// DataDir returns the folder under which the node keeps KEYSPACE/TABLE-ID/ with SSTables and snapshots.
func (c *Cluster) DataDir(node int) (string, error) {
	n, err := c.local(node)
	if err != nil {
		return "", err
	}
	return filepath.Join(n.dir, "data", "data"), nil
}

// Kill ends the node's process at once, as a crash would, and returns when it has ended.
func (c *Cluster) Kill(node int) error {
	n, err := c.owned(node)
	if err != nil {
		return err
	}
	if p := n.running(); p != nil {
		p.kill()
	}
	return nil
}

// crippled tells whether the cluster is this process's own and a node of it does not run.
func (c *Cluster) crippled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own && slices.ContainsFunc(c.nodes, func(n *node) bool { return n.running() == nil || n.suspended.Load() })
}

// Suspend stops the node from running without closing its connections, as a long pause or a cut network would.
func (c *Cluster) Suspend(node int) error { return c.pause(node, syscall.SIGSTOP, true) }

// Resume lets a suspended node go on.
func (c *Cluster) Resume(node int) error { return c.pause(node, syscall.SIGCONT, false) }

func (c *Cluster) pause(node int, signal syscall.Signal, suspended bool) error {
	n, err := c.owned(node)
	if err != nil {
		return err
	}
	p := n.running()
	if p == nil {
		return fmt.Errorf("signal node %d: %w", node, ErrNodeExited)
	}
	if err := p.signal(signal); err != nil {
		return fmt.Errorf("signal node %d: %w", node, err)
	}
	n.suspended.Store(suspended)
	return nil
}

// Restart stops the node if it runs, letting it flush, starts it again with its data, and returns when the cluster is ready.
func (c *Cluster) Restart(ctx context.Context, index int) error {
	n, err := c.owned(index)
	if err != nil {
		return err
	}
	if p := n.running(); p != nil {
		p.terminate(ctx)
	}
	if err := c.launch(ctx, []*node{n}, false); err != nil {
		return fmt.Errorf("restart node %d: %w", index, err)
	}
	return nil
}

// AddNode starts one more node, which takes over its part of the data from the others, and returns its number when the cluster is ready.
func (c *Cluster) AddNode(ctx context.Context) (int, error) {
	if !c.own {
		return 0, fmt.Errorf("add node: %w", ErrNotOwned)
	}
	cache, err := CacheDir()
	if err != nil {
		return 0, err
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	n := c.newNode(len(c.Hosts()))
	locks, err := lockNodes(ctx, cache, c.opts, n.index, n.index+1)
	if err != nil {
		return 0, fmt.Errorf("add node: %w", err)
	}
	c.mu.Lock()
	c.locks = append(c.locks, locks...)
	c.nodes = append(c.nodes, n)
	c.mu.Unlock()
	if err := c.launch(ctx, []*node{n}, true); err != nil {
		return 0, fmt.Errorf("add node %d: %w", n.index, err)
	}
	return n.index, nil
}

// Config returns a driver configuration for the cluster, for the caller to change and use.
func (c *Cluster) Config() *gocql.ClusterConfig { return c.config(c.Hosts()) }

func (c *Cluster) config(hosts []string) *gocql.ClusterConfig {
	config := gocql.NewCluster(hosts...)
	config.Port = c.opts.Port
	config.ProtoVersion = 4
	config.Consistency = gocql.Quorum
	config.Timeout, config.ConnectTimeout = 30*time.Second, 30*time.Second
	config.Logger = log.New(io.Discard, "", 0)
	if c.opts.Auth {
		config.Authenticator = gocql.PasswordAuthenticator{Username: Superuser, Password: SuperuserPassword}
	}
	return config
}

// Session connects to the cluster, with keyspace as the default one unless it is empty. The caller closes it.
func (c *Cluster) Session(keyspace string) (*gocql.Session, error) {
	config := c.Config()
	config.Keyspace = keyspace
	session, err := config.CreateSession()
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", config.Hosts, err)
	}
	return session, nil
}

// owned returns a node whose process belongs to this process.
func (c *Cluster) owned(index int) (*node, error) {
	if !c.own {
		return nil, fmt.Errorf("control node %d: %w", index, ErrNotOwned)
	}
	return c.node(index)
}

// local returns a node whose files are known here.
func (c *Cluster) local(index int) (*node, error) {
	n, err := c.node(index)
	if err == nil && n.dir == "" {
		return nil, fmt.Errorf("find files of node %d: %w", index, ErrNotOwned)
	}
	return n, err
}

func (c *Cluster) node(index int) (*node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if index < 0 || index >= len(c.nodes) {
		return nil, fmt.Errorf("node %d: the cluster has nodes 0 to %d", index, len(c.nodes)-1)
	}
	return c.nodes[index], nil
}
