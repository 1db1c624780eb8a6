package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"manifest/internal/sstable"
	"manifest/internal/sstable/oracle"
	"manifest/tokenrange"
)

// tokenOf is the token of a partition of a fixture, as Cassandra told it.
func tokenOf(t *testing.T, name, key string) int64 {
	t.Helper()
	results, err := oracle.ReadResults("../testdata/fixtures.tar.zst")
	if err != nil {
		t.Fatal(err)
	}
	for _, dump := range results[name].Dumps {
		for _, line := range dump {
			if words := strings.Fields(line); words[0] == "partition" && words[1] == fmt.Sprintf("0x%x", key) {
				token, err := tokenrange.ParseToken(words[2])
				n, ok := token.Int64()
				if err != nil || !ok {
					t.Fatal(line, err)
				}
				return n
			}
		}
	}
	t.Fatalf("no partition %q", key)
	return 0
}

// TestOwnershipOfMedusa has backups of two nodes: one has both SSTables of the
// fixture, the other the first of them. What shows of a partition tells whose
// SSTables were read of it.
func TestOwnershipOfMedusa(t *testing.T) {
	// Of the partitions that only the second SSTable has, and of "long", which it
	// changes, those up to token 0 are the first node's, where that has a replica
	// of its own alone.
	ofFirst := int64(rowsOfFirst)
	for i := 201; i <= 220; i++ {
		if tokenOf(t, "oa/partitions", fmt.Sprintf("partition %d", i)) <= 0 {
			ofFirst++
		}
	}
	if tokenOf(t, "oa/partitions", "long") <= 0 {
		ofFirst += 10 // written again after their deletion
	}
	if ofFirst == rowsOfFirst || ofFirst == rowsOfBoth {
		t.Fatal("all tokens are on one side")
	}
	const (
		first  = `"node1.example": {"tokens": [0], "is_up": true, "rack": "r1", "dc": "dc1"}`
		second = `"node2.example": {"tokens": ["9223372036854775807"], "is_up": false, "rack": "r2", "dc": "dc1"}`
		moved  = `"node2.example": {"tokens": [9000000000000000000], "is_up": true, "rack": "r2", "dc": "dc1"}`
		third  = `"node3.example": {"tokens": [4000000000000000000], "is_up": true, "rack": "r3", "dc": "dc1"}`
	)
	one := "{'class': 'NetworkTopologyStrategy', 'dc1': '1'}"
	for _, c := range []struct {
		name        string
		maps        [2]string
		replication string
		rows        int64
		reason      string
	}{
		{"one replica", [2]string{first + "," + second, second + "," + first}, one, ofFirst, ""},
		{"two replicas", [2]string{first + "," + second, first + "," + second}, "{'class': 'NetworkTopologyStrategy', 'dc1': '2', 'elsewhere': '3'}", rowsOfBoth, ""},
		{"one of two replicas transient", [2]string{first + "," + second, first + "," + second}, "{'class': 'NetworkTopologyStrategy', 'dc1': '2/1'}", rowsOfBoth, ""},
		{"views that differ", [2]string{first + "," + second, first + "," + moved}, one, rowsOfBoth, "don't agree"},
		{"a node more", [2]string{first + "," + second, first + "," + second + "," + third}, one, rowsOfBoth, "don't agree"},
		// Of what is not the first node's there is no replica then.
		{"not in its own map", [2]string{first + "," + second, first + "," + third}, one, rowsOfBoth, "node node2.example: its token map does not have it"},
		{"another strategy", [2]string{first + "," + second, first + "," + second}, "{'class': 'SimpleStrategy', 'replication_factor': '1'}", rowsOfBoth, "single datacentres"},
		{"unknown strategy", [2]string{first + "," + second, first + "," + second}, "{'class': 'org.example.Odd'}", rowsOfBoth, "org.example.Odd"},
		{"none of the datacentre", [2]string{first + "," + second, first + "," + second}, "{'class': 'NetworkTopologyStrategy', 'dc2': '1'}", rowsOfBoth, "no replica among these nodes"},
		{"no keyspace", [2]string{first + "," + second, first + "," + second}, "", rowsOfBoth, "nothing says how keyspace ks is replicated"},
		{"no rack", [2]string{strings.ReplaceAll(first, `"rack"`, `"r"`), second}, one, rowsOfBoth, "no rack"},
	} {
		fsys := medusaTree(t, "", false)
		fsys["node2.example/tuesday/meta/manifest.json"] = fsys["node2.example/monday/meta/manifest.json"]
		for i, node := range []string{"node1.example", "node2.example"} {
			meta := node + "/tuesday/meta/"
			fsys[meta+"tokenmap.json"] = &fstest.MapFile{Data: []byte("{" + c.maps[i] + "}")}
			schema := medusaSchema(t)
			if c.replication != "" {
				schema = "CREATE KEYSPACE ks WITH replication = " + c.replication + " AND durable_writes = true;\n" + schema
			}
			fsys[meta+"schema.cql"] = &fstest.MapFile{Data: []byte(schema)}
		}
		// A map that names others than the nodes there are ends a search below the
		// root of the storage; each node's folder is named here.
		catalog, err := Find(t.Context(), []Tree{below(fsys, "node1.example"), below(fsys, "node2.example")}, Options{Tag: "tuesday"})
		if err != nil {
			t.Fatal(err)
		}
		got, reasons := ownedRows(t, catalog, medusaSchema(t))
		if got != c.rows || !strings.Contains(reasons, c.reason) || (reasons == "") != (c.reason == "") {
			t.Errorf("%s: %d rows, want %d; reasons %q, want %q", c.name, got, c.rows, reasons, c.reason)
		}
	}
}

// below gives the tree of a folder.
func below(fsys fstest.MapFS, dir string) Tree {
	s := fstest.MapFS{}
	for p, f := range fsys {
		if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
			s[rest] = f
		}
	}
	return FromFS("/storage/"+dir, s)
}

// ownedRows counts the rows of a table that each node's SSTables show within what
// the node replicates.
func ownedRows(t *testing.T, catalog *Catalog, text string) (n int64, reasons string) {
	t.Helper()
	found, err := catalog.Table(t.Context(), "ks", "partitions")
	if err != nil {
		t.Fatal(err)
	}
	table, err := catalog.Open(t.Context(), found, OpenOptions{Schema: text})
	if err != nil {
		t.Fatal(err)
	}
	owned, err := catalog.Ownership(t.Context(), found, "", table.Partitioner())
	if err != nil {
		t.Fatal(err)
	}
	owned.Restrict(table)
	return rows(t, table.Table), strings.Join(owned.Reasons(), "; ")
}

func TestOwnershipOfSilentFiles(t *testing.T) {
	fsys, _ := snapshotOf(t, "oa/partitions")
	catalog, err := Find(t.Context(), []Tree{FromFS("/backup", fsys)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	owned, err := catalog.Ownership(t.Context(), catalog.Tables[0], "", tokenrange.Murmur3)
	if err != nil || owned.Known() || !owned.Silent() || len(owned.Reasons()) != 1 {
		t.Errorf("%+v, %v", owned, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := catalog.Ownership(ctx, catalog.Tables[0], "", tokenrange.Murmur3); err == nil {
		t.Error("the context has ended")
	}
}

// TestOwnershipOfSystemTables makes the files of two nodes of three in Cassandra's
// storage engine. With two replicas of each range, the nodes have these ranges:
//
//	             node1   node2   node3 (no files)
//	token         -3e18    0       3e18
//	(3e18, -3e18]   x       x                 around the end of the ring
//	(-3e18, 0]              x       x
//	(0, 3e18]       x               x
//
// The first has rows of all ranges, as a node that has given some of its ranges to
// others, without nodetool cleanup. The second has none of the rows with an even id:
// in (-3e18, 0] these were deleted when the first had no part in it any more.
func TestOwnershipOfSystemTables(t *testing.T) {
	if testing.Short() {
		t.Skip("runs Cassandra's storage engine")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const now, third = 1_700_000_000, 3_000_000_000_000_000_000
	type member struct {
		host, rack, token string
		number            int
	}
	members := []member{
		{"", "r1", "-3000000000000000000", 1},
		{"", "r2", "0", 2},
		{"00000000-0000-4000-8000-000000000003", "r3", "3000000000000000000", 3},
	}
	dir := t.TempDir()
	var engines []*oracle.Oracle
	for i, version := range []string{"nb", "oa"} {
		home := filepath.Join(dir, fmt.Sprintf("node%d", i+1))
		must(os.Mkdir(home, 0o755))
		o, err := oracle.Start(t.Context(), version, home)
		must(err)
		defer o.Close()
		// An engine has given itself an id, as a server does at its first start.
		answer, err := o.Select(now, `SELECT host_id FROM system.local`)
		must(err)
		b := answer.Values[0][0]
		members[i].host = fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		engines = append(engines, o)
	}
	tokens := map[int32]int64{} // by Cassandra's own function
	for i, o := range engines {
		me := members[i]
		statements := []string{
			`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}`,
			`CREATE TABLE ks.partitions (id int PRIMARY KEY, v text) WITH ID = 5b0cc6b0-3c5a-11f0-8000-000000000001`,
			fmt.Sprintf(`INSERT INTO system.local (key, host_id, data_center, rack, tokens) VALUES ('local', %s, 'dc1', '%s', {'%s'})`, me.host, me.rack, me.token),
		}
		for _, m := range members {
			if m != me {
				statements = append(statements, fmt.Sprintf(
					`INSERT INTO system.peers_v2 (peer, peer_port, host_id, data_center, rack, tokens) VALUES ('127.0.0.%d', 7000, %s, 'dc1', '%s', {'%s'})`, m.number, m.host, m.rack, m.token))
			}
		}
		for id := range 100 {
			if i == 0 || id%2 == 1 {
				statements = append(statements, fmt.Sprintf(`INSERT INTO ks.partitions (id, v) VALUES (%d, 'of node%d') USING TIMESTAMP %d`, id, i+1, i+1))
			}
		}
		for _, s := range statements {
			must(o.Exec(now, s))
		}
		answer, err := o.Select(now, `SELECT id, token(id) FROM ks.partitions`)
		must(err)
		for _, row := range answer.Values {
			tokens[int32(binary.BigEndian.Uint32(row[0]))] = int64(binary.BigEndian.Uint64(row[1]))
		}
		for _, table := range []string{"ks.partitions", "system.local", "system.peers_v2", "system_schema.keyspaces"} {
			keyspace, name, _ := strings.Cut(table, ".")
			must(o.Flush(keyspace, name))
			_, err := o.Snapshot(keyspace, name, "daily")
			must(err)
			if keyspace != "ks" {
				_, err := o.Snapshot(keyspace, name, "another")
				must(err)
			}
		}
	}
	if len(tokens) != 100 {
		t.Fatalf("%d ids", len(tokens))
	}
	// What a read with consistency level ALL of the replicas that there are shows.
	want := map[int32]string{}
	left := 0
	for id, token := range tokens {
		value := "of node2" // written last
		if id%2 == 0 {
			value = "of node1"
		}
		switch {
		case token > -third && token <= 0:
			if id%2 == 1 {
				want[id] = "of node2"
			} else {
				left++
			}
		case token > 0 && token <= third:
			want[id] = "of node1"
		default:
			want[id] = value
		}
	}
	if left < 5 {
		t.Fatalf("%d stale rows", left)
	}

	for _, c := range []struct {
		name  string
		tag   string
		nodes []string
		own   bool
		want  func(id int32) string
	}{
		{"owned", "daily", []string{"node1", "node2"}, true, func(id int32) string { return want[id] }},
		// Of the system's tables there are more, and the one of the table's counts.
		{"owned, the table's only snapshot", "", []string{"node1", "node2"}, true, func(id int32) string { return want[id] }},
		{"all", "daily", []string{"node1", "node2"}, false, func(id int32) string {
			if id%2 == 0 {
				return "of node1"
			}
			return "of node2"
		}},
		// Of (-3e18, 0] there is no replica then, and what there is is read.
		{"one node alone", "daily", []string{"node1"}, true, func(int32) string { return "of node1" }},
	} {
		var trees []Tree
		for _, n := range c.nodes {
			tree, err := Local(filepath.Join(dir, n, "data"))
			must(err)
			trees = append(trees, tree)
		}
		catalog, err := Find(t.Context(), trees, Options{Tag: c.tag})
		must(err)
		found, err := catalog.Table(t.Context(), "ks", "partitions")
		must(err)
		table, err := catalog.Open(t.Context(), found, OpenOptions{})
		must(err)
		defer table.Close()
		if c.own {
			owned, err := catalog.Ownership(t.Context(), found, "", table.Partitioner())
			must(err)
			if whole := owned.Restrict(table); whole > 0 || len(owned.Nodes) != len(c.nodes) || len(owned.Unknown) > 0 {
				t.Errorf("%s: %d read whole, %+v", c.name, whole, owned)
			}
			if alone := len(c.nodes) == 1; alone == owned.Unreplicated.IsEmpty() || alone != slices.ContainsFunc(owned.Reasons(), func(r string) bool { return strings.Contains(r, "no replica") }) {
				t.Errorf("%s: not replicated %v, %q", c.name, owned.Unreplicated, owned.Reasons())
			}
		}
		got := idsAndValues(t, table.Table)
		for id := range tokens {
			if got[id] != c.want(id) {
				t.Errorf("%s: id %d with token %d is %q, want %q", c.name, id, tokens[id], got[id], c.want(id))
			}
		}
	}
}

// TestForeignSSTable has an SSTable of another node among a node's: it is read whole.
func TestForeignSSTable(t *testing.T) {
	fsys, _ := snapshotOf(t, "oa/partitions")
	catalog, err := Find(t.Context(), []Tree{FromFS("/backup", fsys)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := catalog.Open(t.Context(), catalog.Tables[0], OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	host := table.Readers()[0].Stats().Host
	if host == "" {
		t.Fatal("the fixture does not say who wrote it")
	}
	none := tokenrange.IntervalSet{}
	owned := Ownership{
		Nodes: map[string]tokenrange.IntervalSet{"/backup/n1": none, "/backup/n2": none},
		hosts: map[string]string{"/backup/n1": host, "/backup/n2": id1},
	}
	if whole := owned.Restrict(table); whole != 2 {
		t.Errorf("%d SSTables are read whole, of nodes %q", whole, table.Nodes)
	}
	if n := rows(t, table.Table); n != rowsOfBoth {
		t.Errorf("%d rows", n)
	}
}

// idsAndValues reads a table of id and v.
func idsAndValues(t *testing.T, table *sstable.Table) map[int32]string {
	t.Helper()
	got := map[int32]string{}
	q := sstable.Query{Columns: []string{"id", "v"}, Now: 1_700_000_100}
	_, err := table.Scan(t.Context(), q, sstable.Options{}, func(rec arrow.Record) error {
		ids, values := rec.Column(0).(*array.Int32), rec.Column(1).(*array.String)
		for i := range int(rec.NumRows()) {
			got[ids.Value(i)] = values.Value(i)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
