package cql_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"golang.org/x/sync/errgroup"

	"manifest/internal/cassandra"
	"manifest/internal/casstest"
	"manifest/scan"
	"manifest/scan/cql"
	"manifest/tokenrange"
)

// numbers is a consumer that gathers a table's int keys.
type numbers struct {
	mu        sync.Mutex
	committed map[int32]int // times seen
}

func (n *numbers) Begin(context.Context, tokenrange.Split) (scan.Part, error) {
	return &numbersPart{all: n}, nil
}

type numbersPart struct {
	all  *numbers
	seen []int32
}

func (p *numbersPart) Write(_ context.Context, rec arrow.Record) error {
	p.seen = append(p.seen, rec.Column(0).(*array.Int32).Int32Values()...)
	return nil
}

func (p *numbersPart) Commit(context.Context) error {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	for _, k := range p.seen {
		p.all.committed[k]++
	}
	return nil
}

func (p *numbersPart) Abort() {}

// With three replicas, the death of any one node in mid-scan costs nothing but
// time: the others take its ranges over, at the same consistency level.
func TestAnotherReplicaTakesOverFromANodeThatDies(t *testing.T) {
	server := casstest.Own(t, casstest.Options{Nodes: 3})
	session, keyspace := casstest.Keyspace(t, server, 3)
	if err := session.Query(fmt.Sprintf(`CREATE TABLE "%s".t (k int PRIMARY KEY)`, keyspace)).Exec(); err != nil {
		t.Fatal(err)
	}
	const rows = 5000
	writes := new(errgroup.Group)
	writes.SetLimit(32)
	for k := range rows {
		writes.Go(func() error {
			return session.Query(fmt.Sprintf(`INSERT INTO "%s".t (k) VALUES (?)`, keyspace), k).Exec()
		})
	}
	if err := writes.Wait(); err != nil {
		t.Fatal(err)
	}
	cluster, err := cassandra.Connect(t.Context(), cassandra.Config{Hosts: server.Hosts(), Port: server.Port()})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	table, err := cluster.Table(t.Context(), keyspace, "t")
	if err != nil {
		t.Fatal(err)
	}
	topology, err := cluster.Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	murmur3, err := tokenrange.PartitionerByName(topology.Partitioner)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := tokenrange.NewRing(murmur3, topology.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tokenrange.NewPlan(ring, tokenrange.SimpleStrategy(tokenrange.ReplicationFactor{All: 3}), nil, tokenrange.PlanOptions{Splits: 120})
	if err != nil {
		t.Fatal(err)
	}
	source, err := cql.New(cluster, table, cql.Options{PageSize: 20})
	if err != nil {
		t.Fatal(err)
	}

	const killed = 2
	dead := ""
	for _, n := range topology.Nodes {
		if host, _, _ := strings.Cut(n.Address, ":"); host == server.Hosts()[killed] {
			dead = n.ID
		}
	}
	if dead == "" {
		t.Fatalf("%s is not among the nodes %+v", server.Hosts()[killed], topology.Nodes)
	}
	var once sync.Once
	all := &numbers{committed: map[int32]int{}}
	result, err := scan.Run(t.Context(), plan, source, []scan.Consumer{all}, scan.Options{
		Columns: []string{"k"}, Workers: 4,
		Events: scan.Events{SplitCommitted: func(scan.Receipt) {
			once.Do(func() {
				if err := server.Kill(killed); err != nil {
					t.Error(err)
				}
			})
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.Rows != rows || len(all.committed) != rows {
		t.Errorf("%d rows, %d different ones, want %d", result.Rows, len(all.committed), rows)
	}
	for k, n := range all.committed {
		if n != 1 {
			t.Errorf("row %d was seen %d times", k, n)
		}
	}
	// How the load is spread over those that are left depends on the machine;
	// that they read what was the dead one's does not.
	first := map[string]string{} // split to its first replica
	for _, s := range plan.Splits {
		first[s.ID] = s.Replicas[0]
	}
	takenOver := 0
	nodes := map[string]int{}
	for _, r := range result.Receipts {
		nodes[r.Node]++
		if first[r.Split] == dead && r.Node != dead {
			takenOver++
		}
	}
	t.Logf("%d splits, %d of the dead node's were read elsewhere, by %v", len(result.Receipts), takenOver, nodes)
	if takenOver == 0 {
		t.Errorf("no split of the dead node was read from another one, %d splits in all", len(result.Receipts))
	}
}
