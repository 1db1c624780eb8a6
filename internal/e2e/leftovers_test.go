package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"testing"

	"github.com/gocql/gocql"
)

// A keyspace goes from three replicas to one, without nodetool cleanup; then rows are deleted, of which only the one replica hears, and their
// tombstones go. What the other two nodes have left of these rows is in their snapshots: it does not come back, unless all is asked for.
func TestLeftoversStayAway(t *testing.T) {
	s := newEmptySite(t, sharedCluster(t), "leftovers", fmt.Sprintf(simpleReplication, 3))
	session, err := s.cluster.Session("")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	exec := func(statement string, consistency gocql.Consistency, values ...any) {
		t.Helper()
		if err := session.Query(statement, values...).Consistency(consistency).WithContext(t.Context()).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	tool := func(args ...string) {
		t.Helper()
		for node := range s.cluster.Hosts() {
			if out, err := s.cluster.NodeTool(t.Context(), node, args...); err != nil {
				t.Fatalf("nodetool %q: %v: %s", args, err, out)
			}
		}
	}
	const rows = 200
	exec("CREATE TABLE "+s.full("t")+" (id int PRIMARY KEY, v text) WITH gc_grace_seconds = 0", gocql.Quorum)
	for id := range rows {
		exec("INSERT INTO "+s.full("t")+" (id, v) VALUES (?, 'x')", gocql.All, id)
	}
	exec("ALTER KEYSPACE "+quoted(s.keyspace)+" WITH replication = "+fmt.Sprintf(simpleReplication, 1), gocql.Quorum)
	if err := session.AwaitSchemaAgreement(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id := 0; id < rows; id += 2 {
		exec("DELETE FROM "+s.full("t")+" WHERE id = ?", gocql.All, id)
	}
	// Starting nodetool takes longer than the second after which a tombstone may go.
	tool("flush", s.keyspace)
	tool("compact", s.keyspace, "t")

	live := map[int]bool{}
	iter := session.Query("SELECT id FROM " + s.full("t")).Consistency(gocql.All).WithContext(t.Context()).Iter()
	for id := 0; iter.Scan(&id); {
		live[id] = true
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	if len(live) != rows/2 {
		t.Fatalf("%d rows are left", len(live))
	}
	files := s.fromSnapshots(t)
	dir := scratch(t)
	read := func(replicas string) map[int]bool {
		t.Helper()
		out := filepath.Join(dir, replicas)
		o := files.command("export", "--table", s.flag("t"), "--format", "jsonl", "--out", out, "--snapshot-replicas", replicas).run(t)
		if o.code != exitDone {
			t.Fatalf("%s", o)
		}
		if m := readTrainingRecord(t, out); m.Source.Replicas != replicas {
			t.Errorf("what was read is %+v, want %s", m.Source, replicas)
		}
		ids := map[int]bool{}
		for _, row := range readLines(t, filepath.Join(out, "data")) {
			ids[int(row["id"].(float64))] = true
		}
		return ids
	}
	if got := read("owned"); !maps.Equal(got, live) {
		t.Errorf("of owned ranges there are %d rows, %d by SELECT", len(got), len(live))
	}
	if got := read("all"); len(got) != rows {
		t.Errorf("with what is left over there are %d rows, want %d: the test has nothing left over", len(got), rows)
	}

	var listed []struct {
		Keyspace string
		Replicas string
		Nodes    []struct{ Owned *float64 }
	}
	ls := []string{"snapshot", "ls", "--json"}
	for i := 0; i < len(files.shared); i += 2 {
		if files.shared[i] == "--snapshot" {
			ls = append(ls, files.shared[i+1]) // the flags of other commands are arguments of this
		} else {
			ls = append(ls, files.shared[i:i+2]...)
		}
	}
	o := invocation{args: ls}.run(t)
	if err := json.Unmarshal([]byte(o.stdout), &listed); err != nil || len(listed) != 1 || listed[0].Keyspace != s.keyspace {
		t.Fatalf("%v: %s", err, o)
	}
	share := 0.0
	for _, n := range listed[0].Nodes {
		if n.Owned == nil {
			t.Fatalf("%s", o)
		}
		share += *n.Owned
	}
	if listed[0].Replicas != "owned" || len(listed[0].Nodes) != 3 || math.Abs(share-1) > 1e-9 {
		t.Errorf("three nodes own each range once, not %v times: %s", share, o)
	}
}
