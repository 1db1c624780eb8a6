package casstest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// HostsVariable names the environment variable with the addresses of a cluster to test against: host[:port],host[:port],…
const HostsVariable = "MANIFEST_TEST_HOSTS"

// VersionVariable names the environment variable with the Cassandra version for tests that do not ask for one.
const VersionVariable = "MANIFEST_TEST_CASSANDRA"

// startLimit bounds the start of a cluster for tests, the wait for addresses and jars included, where the test has no deadline.
const startLimit = 9 * time.Minute

// shared are the clusters that Shared has started for this process.
var shared struct {
	sync.Mutex
	attached *Cluster  // what MANIFEST_TEST_HOSTS names
	turn     *fileLock // held while this process runs shared clusters of its own
	clusters []*Cluster
	failures map[string]error
}

// Main runs the tests of a package, stops the clusters that Shared started, and looks for goroutines that are left, but for those that
// known names: of libraries that tests use. TestMain is os.Exit(casstest.Main(m)).
func Main(m *testing.M, known ...goleak.Option) int {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	if code == 0 { // a test that failed may have left anything
		if err := goleak.Find(append(known, driverLeftovers...)...); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left after all tests:", err)
			code = 1
		}
	}
	return code
}

// driverLeftovers are what goes on in the driver for some seconds after a session was closed: it can't be told to end, nor waited for. What a
// session that was not closed has (serving connections, heart beats) is not among them.
var driverLeftovers = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/gocql/gocql.(*hostConnPool).connectMany"),
	goleak.IgnoreAnyFunction("github.com/gocql/gocql.(*hostConnPool).connect"),
	goleak.IgnoreAnyFunction("github.com/gocql/gocql.(*Conn).awaitSchemaAgreement"),
}

func stopShared() error {
	shared.Lock()
	defer shared.Unlock()
	var failed error
	for _, c := range shared.clusters {
		if err := c.Stop(); err != nil && failed == nil {
			failed = err
		}
	}
	shared.clusters = nil
	if shared.turn != nil {
		shared.turn.unlock()
		shared.turn = nil
	}
	return failed
}

// Shared returns a cluster that the tests of this process use together: the one that MANIFEST_TEST_HOSTS names if it fits opts, else one
// that is started at the first call and stopped by Main. A zero field of opts asks for nothing, and more nodes than asked for are fine, so
// keep opts small. BaseOctet is chosen here unless given. Only one process at a time starts clusters of its own; others wait.
//
// Tests share it: each works in a keyspace of its own (Keyspace), and none stops nodes. Those that do use Own.
//
// With -short the test is skipped. Where the cluster cannot be had, it fails with the reason.
func Shared(t testing.TB, opts Options) *Cluster {
	t.Helper()
	skipShort(t)
	ctx, cancel := startContext(t)
	defer cancel()
	c, err := acquireShared(ctx, opts)
	if err != nil {
		t.Fatalf("no Cassandra for this test: %v", err)
	}
	return c
}

func acquireShared(ctx context.Context, opts Options) (*Cluster, error) {
	shared.Lock()
	defer shared.Unlock()
	if hosts := os.Getenv(HostsVariable); hosts != "" && shared.attached == nil {
		c, err := attach(ctx, hosts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", HostsVariable, err)
		}
		shared.attached = c
	}
	if c := shared.attached; c != nil && c.opts.serves(opts) {
		return c, nil
	}
	for _, c := range shared.clusters {
		if c.opts.serves(opts) {
			return c, nil
		}
	}
	key := fmt.Sprintf("%+v", opts)
	if err := shared.failures[key]; err != nil {
		return nil, err // a reason that holds for every test is not worth a wait in each
	}
	c, err := startShared(ctx, opts)
	if err != nil {
		if shared.failures == nil {
			shared.failures = map[string]error{}
		}
		shared.failures[key] = err
		return nil, err
	}
	shared.clusters = append(shared.clusters, c)
	return c, nil
}

// startShared runs under the lock of shared.
func startShared(ctx context.Context, opts Options) (*Cluster, error) {
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	if opts.Log == nil {
		opts.Log = os.Stderr
	}
	if shared.turn == nil {
		turn, err := waitLock(ctx, filepath.Join(cache, "nodes", "tests.lock"), "the tests of another package", opts.Log)
		if err != nil {
			return nil, err
		}
		shared.turn = turn
	}
	return startAnywhere(ctx, cache, opts)
}

// startAnywhere starts a cluster for tests on the addresses that opts name, or on the first free ones where they name none.
func startAnywhere(ctx context.Context, cache string, opts Options) (*Cluster, error) {
	opts.Version = orDefault(opts.Version, os.Getenv(VersionVariable))
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.BaseOctet != 0 {
		return Start(ctx, opts)
	}
	opts, locks, err := lockFreeBlock(ctx, cache, opts.withDefaults())
	if err != nil {
		return nil, err
	}
	return startLocked(ctx, cache, opts, locks)
}

// Own starts a cluster for one test and stops it when the test ends: for tests that stop nodes, add some, or need settings of their own.
// BaseOctet is chosen here unless given. Skips and fails as Shared does.
func Own(t testing.TB, opts Options) *Cluster {
	t.Helper()
	skipShort(t)
	ctx, cancel := startContext(t)
	defer cancel()
	cache, err := CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if opts.Log == nil {
		opts.Log = os.Stderr
	}
	c, err := startAnywhere(ctx, cache, opts)
	if err != nil {
		t.Fatalf("no Cassandra for this test: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

var sayShort = sync.OnceFunc(func() {
	fmt.Fprintln(os.Stderr, "casstest: tests that need a Cassandra server are left out, by -short")
})

func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		sayShort()
		t.Skip("needs a Cassandra server, left out by -short")
	}
}

// startContext ends before the test would, so that the reason is reported instead of a time-out of the whole binary.
func startContext(t testing.TB) (context.Context, context.CancelFunc) {
	limit := startLimit
	if timed, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := timed.Deadline(); ok {
			limit = min(limit, time.Until(deadline)*9/10)
		}
	}
	return context.WithTimeout(t.Context(), limit)
}

// attach returns the cluster at the hosts, with its files and nodetool if this package runs it on this machine.
func attach(ctx context.Context, hosts string) (*Cluster, error) {
	addresses, port, err := parseHosts(hosts)
	if err != nil {
		return nil, err
	}
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	c := &Cluster{opts: Options{Nodes: len(addresses), Port: port}}
	if r, err := readRecord(cache, addresses[0]); err == nil && r.Options.Port == port && r.Options.Nodes == len(addresses) {
		c.opts, c.dir = r.Options.withDefaults(), r.Dir
		if c.dist, err = Install(ctx, c.opts.Version, os.Stderr); err != nil {
			return nil, err
		}
	}
	for i, address := range addresses {
		n := &node{index: i, address: address}
		if c.dir != "" {
			n = c.newNode(i)
		}
		c.nodes = append(c.nodes, n)
	}
	return c, nil
}

func parseHosts(hosts string) (addresses []string, port int, err error) {
	port = 9042
	for i, host := range strings.Split(hosts, ",") {
		host = strings.TrimSpace(host)
		hostPort := 9042
		if name, number, err := net.SplitHostPort(host); err == nil {
			if hostPort, err = strconv.Atoi(number); err != nil {
				return nil, 0, fmt.Errorf("port of %q: %w", host, err)
			}
			host = name
		}
		if host == "" {
			return nil, 0, fmt.Errorf("%q: empty host", hosts)
		}
		if i > 0 && hostPort != port {
			return nil, 0, fmt.Errorf("%q: the hosts must have one port", hosts)
		}
		addresses, port = append(addresses, host), hostPort
	}
	return addresses, port, nil
}
