package cassandra_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"manifest/internal/cassandra"
	"manifest/internal/casstest"
	"manifest/internal/schema"
	"manifest/tokenrange"
)

func connect(t *testing.T, server *casstest.Cluster, change func(*cassandra.Config)) (*cassandra.Cluster, error) {
	t.Helper()
	cfg := cassandra.Config{Hosts: server.Hosts(), Port: server.Port()}
	if change != nil {
		change(&cfg)
	}
	c, err := cassandra.Connect(t.Context(), cfg)
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

func mustConnect(t *testing.T, server *casstest.Cluster) *cassandra.Cluster {
	t.Helper()
	c, err := connect(t, server, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// keyspace makes a keyspace for the test, dropped at its end.
func keyspace(t *testing.T, server *casstest.Cluster, name string, statements ...string) {
	t.Helper()
	driver, err := server.Session("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := driver.Query(`DROP KEYSPACE IF EXISTS ` + name).Exec(); err != nil {
			t.Error(err)
		}
		driver.Close()
	})
	for _, s := range append([]string{
		`DROP KEYSPACE IF EXISTS ` + name,
		`CREATE KEYSPACE ` + name + ` WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
	}, statements...) {
		if err := driver.Query(s).Exec(); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestTopologyIsWhatNodetoolSays(t *testing.T) {
	server := casstest.Shared(t, casstest.Options{})
	topology, err := mustConnect(t, server).Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(topology.Partitioner, "Murmur3Partitioner") || topology.ClusterName == "" || topology.Version == "" {
		t.Errorf("got %+v", topology)
	}
	ring, err := server.NodeTool(t.Context(), 0, "ring")
	if err != nil {
		t.Fatal(err)
	}
	tokens := 0
	for _, n := range topology.Nodes {
		if n.ID == "" || n.Datacenter == "" || n.Rack == "" {
			t.Errorf("node %+v is not told completely", n)
		}
		for _, token := range n.Tokens {
			tokens++
			if !strings.Contains(ring, token.String()) {
				t.Errorf("nodetool ring knows no token %v", token)
			}
		}
	}
	if want := server.Options().VNodes * len(server.Hosts()); tokens != want {
		t.Errorf("%d tokens, want %d", tokens, want)
	}
}

func TestTable(t *testing.T) {
	server := casstest.Shared(t, casstest.Options{})
	keyspace(t, server, "tables_test",
		`CREATE TYPE tables_test.inner (a int, b frozen<list<text>>)`,
		`CREATE TYPE tables_test."Outer" ("The A" frozen<inner>, d date)`,
		`CREATE TABLE tables_test.t ("K 2" int, k1 text, c2 timestamp, c1 uuid, s text static, v map<text, frozen<"Outer">>, "Group" inner, PRIMARY KEY ((k1, "K 2"), c1, c2)) WITH CLUSTERING ORDER BY (c1 DESC, c2 ASC)`,
	)
	table, err := mustConnect(t, server).Table(t.Context(), "tables_test", "t")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range table.Columns {
		direction := ""
		if c.Descending {
			direction = " desc"
		}
		got = append(got, c.Name+" "+string(c.Kind)+" "+c.Type.String()+direction)
	}
	want := []string{
		"k1 partition_key text", "K 2 partition_key int", "c1 clustering uuid desc", "c2 clustering timestamp", "s static text",
		"Group regular inner", `v regular map<text, frozen<"Outer">>`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	outer := table.Columns[6].Type.Elems[1]
	if !slices.Equal(outer.Fields, []string{"The A", "d"}) || outer.Elems[0].Fields[1] != "b" || outer.Elems[0].Elems[1].String() != "frozen<list<text>>" {
		t.Errorf("the user type is %+v", outer)
	}
	if table.View || len(table.ID) != 36 {
		t.Errorf("view %v, id %q", table.View, table.ID)
	}
}

func TestNamesThatDoNotExist(t *testing.T) {
	server := casstest.Shared(t, casstest.Options{})
	keyspace(t, server, "missing_test", `CREATE TABLE missing_test.images (id int PRIMARY KEY)`)
	c := mustConnect(t, server)
	_, err := c.Table(t.Context(), "missing_test", "imagse")
	missing, ok := errors.AsType[*cassandra.NotFoundError](err)
	if !ok || missing.What != "table" || schema.Nearest("imagse", missing.Known) != "images" {
		t.Errorf("table: got %v, %+v", err, missing)
	}
	_, err = c.Table(t.Context(), "misssing_test", "images")
	missing, ok = errors.AsType[*cassandra.NotFoundError](err)
	if !ok || missing.What != "keyspace" || schema.Nearest("misssing_test", missing.Known) != "missing_test" {
		t.Errorf("keyspace: got %v, %+v", err, missing)
	}
}

func TestEstimatesOfARealTable(t *testing.T) {
	server := casstest.Shared(t, casstest.Options{})
	keyspace(t, server, "estimates_test", `CREATE TABLE estimates_test.t (k int PRIMARY KEY, v text)`)
	driver, err := server.Session("estimates_test")
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close()
	const partitions = 2000
	for k := range partitions {
		if err := driver.Query(`INSERT INTO t (k, v) VALUES (?, ?)`, k, "x").Exec(); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range [][]string{{"flush", "estimates_test"}, {"refreshsizeestimates"}} {
		for i := range server.Hosts() {
			if _, err := server.NodeTool(t.Context(), i, command...); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := mustConnect(t, server)
	topology, err := c.Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	murmur3, err := tokenrange.PartitionerByName(topology.Partitioner)
	if err != nil {
		t.Fatal(err)
	}
	estimates, answered, problems := c.Estimates(t.Context(), murmur3, topology.Nodes, "estimates_test", "t")
	if problems != nil || answered != len(topology.Nodes) {
		t.Errorf("%d nodes answered: %v", answered, problems)
	}
	var total int64
	for _, e := range estimates {
		total += e.Partitions
	}
	if total < partitions/2 || total > partitions*2 {
		t.Errorf("about %d partitions estimated, of %d", total, partitions)
	}
}

func TestAStatementGoesToTheNodeItNames(t *testing.T) {
	server := casstest.Shared(t, casstest.Options{})
	c := mustConnect(t, server)
	topology, err := c.Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range topology.Nodes {
		iter, err := c.Select(cassandra.WithNodes(t.Context(), n.ID), `SELECT host_id FROM system.local`, cassandra.Page{Size: 1})
		if err != nil {
			t.Fatal(err)
		}
		var answered gocql.UUID
		iter.Scan(&answered)
		if err := iter.Close(); err != nil || answered.String() != n.ID {
			t.Errorf("asked %s, %v answered: %v", n.ID, answered, err)
		}
	}
	unknown := cassandra.WithNodes(t.Context(), "00000000-0000-0000-0000-000000000000")
	iter, err := c.Select(unknown, `SELECT host_id FROM system.local`, cassandra.Page{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := iter.Close(); !errors.Is(err, gocql.ErrNoConnections) {
		t.Errorf("a node that is not there: got %v, want %v", err, gocql.ErrNoConnections)
	}
}

func TestSelectRefusesWhatTheGuardRefuses(t *testing.T) {
	c := mustConnect(t, casstest.Shared(t, casstest.Options{}))
	if _, err := c.Select(t.Context(), `SELECT count(*) FROM system.local`, cassandra.Page{Size: 1}); !errors.Is(err, cassandra.ErrStatement) {
		t.Errorf("got %v, want %v", err, cassandra.ErrStatement)
	}
}

func TestConnectionsThatFail(t *testing.T) {
	server := casstest.Shared(t, casstest.Options{})
	_, err := connect(t, server, func(c *cassandra.Config) {
		c.Hosts, c.Port, c.ConnectTimeout = []string{"127.0.0.1"}, 1, time.Second
	})
	if !errors.Is(err, cassandra.ErrNoHost) {
		t.Errorf("no server: got %v, want %v", err, cassandra.ErrNoHost)
	}
	_, err = connect(t, server, func(c *cassandra.Config) { c.LocalDC = "atlantis" })
	if !errors.Is(err, cassandra.ErrNoHost) || !strings.Contains(err.Error(), "atlantis") {
		t.Errorf("wrong datacentre: got %v", err)
	}
	_, err = connect(t, server, func(c *cassandra.Config) {
		c.Hosts, c.Port, c.Consistency, c.Password = []string{" "}, 70000, "MOST", "secret"
	})
	for _, want := range []string{"empty", "70000", "MOST", "without a user"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("the password is in the error: %v", err)
	}
}

func TestCredentialsAndGrants(t *testing.T) {
	server := casstest.Own(t, casstest.Options{Auth: true, BaseOctet: 31})
	const password = "correct horse"
	admin, err := server.Session("")
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, s := range []string{
		`CREATE KEYSPACE granted WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
		`CREATE TABLE granted.open (k int PRIMARY KEY)`, `CREATE TABLE granted.closed (k int PRIMARY KEY)`,
		`CREATE ROLE reader WITH LOGIN = true AND PASSWORD = '` + password + `'`,
		`GRANT SELECT ON granted.open TO reader`,
	} {
		if err := admin.Query(s).Exec(); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	for name, change := range map[string]func(*cassandra.Config){
		"no user":        func(*cassandra.Config) {},
		"wrong password": func(c *cassandra.Config) { c.User, c.Password = "reader", "wrong donkey" },
	} {
		_, err := connect(t, server, change)
		if !errors.Is(err, cassandra.ErrCredentials) {
			t.Errorf("%s: got %v, want %v", name, err, cassandra.ErrCredentials)
		}
		if err != nil && strings.Contains(err.Error(), "donkey") {
			t.Errorf("%s: the password is in the error: %v", name, err)
		}
	}
	c, err := connect(t, server, func(c *cassandra.Config) { c.User, c.Password = "reader", password })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Table(t.Context(), "granted", "open"); err != nil {
		t.Errorf("a role with SELECT can't see its table: %v", err)
	}
}
