package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fault is a command that must fail in a stated way.
type fault struct {
	name string
	// args are those of the command; OUT stands for the output directory, FILE for the path of file.
	args []string
	// file is the content of a file that the command is given.
	file string
	env  []string
	code int
	// says are parts that the message must have: the thing at fault, by name.
	says []string
}

// check runs the command and checks the exit code, the message, and that nothing is left.
func (f fault) check(t *testing.T, shared ...string) {
	t.Helper()
	parent := scratch(t)
	out := filepath.Join(parent, "out")
	file := filepath.Join(scratch(t), "settings.yaml")
	if err := os.WriteFile(file, []byte(f.file), 0o600); err != nil {
		t.Fatal(err)
	}
	args := slices.Concat(f.args[:1], shared, f.args[1:])
	for i, arg := range args {
		args[i] = strings.NewReplacer("OUT", out, "FILE", file).Replace(arg)
	}
	o := invocation{args: args, env: f.env}.run(t)
	if o.code != f.code {
		t.Errorf("exit code %d, want %d: %s", o.code, f.code, o)
	}
	for _, part := range f.says {
		if part = strings.NewReplacer("OUT", out, "FILE", file).Replace(part); !strings.Contains(o.stderr, part) {
			t.Errorf("the message does not say %q: %s", part, o)
		}
	}
	for _, noise := range []string{"panic", "goroutine ", "Usage:", "runtime error"} {
		if strings.Contains(o.stderr, noise) {
			t.Errorf("the message has %q: %s", noise, o)
		}
	}
	for _, setting := range f.env {
		if secret, ok := strings.CutPrefix(setting, "MANIFEST_PASSWORD="); ok && strings.Contains(o.stderr+o.stdout, secret) {
			t.Errorf("the password is shown: %s", o)
		}
	}
	if o.stdout != "" {
		t.Errorf("standard output of a failure: %s", o)
	}
	for _, left := range list(t, parent) {
		t.Errorf("%s is left: %s", left, o)
	}
}

// list returns the names of all that is in a directory.
func list(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// TestFaultsWithoutServer needs no server: the binary finds these faults, or the lack of a server, by itself.
func TestFaultsWithoutServer(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the binary, left out by -short")
	}
	for _, f := range []fault{
		{name: "no host answers", args: []string{"export", "--hosts", "127.0.0.254", "--port", "1", "--table", "k.t", "--out", "OUT"},
			code: exitNoAccess, says: []string{"127.0.0.254"}},
		{name: "host does not exist", args: []string{"stats", "--hosts", "no-such-host.invalid", "--out", "OUT"},
			code: exitNoAccess, says: []string{"no-such-host.invalid"}},
		{name: "plan without a host", args: []string{"plan", "--hosts", "127.0.0.254:1", "--table", "k.t"},
			code: exitNoAccess, says: []string{"127.0.0.254"}},
		{name: "unknown command", args: []string{"exprot"}, code: exitUsage, says: []string{"exprot", "export"}},
		{name: "unknown flag", args: []string{"export", "--tabel", "k.t"}, code: exitUsage, says: []string{"--tabel"}},
		{name: "flag without its value", args: []string{"export", "--table"}, code: exitUsage, says: []string{"--table"}},
		{name: "flag of another type", args: []string{"export", "--table", "k.t", "--out", "OUT", "--splits", "many"},
			code: exitUsage, says: []string{"--splits", "many"}},
		{name: "argument too many", args: []string{"export", "k.t"}, code: exitUsage, says: []string{"k.t"}},
		{name: "no output", args: []string{"export", "--table", "k.t"}, code: exitUsage, says: []string{"--out"}},
		{name: "no output of statistics", args: []string{"stats"}, code: exitUsage, says: []string{"--out"}},
		{name: "unknown statistic", args: []string{"stats", "--out", "OUT", "--query", "device-days"},
			code: exitUsage, says: []string{"device-days", "device-day"}},
		{name: "memory that is no size", args: []string{"stats", "--out", "OUT", "--memory", "much"}, code: exitUsage, says: []string{"--memory", "much"}},
		{name: "unknown consistency", args: []string{"export", "--table", "k.t", "--out", "OUT", "--consistency", "MOST"},
			code: exitUsage, says: []string{"MOST", "LOCAL_QUORUM"}},
		{name: "unknown progress", args: []string{"export", "--table", "k.t", "--out", "OUT", "--progress", "loud"}, code: exitUsage, says: []string{"loud"}},
		{name: "unknown setting in the file", args: []string{"export", "--config", "FILE", "--table", "k.t", "--out", "OUT"},
			file: "hosts: [127.0.0.1]\npage_size: 10\n", code: exitUsage, says: []string{"FILE", "page_size", "page-size"}},
		{name: "setting of another type in the file", args: []string{"export", "--config", "FILE", "--table", "k.t", "--out", "OUT"},
			file: "splits: many\n", code: exitUsage, says: []string{"FILE", "splits", "many"}},
		{name: "file that is no YAML", args: []string{"export", "--config", "FILE", "--table", "k.t", "--out", "OUT"},
			file: "splits: [1\n", code: exitUsage, says: []string{"FILE"}},
		{name: "file that does not exist", args: []string{"export", "--config", "OUT/none.yaml", "--table", "k.t", "--out", "OUT"},
			code: exitUsage, says: []string{"OUT/none.yaml"}},
		{name: "variable of another type", args: []string{"export", "--table", "k.t", "--out", "OUT"}, env: []string{"MANIFEST_SPLITS=many"},
			code: exitUsage, says: []string{"MANIFEST_SPLITS", "many"}},
		{name: "password file that does not exist", args: []string{"export", "--table", "k.t", "--out", "OUT", "--user", "u", "--password-file", "OUT/none"},
			code: exitUsage, says: []string{"OUT/none"}},
		{name: "certificate that does not exist", args: []string{"export", "--table", "k.t", "--out", "OUT", "--tls-ca", "OUT/none.pem"},
			code: exitUsage, says: []string{"OUT/none.pem"}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.check(t)
		})
	}
}

func TestFaultsOfRequests(t *testing.T) {
	c := sharedCluster(t)
	s, _ := newImageSite(t, c, "e2e_faults", 50)
	export := func(flags ...string) []string {
		return append([]string{"export", "--table", "e2e_faults.image_metadata", "--out", "OUT", "--progress", "none"}, flags...)
	}
	for _, f := range []fault{
		{name: "unknown keyspace", args: []string{"export", "--table", "e2e_fault.image_metadata", "--out", "OUT"},
			code: exitUsage, says: []string{"e2e_fault", "e2e_faults"}},
		{name: "unknown table", args: []string{"export", "--table", "e2e_faults.image_metadat", "--out", "OUT"},
			code: exitUsage, says: []string{"image_metadat", "image_metadata"}},
		{name: "unknown table of a plan", args: []string{"plan", "--table", "e2e_faults.Image_Metadata"}, code: exitUsage, says: []string{"Image_Metadata", `"image_metadata"`}},
		{name: "statistics of an unknown keyspace", args: []string{"stats", "--keyspace", "e2e_fault", "--out", "OUT"},
			code: exitUsage, says: []string{"e2e_fault", "e2e_faults"}},
		{name: "unknown column", args: export("--columns", "image_id,widht"), code: exitUsage, says: []string{"widht", "width"}},
		{name: "column twice", args: export("--columns", "width,width"), code: exitUsage, says: []string{"width"}},
		{name: "write time of a key", args: export("--columns", "writetime(image_id)"), code: exitUsage, says: []string{"image_id"}},
		{name: "unknown column in a filter", args: export("--where", "widht > 1"), code: exitUsage, says: []string{"widht", "width"}},
		{name: "text for a number in a filter", args: export("--where", "width > 'wide'"), code: exitUsage, says: []string{"width", "wide"}},
		{name: "number for a text in a filter", args: export("--where", "object_store = 5"), code: exitUsage, says: []string{"object_store", "5"}},
		{name: "no time in a filter", args: export("--where", "capture_time > 'yesterday'"), code: exitUsage, says: []string{"capture_time", "yesterday"}},
		{name: "filter that breaks off", args: export("--where", "width >"), code: exitUsage, says: []string{"width >"}},
		{name: "no date", args: export("--from", "2025-13-01"), code: exitUsage, says: []string{"--from", "2025-13-01"}},
		{name: "window that ends before it begins", args: export("--from", "2025-05-03", "--to", "2025-05-01"), code: exitUsage, says: []string{"2025-05-03", "2025-05-01"}},
		{name: "no token", args: export("--token-start", "first"), code: exitUsage, says: []string{"--token-start", "first"}},
		{name: "token beyond the ring", args: export("--token-end", "9223372036854775808"), code: exitUsage, says: []string{"9223372036854775808"}},
		{name: "range behind the last token", args: export("--token-start", "9223372036854775807"), code: exitUsage, says: []string{"9223372036854775807"}},
		{name: "range that ends before it begins", args: export("--token-range", "5:-5"), code: exitUsage, says: []string{"--token-range", "5:-5"}},
		{name: "unknown format", args: export("--format", "parqet"), code: exitUsage, says: []string{"parqet", "parquet"}},
		{name: "negative number of workers", args: export("--workers", "-1"), code: exitUsage, says: []string{"workers", "-1"}},
		{name: "negative number of splits", args: export("--splits", "-1"), code: exitUsage, says: []string{"splits", "-1"}},
		{name: "negative number of files", args: export("--shards", "-1"), code: exitUsage, says: []string{"shards", "-1"}},
		{name: "page of no rows", args: export("--page-size", "-5"), code: exitUsage, says: []string{"page", "-5"}},
		{name: "range without an end", args: export("--token-range", "5"), code: exitUsage, says: []string{"--token-range", `"5"`}},
		{name: "unknown column to group by", args: []string{"stats", "--table", "e2e_faults.image_metadata", "--by", "devise", "--out", "OUT"},
			code: exitUsage, says: []string{"devise"}},
		{name: "sum of a text", args: []string{"stats", "--table", "e2e_faults.image_metadata", "--agg", "sum(object_store)", "--out", "OUT"},
			code: exitUsage, says: []string{"object_store"}},
		{name: "unknown aggregate", args: []string{"stats", "--table", "e2e_faults.image_metadata", "--agg", "median(width)", "--out", "OUT"},
			code: exitUsage, says: []string{"median"}},
		{name: "grouping that breaks off", args: []string{"stats", "--table", "e2e_faults.image_metadata", "--by", "day(capture_time", "--out", "OUT"},
			code: exitUsage, says: []string{"day(capture_time"}},
		{name: "statistic whose table lacks a column", args: []string{"stats", "--config", "FILE", "--keyspace", "e2e_faults", "--query", "region-day", "--out", "OUT"},
			file: "table-names: {image_metadata: image_review_status}\n", code: exitUsage, says: []string{"capture_time"}},
	} {
		t.Run(f.name, func(t *testing.T) { f.check(t, s.shared...) })
	}
	t.Run("more replicas than nodes", func(t *testing.T) { s.checkUnavailable(t) })
	t.Run("output that exists", func(t *testing.T) { s.checkExisting(t) })
	t.Run("output below a file", func(t *testing.T) { s.checkBelowFile(t) })
	t.Run("output in a directory of others", func(t *testing.T) { s.checkNoPermission(t) })
}

// checkUnavailable asks for an answer of more replicas than there are: the run is incomplete, and may be taken up when the nodes are back.
func (s *site) checkUnavailable(t *testing.T) {
	missing := newEmptySite(t, s.cluster, "e2e_unavailable", fmt.Sprintf(simpleReplication, len(s.cluster.Hosts())+1))
	session, err := s.cluster.Session(missing.keyspace)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := session.Query("CREATE TABLE t (id int PRIMARY KEY)").WithContext(t.Context()).Exec(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(scratch(t), "out")
	export := []string{"export", "--table", "e2e_unavailable.t", "--out", out, "--splits", "1", "--progress", "none", "--patience", "2s"}
	o := missing.command(append(export, "--consistency", "ALL")...).run(t)
	if o.code != exitIncomplete || o.stdout != "" || !strings.Contains(o.stderr, "incomplete") || !strings.Contains(o.stderr, "ALL") {
		t.Errorf("want exit code %d, and the consistency level: %s", exitIncomplete, o)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("something is published: %v", err)
	}
	if kept := resumable.FindStringSubmatch(o.stderr); kept == nil {
		t.Errorf("the message does not say how to go on: %s", o)
	}
	if o := missing.command(append(export, "--consistency", "LOCAL_ONE")...).run(t); o.code != exitDone {
		t.Errorf("with a level that the nodes can give: %s", o)
	}
}

// checkExisting exports over what is there already.
func (s *site) checkExisting(t *testing.T) {
	parent := scratch(t)
	out := filepath.Join(parent, "out")
	export := func(flags ...string) outcome {
		return s.command(append([]string{"export", "--table", s.flag("image_metadata"), "--out", out, "--progress", "none"}, flags...)...).run(t)
	}
	foreign := filepath.Join(out, "notes.txt")
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--overwrite"}} {
		// A directory that is no dataset is somebody's work: not even --overwrite takes it away.
		if o := export(flags...); o.code != exitUsage || !strings.Contains(o.stderr, out) {
			t.Errorf("over a directory that is no dataset: want exit code %d and the name: %s", exitUsage, o)
		}
		if text, err := os.ReadFile(foreign); err != nil || string(text) != "mine" {
			t.Errorf("a file that was there: %q, %v", text, err)
		}
	}
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	if o := export("--columns", "image_id"); o.code != exitDone {
		t.Fatalf("first export: %s", o)
	}
	first, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if o := export(); o.code != exitUsage || !strings.Contains(o.stderr, out) || !strings.Contains(o.stderr, "--overwrite") {
		t.Errorf("over a dataset: want exit code %d, the name and --overwrite: %s", exitUsage, o)
	}
	if now, err := os.ReadFile(filepath.Join(out, "SHA256SUMS")); err != nil || string(now) != string(first) {
		t.Errorf("the dataset that was there has changed, %v", err)
	}
	if o := export("--overwrite"); o.code != exitDone {
		t.Errorf("with --overwrite: %s", o)
	}
	checkDataset(t, out, "parquet")
	if now, err := os.ReadFile(filepath.Join(out, "SHA256SUMS")); err != nil || string(now) == string(first) {
		t.Errorf("the dataset that was there is there still, %v", err)
	}
	if left := list(t, parent); !slices.Equal(left, []string{"out"}) {
		t.Errorf("beside the dataset: %q", left)
	}
}

func (s *site) checkBelowFile(t *testing.T) {
	parent := scratch(t)
	file := filepath.Join(parent, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"export --table " + s.flag("image_metadata"), "stats --keyspace " + s.keyspace} {
		args := append(strings.Fields(command), "--out", filepath.Join(file, "out"), "--progress", "none")
		if o := s.command(args...).run(t); o.code != exitFault && o.code != exitUsage || !strings.Contains(o.stderr, file) {
			t.Errorf("want a fault that names the file: %s", o)
		}
	}
	if left := list(t, parent); !slices.Equal(left, []string{"file"}) {
		t.Errorf("beside the file: %q", left)
	}
}

// checkNoPermission runs the binary as somebody who may not write into the output's directory.
func (s *site) checkNoPermission(t *testing.T) {
	parent := scratch(t)
	if err := os.Chmod(parent, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"export --table " + s.flag("image_metadata"), "stats --keyspace " + s.keyspace} {
		args := append(strings.Fields(command), "--out", filepath.Join(parent, "out"), "--progress", "none")
		if o := s.command(args...).runAsNobody(t); o.code != exitFault && o.code != exitUsage || !strings.Contains(o.stderr, parent) {
			t.Errorf("want a fault that names the directory: %s", o)
		}
	}
}
