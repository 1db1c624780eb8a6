package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"manifest/internal/casstest"
	"manifest/internal/pyenv"
)

// medusa backs a node up into a folder.
type medusa struct{ program, config string }

func newMedusa(t *testing.T, c *casstest.Cluster, dir string) medusa {
	t.Helper()
	m := medusa{pyenv.Medusa(t), filepath.Join(dir, "medusa.ini")}
	tool := filepath.Join(dir, "nodetool")
	if err := c.NodeToolScript(0, tool); err != nil {
		t.Fatal(err)
	}
	yaml, err := c.ConfigFile(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "storage", "bucket"), 0o755); err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`[cassandra]
config_file = %s
nodetool_executable = %s
check_running = %[2]s version
resolve_ip_addresses = false
use_sudo = false
[storage]
storage_provider = local
base_path = %s
bucket_name = bucket
fqdn = %s
[monitoring]
monitoring_provider = local
[kubernetes]
enabled = 0
`, yaml, tool, filepath.Join(dir, "storage"), c.Hosts()[0])
	if err := os.WriteFile(m.config, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m medusa) backup(t *testing.T, name, mode string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), m.program, "--config-file", m.config, "backup", "--backup-name", name, "--mode", mode)
	cmd.Dir = filepath.Dir(m.config) // where it leaves its metrics
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("medusa backup: %v\n%s", err, out)
	}
}

// Three backups by Medusa itself, full and differential, with deletions and a dropped and a new column between them: each gives what the
// server showed when it was made.
func TestBackupsOfMedusa(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Medusa, left out by -short")
	}
	c := casstest.Own(t, casstest.Options{})
	s := newEmptySite(t, c, "e2e_medusa", `{'class': 'SimpleStrategy', 'replication_factor': 1}`)
	session, err := c.Session("e2e_medusa")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	execute := func(statement string, values ...any) {
		t.Helper()
		if err := session.Query(statement, values...).WithContext(t.Context()).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	flush := func() {
		t.Helper()
		if _, err := c.NodeTool(t.Context(), 0, "flush"); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	m := newMedusa(t, c, dir)
	want := map[string][]string{}

	execute(`CREATE TABLE photos (device text, n int, name text, size int, PRIMARY KEY (device, n))`)
	const rows = 600
	for n := range rows {
		execute(`INSERT INTO photos (device, n, name, size) VALUES (?, ?, ?, ?)`, fmt.Sprintf("cam-%d", n%17), n, fmt.Sprintf("bild-ä-%d", n), n)
	}
	m.backup(t, "full", "full")
	want["full"] = selected(t, session)
	m.backup(t, "first", "differential")
	want["first"] = want["full"]

	flush()
	for n := 0; n < rows; n += 3 {
		execute(`DELETE FROM photos WHERE device = ? AND n = ?`, fmt.Sprintf("cam-%d", n%17), n)
	}
	execute(`DELETE FROM photos WHERE device = 'cam-5'`)
	execute(`ALTER TABLE photos DROP size`)
	execute(`ALTER TABLE photos ADD size int`)
	execute(`INSERT INTO photos (device, n, name, size) VALUES ('cam-5', 1000, 'later', 7)`)
	flush()
	m.backup(t, "second", "differential")
	want["second"] = selected(t, session)
	if len(want["full"]) != rows || len(want["second"]) >= rows || !slices.Contains(want["second"], "cam-5,1000,later,7") {
		t.Fatalf("the server shows %d, then %d rows", len(want["full"]), len(want["second"]))
	}

	s.shared = nil
	for backup, rows := range want {
		out := filepath.Join(dir, backup)
		o := s.command("export", "--snapshot", filepath.Join(dir, "storage", "bucket"), "--snapshot-tag", backup, "--table", "e2e_medusa.photos",
			"--columns", "device,n,name,size", "--format", "csv", "--out", out, "--progress", "none").run(t)
		if o.code != exitDone {
			t.Fatalf("backup %s: %s", backup, o)
		}
		if m := readTrainingRecord(t, out); m.Source.Replicas != "owned" {
			t.Errorf("backup %s: the ring is not known: %+v", backup, m.Source)
		}
		got := strings.Split(strings.TrimSpace(readData(t, out, "csv")), "\n")
		if got[0] != "device,n,name,size" {
			t.Fatalf("backup %s: the first line is %q", backup, got[0])
		}
		if got = slices.Sorted(slices.Values(got[1:])); !slices.Equal(got, rows) {
			t.Errorf("backup %s: %d rows, the server showed %d\n%q\n%q", backup, len(got), len(rows), got, rows)
		}
	}
	if o := s.command("snapshot", "ls", filepath.Join(dir, "storage", "bucket")).run(t); o.code != exitUsage || !strings.Contains(o.stderr, "first, full, second") {
		t.Errorf("want the names of the backups: %s", o)
	}
}

// selected are the rows that the server shows, as lines of CSV without quotes, sorted.
func selected(t *testing.T, session *gocql.Session) (lines []string) {
	t.Helper()
	var device, name string
	var n int
	var size *int
	rows := session.Query(`SELECT device, n, name, size FROM photos`).WithContext(t.Context()).Iter()
	for rows.Scan(&device, &n, &name, &size) {
		line := fmt.Sprintf("%s,%d,%s,", device, n, name)
		if size != nil {
			line += fmt.Sprint(*size)
		}
		lines = append(lines, line)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}
