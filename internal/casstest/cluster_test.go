package casstest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/google/go-cmp/cmp"

	"manifest/internal/imagegen"
)

// TestSharedCluster loads a set into the cluster that the package shares and reads it back with plain queries.
func TestSharedCluster(t *testing.T) {
	c := Shared(t, Options{})
	session, keyspace := Keyspace(t, c, 1)
	if again := Shared(t, Options{Nodes: 1}); again != c {
		t.Error("a second call gives another cluster")
	}
	set, err := imagegen.New(imagegen.Options{Images: 3000, Days: 5, Devices: 12})
	if err != nil {
		t.Fatal(err)
	}
	if err := CreateImageTables(t.Context(), session, keyspace, 1); err != nil {
		t.Fatal(err)
	}
	stats, err := Load(t.Context(), session, set, LoadOptions{Keyspace: keyspace})
	if err != nil {
		t.Fatal(err)
	}
	want := set.Counts()
	counts := map[string]int64{imagegen.MetadataTable: int64(want.Metadata), imagegen.DeviceTable: int64(want.DeviceImages),
		imagegen.TagTable: int64(want.TagImages), imagegen.ReviewTable: int64(want.Reviews)}
	if d := cmp.Diff(counts, stats.Rows); d != "" {
		t.Errorf("rows that Load reports: %s", d)
	}
	metadata := map[imagegen.ID]imagegen.Metadata{}
	for row := range set.Metadata() {
		metadata[row.ImageID] = row
	}
	iter := session.Query("SELECT image_id, object_store, object_key, content_hash, width, height, capture_time, upload_time, attributes FROM image_metadata").Iter()
	read := 0
	for {
		var got imagegen.Metadata
		var id gocql.UUID
		if !iter.Scan(&id, &got.ObjectStore, &got.ObjectKey, &got.ContentHash, &got.Width, &got.Height, &got.CaptureTime, &got.UploadTime, &got.Attributes) {
			break
		}
		read++
		got.ImageID = imagegen.ID(id)
		if d := cmp.Diff(metadata[got.ImageID], got); d != "" {
			t.Fatalf("%s: %s", got.ImageID, d)
		}
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	if read != want.Metadata {
		t.Errorf("%d rows of metadata, want %d", read, want.Metadata)
	}
	byTag := map[imagegen.TagDay]int{}
	tagRows := session.Query("SELECT tag, day_bucket FROM tag_image_index").Iter()
	for tag, day := "", ""; tagRows.Scan(&tag, &day); {
		byTag[imagegen.TagDay{Tag: tag, Day: parseDay(t, day)}]++
	}
	if err := tagRows.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.ByTag, byTag); d != "" {
		t.Errorf("rows by tag and day: %s", d)
	}
	if _, err := Load(t.Context(), session, set, LoadOptions{Keyspace: keyspace, Tables: []string{"nowhere"}}); err == nil {
		t.Error("loading a table that is not in the set: no error")
	}
}

func parseDay(t *testing.T, text string) imagegen.Day {
	t.Helper()
	var y, m, d int
	if _, err := fmt.Sscanf(text, "%d-%d-%d", &y, &m, &d); err != nil {
		t.Fatal(err)
	}
	return imagegen.DayOf(dateUTC(y, m, d))
}

// TestLoginAndFormat covers what one node with other options shows: login, the bti format, the offline tools, a folder that stays.
func TestLoginAndFormat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	opts := Options{Auth: true, SSTableFormat: "bti", Dir: dir}
	if strings.HasPrefix(os.Getenv(VersionVariable), "4.") {
		opts.SSTableFormat = "big"
	}
	c := Own(t, opts)
	session, err := c.Session("")
	if err != nil {
		t.Fatal(err)
	}
	var release string
	if err := session.Query("SELECT release_version FROM system.local").Scan(&release); err != nil || release != c.Options().Version {
		t.Errorf("release_version %q, %v; want %q", release, err, c.Options().Version)
	}
	for _, statement := range []string{
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.t (a int PRIMARY KEY, b text)",
		"INSERT INTO k.t (a, b) VALUES (1, 'x')",
	} {
		if err := session.Query(statement).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	session.Close()
	strangers := c.Config()
	strangers.Authenticator = nil
	if session, err := strangers.CreateSession(); err == nil {
		session.Close()
		t.Error("connected without a login")
	}
	if output, err := c.NodeTool(t.Context(), 0, "flush", "k"); err != nil || output != "" {
		t.Fatalf("flush: %v\n%s", err, output)
	}
	if _, err := c.NodeTool(t.Context(), 0, "flash"); err == nil || !strings.Contains(err.Error(), "flash") {
		t.Errorf("an unknown nodetool command: %v", err)
	}
	data, err := c.DataDir(0)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(data, "k", "t-*", "*-"+c.Options().SSTableFormat+"-Data.db"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("SSTables %v, %v; want one", tables, err)
	}
	dist, err := c.Distribution()
	if err != nil {
		t.Fatal(err)
	}
	dump, err := dist.Run(t.Context(), t.TempDir(), "org.apache.cassandra.tools.SSTableExport", tables[0])
	if err != nil || !strings.Contains(dump, `"key" : [ "1" ]`) {
		t.Errorf("sstabledump: %v\n%s", err, dump)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	again := Own(t, opts)
	session, err = again.Session("k")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var b string
	if err := session.Query("SELECT b FROM t WHERE a = 1").Scan(&b); err != nil || b != "x" {
		t.Errorf("after a new start: %q, %v", b, err)
	}
}

// TestThreeNodes goes through what can happen to the nodes of a cluster. Every row stays readable wherever it should be.
func TestThreeNodes(t *testing.T) {
	c := Own(t, Options{
		Nodes:     3,
		Locations: []Location{{"dc1", "r1"}, {"dc1", "r2"}, {"dc2", "r1"}},
		Settings:  map[string]string{"phi_convict_threshold": "5"}, // notices a silent node sooner
	})
	ctx := t.Context()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	status, err := c.NodeTool(ctx, 0, "status")
	must("status", err)
	for _, part := range append([]string{"Datacenter: dc1", "Datacenter: dc2"}, prefixed("UN  ", c.Hosts())...) {
		if !strings.Contains(status, part) {
			t.Errorf("nodetool status lacks %q:\n%s", part, status)
		}
	}
	session, _ := Keyspace(t, c, 1)
	must("create", session.Query("CREATE TABLE t (a int PRIMARY KEY)").Exec())
	const rows = 200
	for a := range rows {
		must("insert", session.Query("INSERT INTO t (a) VALUES (?)", a).Consistency(gocql.All).Exec())
	}
	for node := range c.Hosts() { // a crash takes what the commit log has not synced, which it does every ten seconds
		_, err := c.NodeTool(ctx, node, "flush")
		must("flush", err)
	}
	check := func(what string) {
		t.Helper()
		session, err := c.Session(session.Query("").Keyspace())
		must(what, err)
		defer session.Close()
		n := 0
		iter := session.Query("SELECT a FROM t").WithContext(ctx).Consistency(gocql.One).Iter()
		for a := 0; iter.Scan(&a); {
			n++
		}
		must(what, iter.Close())
		if n != rows {
			t.Errorf("%s: %d rows, want %d", what, n, rows)
		}
	}
	check("loaded")

	must("kill", c.Kill(2))
	must("wait down", c.WaitDown(ctx, 2))
	must("restart after kill", c.Restart(ctx, 2))
	check("after a crash")

	must("suspend", c.Suspend(1))
	must("stopped", waitState(ctx, c.nodes[1].running().pid, "T"))
	must("resume", c.Resume(1))
	must("wait up", c.WaitUp(ctx, 1))
	must("restart", c.Restart(ctx, 0))
	check("after a pause and a restart")

	added, err := c.AddNode(ctx)
	must("add node", err)
	if added != 3 || len(c.Hosts()) != 4 {
		t.Errorf("added node %d, hosts %v", added, c.Hosts())
	}
	check("with a node more")
	if err := c.Kill(7); err == nil || !strings.Contains(err.Error(), "nodes 0 to 3") {
		t.Errorf("kill of a node that is not there: %v", err)
	}
}

// waitState waits until the kernel shows the process in a state; it stops the threads of a process one after another.
func waitState(ctx context.Context, pid int, want string) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return err
		}
		if _, after, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(after, want) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process is in no state %s: %w", want, ctx.Err())
		case <-ticker.C:
		}
	}
}

func prefixed(prefix string, list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = prefix + s
	}
	return out
}

// TestAttach looks at the shared cluster as another process would that is given its addresses.
func TestAttach(t *testing.T) {
	c := Shared(t, Options{})
	other, err := attach(t.Context(), strings.Join(c.Hosts(), ","))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c.Options(), other.Options(), cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Log" }, cmp.Ignore())); d != "" {
		t.Errorf("options: %s", d)
	}
	if status, err := other.NodeTool(t.Context(), 0, "status"); err != nil || !strings.Contains(status, "UN  "+c.Hosts()[0]) {
		t.Errorf("nodetool: %v\n%s", err, status)
	}
	for what, err := range map[string]error{"kill": other.Kill(0), "suspend": other.Suspend(0), "restart": other.Restart(t.Context(), 0)} {
		if !errors.Is(err, ErrNotOwned) {
			t.Errorf("%s: %v, want %v", what, err, ErrNotOwned)
		}
	}
	if err := other.Stop(); err != nil {
		t.Errorf("stop of another's cluster: %v", err)
	}
	if err := StopOther(t.Context(), "127.0.0.249"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("stop where nothing runs: %v", err)
	}
	foreign, err := attach(context.Background(), "192.0.2.1:9042") // an address of documentation: nobody is there
	if err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.DataDir(0); !errors.Is(err, ErrNotOwned) {
		t.Errorf("files of a foreign cluster: %v, want %v", err, ErrNotOwned)
	}
}
