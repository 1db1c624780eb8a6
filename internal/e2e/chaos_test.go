package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
)

// chaosOctet is the address of the first of three nodes that are killed, stopped, joined and left.
const chaosOctet = 80

// chaosImages is the number of images, most of which have a row, that are read while things go wrong.
const chaosImages = 12_000

// disturbed is a table of three replicas, and what comes out of it when nothing disturbs a run.
type disturbed struct {
	*site
	kinds []chaosKind
}

// chaosKind is a command whose result does not depend on splits, so that it has to be the same byte for byte however it came about.
type chaosKind struct {
	name string
	args []string
	want string // digest of the result
}

func newDisturbed(t *testing.T) *disturbed {
	t.Helper()
	// Servers that are killed have to know their tables when they come back.
	t.Setenv("JDK_JAVA_OPTIONS", strings.ReplaceAll(os.Getenv("JDK_JAVA_OPTIONS"), quickSchema, ""))
	c := casstest.Own(t, casstest.Options{Nodes: 3, BaseOctet: chaosOctet, Settings: map[string]string{
		// A node that does not answer is to be noticed soon.
		"read_request_timeout": "2s", "range_request_timeout": "3s",
	}})
	session, err := c.Session("")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	set, err := imagegen.New(imagegen.Options{Images: chaosImages})
	if err != nil {
		t.Fatal(err)
	}
	if err := casstest.CreateImageTables(t.Context(), session, imagegen.DefaultKeyspace, 3); err != nil {
		t.Fatal(err)
	}
	written, err := casstest.Load(t.Context(), session, set, casstest.LoadOptions{Tables: []string{imagegen.MetadataTable}})
	if err != nil {
		t.Fatal(err)
	}
	table := imagegen.DefaultKeyspace + "." + imagegen.MetadataTable
	d := &disturbed{
		site: &site{cluster: c, keyspace: imagegen.DefaultKeyspace, shared: []string{"--hosts", strings.Join(c.Hosts(), ","), "--request-timeout", "5s"}},
		kinds: []chaosKind{
			{name: "export", args: []string{"export", "--table", table, "--format", "csv"}},
			{name: "stats", args: []string{"stats", "--table", table, "--by", "day(capture_time), width", "--agg", "count, sum(height), distinct(content_hash)"}},
		},
	}
	for i := range d.kinds {
		out := filepath.Join(scratch(t), "out")
		o := d.command(append(d.kinds[i].args, "--out", out, "--progress", "none")...).run(t)
		if o.code != exitDone {
			t.Fatal(o)
		}
		if d.kinds[i].want = resultDigest(t, out); d.kinds[i].name == "export" {
			if rows := countLines(t, filepath.Join(out, "data")) - 1; int64(rows) != written.Total() {
				t.Fatalf("%d rows are exported, and %d were written", rows, written.Total())
			}
		}
	}
	return d
}

func countLines(t *testing.T, dir string) (lines int) {
	t.Helper()
	for _, name := range list(t, dir) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(content, []byte("\n"))
	}
	return lines
}

// resultDigest is one of the names and bytes of all files of rows, in the order of their names. Names of statistics carry the run, which
// is left out.
func resultDigest(t *testing.T, dir string) string {
	t.Helper()
	hash := sha256.New()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".csv", ".parquet":
			content, err := os.ReadFile(path)
			fmt.Fprintf(hash, "%s %d\n", filepath.Base(filepath.Dir(path)), len(content))
			hash.Write(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// slowly are flags under which reading takes some seconds, so that something can happen meanwhile.
var slowly = []string{"--rows-per-second", "3000", "--splits", "60", "--workers", "4", "--page-size", "100", "--progress", "none"}

// begin starts a run and returns when some splits are committed.
func (d *disturbed) begin(t *testing.T, kind chaosKind, out string, flags ...string) *running {
	t.Helper()
	r := d.launch(t, slices.Concat(kind.args, []string{"--out", out}, slowly, flags)...)
	waitFor(t, "commits in the ledger", func() bool {
		select {
		case <-r.ended:
			t.Fatalf("ended too early: %s", r.outcome())
		default:
		}
		return ledgerLines(t, filepath.Dir(out)) > 8
	})
	return r
}

// check checks the result of a run that has ended.
func (d *disturbed) check(t *testing.T, kind chaosKind, out string, o outcome) {
	t.Helper()
	if o.code != exitDone {
		t.Fatalf("the run did not survive: %s", o)
	}
	if got := resultDigest(t, out); got != kind.want {
		t.Errorf("the result differs from that of an undisturbed run: %s", o)
	}
	verify(t, out, exitDone, "whole")
}

func TestChaos(t *testing.T) {
	d := newDisturbed(t)
	t.Run("killed", d.testKill)
	t.Run("disk full", d.testDiskFull)
	t.Run("nodes", d.testNodes)
	t.Run("schema", d.testSchema) // last: the table is another one afterwards
}

// However often a run is killed, and whenever, going on with it gives the same bytes as if it had not been, and nothing is ever to be seen
// under the name of the result but the whole result.
func (d *disturbed) testKill(t *testing.T) {
	kills := 12
	if long() {
		kills = 100
	}
	random := newDraws(t)
	killed, results := 0, 0
	for ; killed < kills; results++ {
		kind := d.kinds[random.IntN(len(d.kinds))]
		out := filepath.Join(scratch(t), "out")
		for done := false; !done; {
			// Other splits and workers each time, as somebody would who tries what helps.
			r := d.launch(t, slices.Concat(kind.args, []string{"--out", out, "--resume", "auto", "--progress", "none", "--rows-per-second", "8000",
				"--splits", fmt.Sprint(20 + random.IntN(60)), "--workers", fmt.Sprint(1 + random.IntN(6)), "--page-size", fmt.Sprint(50 + random.IntN(300))})...)
			timer := time.NewTimer(time.Duration(random.Int64N(int64(1500 * time.Millisecond))))
			select {
			case <-r.ended:
				timer.Stop()
				d.check(t, kind, out, r.outcome())
				done = true
			case <-timer.C:
				if err := r.command.Process.Kill(); err != nil && !strings.Contains(err.Error(), "finished") {
					t.Fatal(err)
				}
				<-r.ended
				killed++
				checkNothingHalf(t, out)
				if done = ended(t, out); done { // killed behind its last work, before it could say so
					d.check(t, kind, out, outcome{code: exitDone, command: strings.Join(r.command.Args, " ")})
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("killed %d times; %d results, each the same byte for byte as without", killed, results)
}

// ended tells whether an export is published and nothing of its run is left to go on with.
func ended(t *testing.T, out string) bool {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(filepath.Dir(out), ".out.run-*"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(out, "_SUCCESS"))
	return err == nil && len(runs) == 0
}

// checkNothingHalf checks that what a reader sees of a result is nothing, or all of it.
func checkNothingHalf(t *testing.T, out string) {
	t.Helper()
	for _, mark := range []string{"_SUCCESS", "run.json"} {
		if _, err := os.Stat(filepath.Join(out, mark)); err == nil {
			verify(t, out, exitDone, "whole")
			return
		}
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return // nothing is there
	}
	for _, e := range entries {
		// Statistics work in a hidden directory, and in hidden files beside the places of the results; an export beside its own.
		if !strings.HasPrefix(e.Name(), ".") && len(visibleFiles(t, filepath.Join(out, e.Name()))) > 0 {
			t.Errorf("a killed run has left %s in %s", e.Name(), out)
		}
	}
}

// visibleFiles lists the files below a path that have no hidden name.
func visibleFiles(t *testing.T, path string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(path, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A full disk ends a run; what was committed is still there when there is room again.
func (d *disturbed) testDiskFull(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("left out: only root can mount the small disk that is to be filled")
	}
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("left out: the small disk that is to be filled can't be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	kind := d.kinds[0] // 12,000 rows are 3 MB
	out := filepath.Join(disk, "out")
	args := slices.Concat(kind.args, []string{"--out", out, "--splits", "60", "--workers", "2", "--progress", "none"})
	o := d.command(args...).run(t)
	if o.code != exitFault || !strings.Contains(o.stderr, "no space left") || !strings.Contains(o.stderr, "--resume") {
		t.Fatalf("want exit code %d, the reason and how to go on: %s", exitFault, o)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("something is published: %v", err)
	}
	committed := ledgerLines(t, disk)
	if committed < 5 {
		t.Fatalf("the ledger has %d lines only: the disk was full too early to tell", committed)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(scratch(t), "m.prom")
	o = d.command(append(args, "--resume", "auto", "--metrics-file", file)...).run(t)
	d.check(t, kind, out, o)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if again := sum(metrics(string(text)), "manifest_rows_committed_total"); again == 0 || again > 0.9*chaosImages {
		t.Errorf("of about %d rows %v were read again", chaosImages, again)
	}
}

// What is read changes its meaning when a column is dropped in the middle of it: the run stops and says so, and the result of two meanings
// is never published.
func (d *disturbed) testSchema(t *testing.T) {
	session, err := d.cluster.Session(d.keyspace)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	alter := func(t *testing.T, statement string) {
		t.Helper()
		if err := session.Query(statement).WithContext(t.Context()).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("a column that is not read is added", func(t *testing.T) {
		kind := d.kinds[1]
		out := filepath.Join(scratch(t), "out")
		r := d.begin(t, kind, out)
		alter(t, "ALTER TABLE image_metadata ADD unread int")
		d.check(t, kind, out, r.end(t))
		alter(t, "ALTER TABLE image_metadata DROP unread")
	})
	t.Run("a column that is read is dropped and added again", func(t *testing.T) {
		kind := d.kinds[1]
		parent := scratch(t)
		out := filepath.Join(parent, "out")
		r := d.begin(t, kind, out, "--rows-per-second", "1000")
		alter(t, "ALTER TABLE image_metadata DROP height")
		alter(t, "ALTER TABLE image_metadata ADD height int")
		o := r.end(t)
		if o.code != exitFault || !strings.Contains(o.stderr, `column "height" was dropped`) {
			t.Errorf("want exit code %d and what happened to the column: %s", exitFault, o)
		}
		if left := visibleFiles(t, parent); len(left) != 0 {
			t.Errorf("of a run that cannot go on is left: %q", left)
		}
	})
}
