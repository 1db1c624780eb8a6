package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"manifest/export"
	"manifest/tokenrange"
)

// writeMedusa writes backups of two nodes as Medusa lays them out, and returns the
// root of the storage. The first node has tokens up to 0 and both SSTables of a
// fixture, the second has the others and the first SSTable alone.
func writeMedusa(t *testing.T) string {
	t.Helper()
	data := writeSnapshot(t, "oa/partitions")
	snapshot := filepath.Dir(find(t, data, "schema.cql")[0])
	table := filepath.Base(filepath.Dir(filepath.Dir(snapshot)))
	schema, err := os.ReadFile(filepath.Join(snapshot, "schema.cql"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	write := func(b []byte, path ...string) {
		t.Helper()
		file := filepath.Join(root, filepath.Join(path...))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for node, prefix := range map[string]string{"node1": "oa-", "node2": "oa-1-"} {
		type object struct {
			Path string `json:"path"`
			Size int    `json:"size"`
		}
		var objects []object
		for _, file := range find(t, snapshot, "") {
			b, err := os.ReadFile(file)
			if err == nil && strings.HasPrefix(filepath.Base(file), prefix) {
				at := filepath.Join(node, "nightly", "data", "ks", table, filepath.Base(file))
				write(b, at)
				objects = append(objects, object{at, len(b)})
			}
		}
		manifest, err := json.Marshal([]any{map[string]any{"keyspace": "ks", "columnfamily": table, "objects": objects}})
		if err != nil {
			t.Fatal(err)
		}
		write(manifest, node, "nightly", "meta", "manifest.json")
		write([]byte(`{"node1": {"tokens": [0], "is_up": true, "rack": "r1", "dc": "dc1"}, "node2": {"tokens": [9223372036854775807], "is_up": true, "rack": "r1", "dc": "dc1"}}`), node, "nightly", "meta", "tokenmap.json")
		write([]byte("CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': '1'};\n"+string(schema)), node, "nightly", "meta", "schema.cql")
	}
	// For --schema: Medusa leaves the tables' own schema.cql out of its backups.
	write(schema, "schema.cql")
	return root
}

// onTheFirst tells whether a partition is the first node's, by its token.
func onTheFirst(pk string) bool {
	n, _ := tokenrange.Murmur3.Token([]byte(pk)).Int64()
	return n <= 0
}

func TestSnapshotReplicas(t *testing.T) {
	root := writeMedusa(t)
	// What the first SSTable alone has of the second node's partitions, by the
	// statements of partitions.cql.
	var want []string
	lost := 0
	for _, line := range partitionLines() {
		var row struct {
			PK, V string
			CK    int
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		switch newer := strings.HasPrefix(row.V, "newer "); {
		case !newer || onTheFirst(row.PK):
			want = append(want, line)
		case row.PK == "long" && row.CK <= 20:
			want = append(want, fmt.Sprintf(`{"pk":"long","ck":%d,"v":"some value that fills the partition, of number %d"}`, row.CK, row.CK))
		case row.PK != "long" && row.CK <= 200:
			want = append(want, fmt.Sprintf(`{"pk":%q,"ck":%d,"v":"value %d"}`, row.PK, row.CK, row.CK))
		default:
			lost++
		}
	}
	slices.Sort(want)
	if lost == 0 {
		t.Fatal("all that is newer is the first node's")
	}
	source := []string{"--snapshot", root, "--schema", filepath.Join(root, "schema.cql"), "--table", "ks.partitions"}
	for replicas, lines := range map[string][]string{"owned": want, "all": partitionLines(), "": want} {
		out := filepath.Join(t.TempDir(), "out")
		args := slices.Concat([]string{"export", "--format", "jsonl", "--out", out, "--progress", "none", "--splits", "7"}, source)
		if replicas != "" {
			args = append(args, "--snapshot-replicas", replicas)
		}
		if r := manifest(args...); r.code != exitDone {
			t.Fatal(r)
		}
		if got := exported(t, out); !slices.Equal(got, lines) {
			t.Errorf("replicas %q: %d rows, want %d", replicas, len(got), len(lines))
		}
		b, err := os.ReadFile(filepath.Join(out, export.ManifestFile))
		if err != nil {
			t.Fatal(err)
		}
		var m export.Manifest
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		if all := replicas == "all"; (m.Source.Replicas == "all") != all || (m.Source.Replicas == "owned") == all || (len(m.Source.ReplicasWhy) > 0) != all {
			t.Errorf("replicas %q: source %+v", replicas, m.Source)
		}
	}

	r := manifest("snapshot", "ls", root, "--json")
	var listings []tableListing
	if err := json.Unmarshal([]byte(r.out), &listings); err != nil {
		t.Fatal(r, err)
	}
	if l := listings[0]; l.Replicas != "owned" || len(l.Nodes) != 2 || l.Nodes[0].Owned == nil || *l.Nodes[0].Owned != 0.5 {
		t.Errorf("%+v", l)
	}
	if r := manifest("snapshot", "ls", root); !strings.Contains(r.out, "  owned\n") || strings.Contains(r.out, "replicas:") {
		t.Error(r)
	}
	if r := manifest(append([]string{"doctor"}, source...)...); r.code != exitDone || !strings.Contains(r.out, "ok       replicas: ") {
		t.Error(r)
	}
	if r := manifest(append([]string{"plan"}, source...)...); r.code != exitDone || !strings.Contains(r.out, "each within its ranges (owned)") {
		t.Error(r)
	}
	// A run goes on with what it began with.
	out := filepath.Join(t.TempDir(), "out")
	args := slices.Concat([]string{"export", "--out", out, "--progress", "none", "--log-level", "error"}, source)
	r = manifest(append(args, "--until", "2020-01-01T00:00:00Z")...)
	stopped, ok := errors.AsType[*interruptedError](r.err)
	if !ok {
		t.Fatal(r)
	}
	args = append(args, "--resume", stopped.run)
	if r := manifest(append(args, "--snapshot-replicas", "all")...); r.code != exitUsage || !strings.Contains(r.err.Error(), "sstables") {
		t.Error(r)
	}
	if r := manifest(args...); r.code != exitDone {
		t.Error(r)
	}
}

func TestSnapshotReplicasUnknown(t *testing.T) {
	data := writeSnapshot(t, "oa/partitions")
	if r := manifest("snapshot", "ls", data); !strings.Contains(r.out, "  all\n") || !strings.Contains(r.out, "replicas: no node's place in the ring is known") {
		t.Error(r)
	}
	if r := manifest("doctor", "--snapshot", data, "--table", "ks.partitions"); r.code != exitDone || !strings.Contains(r.out, "warning  replicas: all of each node's files is read") {
		t.Error(r)
	}
	for _, args := range [][]string{{"snapshot", "ls", data}, {"plan", "--snapshot", data, "--table", "ks.partitions"}} {
		if r := manifest(append(args, "--snapshot-replicas", "one")...); r.code != exitUsage {
			t.Error(r)
		}
	}
}
