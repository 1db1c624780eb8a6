package cql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"manifest/internal/cassandra"
	"manifest/internal/casstest"
	"manifest/scan"
	"manifest/scan/cql"
	"manifest/tokenrange"
)

// job is a table of a real cluster that is ready to be read as the program does it.
type job struct {
	cluster *cassandra.Cluster
	source  *cql.Source
	plan    tokenrange.Plan
	watch   *cql.Watch
}

func newJob(t *testing.T, cfg cassandra.Config, keyspace, table string, columns []string, splits int, opts cql.Options) *job {
	t.Helper()
	cluster, err := cassandra.Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	j := &job{cluster: cluster}
	schema, err := cluster.Table(t.Context(), keyspace, table)
	if err != nil {
		t.Fatal(err)
	}
	topology, err := cluster.Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	replication, err := cluster.Replication(t.Context(), keyspace)
	if err != nil {
		t.Fatal(err)
	}
	strategy, err := tokenrange.ParseStrategy(replication)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := tokenrange.NewRing(tokenrange.Murmur3, topology.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	if j.plan, err = tokenrange.NewPlan(ring, strategy, nil, tokenrange.PlanOptions{Splits: splits}); err != nil {
		t.Fatal(err)
	}
	if j.source, err = cql.New(cluster, schema, opts); err != nil {
		t.Fatal(err)
	}
	if j.watch, err = cql.NewWatch(j.source, columns, topology, replication); err != nil {
		t.Fatal(err)
	}
	return j
}

// fill makes a table with that many rows of one int.
func fill(t *testing.T, session *gocql.Session, rows int) {
	t.Helper()
	if err := session.Query(`CREATE TABLE t (k int PRIMARY KEY, v int)`).Exec(); err != nil {
		t.Fatal(err)
	}
	for k := range rows {
		if err := session.Query(`INSERT INTO t (k, v) VALUES (?, ?)`, k, k).Exec(); err != nil {
			t.Fatal(err)
		}
	}
}

// exactlyOnce checks that each of the keys 0 to rows-1 was committed once.
func (n *numbers) exactlyOnce(t *testing.T, rows int) {
	t.Helper()
	if len(n.committed) != rows {
		t.Errorf("%d different rows, want %d", len(n.committed), rows)
	}
	for k, times := range n.committed {
		if times != 1 || k < 0 || int(k) >= rows {
			t.Errorf("row %d was seen %d times", k, times)
		}
	}
}

// Two partitions hold more tombstones than the server reads over. All other rows
// come, and those two are named: with its key the one whose first row can be read.
func TestPartitionsFullOfTombstonesAreNamed(t *testing.T) {
	server := casstest.Own(t, casstest.Options{Settings: map[string]string{"tombstone_warn_threshold": "500", "tombstone_failure_threshold": "1000"}})
	session, keyspace := casstest.Keyspace(t, server, 1)
	exec := func(statement string, args ...any) {
		t.Helper()
		if err := session.Query(statement, args...).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	exec(`CREATE TABLE t (k int, c int, PRIMARY KEY (k, c))`)
	const partitions, hidden, begun = 300, 123, 234
	for k := range partitions {
		if k != hidden && k != begun {
			exec(`INSERT INTO t (k, c) VALUES (?, 1)`, k)
			exec(`INSERT INTO t (k, c) VALUES (?, 2)`, k)
		}
	}
	exec(`INSERT INTO t (k, c) VALUES (?, 0)`, begun)
	for _, k := range []int{hidden, begun} {
		for c := 1; c <= 1500; c++ {
			exec(`DELETE FROM t WHERE k = ? AND c = ?`, k, c)
		}
		exec(`INSERT INTO t (k, c) VALUES (?, 5000)`, k)
	}

	j := newJob(t, cassandra.Config{Hosts: server.Hosts(), Port: server.Port(), Consistency: "ONE"}, keyspace, "t", []string{"k", "c"}, 4, cql.Options{Backoff: time.Millisecond})
	all := &numbers{committed: map[int32]int{}}
	var mu sync.Mutex
	classes := map[scan.Class]int{}
	result, err := scan.Run(t.Context(), j.plan, j.source, []scan.Consumer{all}, scan.Options{
		Columns: []string{"k", "c"}, Workers: 4, Backoff: time.Millisecond, MaxBackoff: 10 * time.Millisecond, MaxAttempts: 2, Watcher: j.watch,
		Events: scan.Events{SplitFailed: func(f scan.FailureInfo) {
			mu.Lock()
			defer mu.Unlock()
			classes[f.Class]++
		}},
	})
	incomplete, ok := errors.AsType[*scan.IncompleteError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if len(classes) != 1 || classes[scan.Tombstones] == 0 {
		t.Errorf("failures were of %v", classes)
	}
	for k := range int32(partitions) {
		want := 2
		if k == hidden || k == begun {
			want = 0
		}
		if all.committed[k] != want {
			t.Errorf("partition %d: %d rows, want %d", k, all.committed[k], want)
		}
	}
	// The server says what their tokens are.
	want := map[int64]string{}
	for _, k := range []int{hidden, begun} {
		var token int64
		if err := session.Query(`SELECT token(k) FROM t WHERE k = ? AND c = 5000`, k).Scan(&token); err != nil {
			t.Fatal(err)
		}
		want[token] = ""
		if k == begun {
			want[token] = fmt.Sprintf("k=%d", begun)
		}
	}
	if len(incomplete.Poisoned) != 2 || len(result.Poisoned) != 2 || len(incomplete.Missing) != 2 {
		t.Fatalf("poisoned are %v, missing %v", incomplete.Poisoned, incomplete.Missing)
	}
	for _, p := range incomplete.Poisoned {
		token, _ := p.Token.Int64()
		if key, ok := want[token]; !ok || key != p.Key || p.Class != scan.Tombstones {
			t.Errorf("poisoned is %v, want one of %v", p, want)
		}
	}
	if text := err.Error(); !strings.Contains(text, fmt.Sprintf("(k=%d)", begun)) {
		t.Errorf("the message does not name the partition: %s", text)
	}
}

// The only node that holds the data restarts, and a second one joins, each
// while a run goes on: every row comes once, without anybody doing anything.
func TestNodesThatRestartAndJoin(t *testing.T) {
	server := casstest.Own(t, casstest.Options{})
	session, keyspace := casstest.Keyspace(t, server, 1)
	const rows = 3000
	fill(t, session, rows)
	// A crash takes what the commit log has not synced, which it does every ten seconds.
	if _, err := server.NodeTool(t.Context(), 0, "flush"); err != nil {
		t.Fatal(err)
	}
	cfg := cassandra.Config{Hosts: server.Hosts(), Port: server.Port(), Consistency: "LOCAL_QUORUM", RequestTimeout: 5 * time.Second}

	run := func(splits int, disturb func() error) scan.Result {
		j := newJob(t, cfg, keyspace, "t", []string{"k"}, splits, cql.Options{PageSize: 10})
		all := &numbers{committed: map[int32]int{}}
		disturbed := make(chan error, 1)
		var once sync.Once
		wait, replanned := make(chan struct{}), make(chan struct{}, 1)
		result, err := scan.Run(t.Context(), j.plan, j.source, []scan.Consumer{all}, scan.Options{
			Columns: []string{"k"}, Workers: 2, Watcher: j.watch, WatchInterval: time.Second, NoSecondReads: true,
			Events: scan.Events{
				SplitCommitted: func(scan.Receipt) {
					once.Do(func() {
						go func() {
							err := disturb()
							if splits > 100 && err == nil {
								<-replanned
							}
							disturbed <- err
							close(wait)
						}()
					})
					if splits > 100 { // the rest waits until the run has seen what has been done to the cluster
						<-wait
					}
				},
				Replanned: func(scan.ReplanInfo) {
					select {
					case replanned <- struct{}{}:
					default:
					}
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-disturbed; err != nil {
			t.Fatal(err)
		}
		all.exactlyOnce(t, rows)
		return result
	}

	run(60, func() error { return errors.Join(server.Kill(0), server.Restart(context.Background(), 0)) })

	old := ""
	result := run(200, func() error {
		_, err := server.AddNode(context.Background())
		return err
	})
	nodes := map[string]int{}
	for _, r := range result.Receipts {
		nodes[r.Node]++
		old = r.Node
	}
	if result.Replans == 0 || len(nodes) != 2 || old == "" {
		t.Errorf("planned again %d times, served by %v", result.Replans, nodes)
	}
}

// What is done to the table while it is read stops the run where it touches what
// is read, and not otherwise.
func TestTablesThatChangeWhileTheyAreRead(t *testing.T) {
	server := casstest.Shared(t, casstest.Options{})
	for _, c := range []struct {
		name    string
		columns []string
		change  []string
		want    string // "" where the run goes on
	}{
		{"add", []string{"k", "v"}, []string{`ALTER TABLE t ADD w int`}, ""},
		{"drop another", []string{"k", "v"}, []string{`ALTER TABLE t DROP u`}, ""},
		{"drop", []string{"k", "v"}, []string{`ALTER TABLE t DROP v`}, `column "v" was dropped`},
		{"drop and add again", []string{"k", "v"}, []string{`ALTER TABLE t DROP v`, `ALTER TABLE t ADD v int`}, `column "v" was dropped at`},
		{"make again", []string{"k"}, []string{`DROP TABLE t`, `CREATE TABLE t (k int PRIMARY KEY, v int, u int)`}, `was dropped and made again`},
		{"drop the table", []string{"k"}, []string{`DROP TABLE t`}, `was dropped`},
	} {
		t.Run(c.name, func(t *testing.T) {
			session, keyspace := casstest.Keyspace(t, server, 1)
			fill(t, session, 200)
			if err := session.Query(`ALTER TABLE t ADD u int`).Exec(); err != nil {
				t.Fatal(err)
			}
			j := newJob(t, cassandra.Config{Hosts: server.Hosts(), Port: server.Port(), Consistency: "ONE"}, keyspace, "t", c.columns, 40, cql.Options{})
			all := &numbers{committed: map[int32]int{}}
			var once sync.Once
			_, err := scan.Run(t.Context(), j.plan, j.source, []scan.Consumer{all}, scan.Options{
				Columns: c.columns, Workers: 1, Watcher: j.watch, WatchInterval: time.Hour, // so that it is the last look that counts
				Events: scan.Events{SplitCommitted: func(scan.Receipt) {
					once.Do(func() {
						for _, s := range c.change {
							if err := session.Query(s).Exec(); err != nil {
								t.Errorf("%s: %v", s, err)
							}
						}
					})
				}},
			})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				all.exactlyOnce(t, 200)
				return
			}
			if scan.ClassOf(err) != scan.SchemaChanged || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
