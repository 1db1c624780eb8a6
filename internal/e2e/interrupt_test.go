package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// patience bounds the wait for an event in a process. Nothing is known by its end but that the event does not come.
const patience = time.Minute

// running is a run of the binary that has committed some splits and has a long one, page by page, before it.
type running struct {
	command *exec.Cmd
	stdout  bytes.Buffer
	stderr  bytes.Buffer
	ended   chan struct{}
}

// start starts a run on the wide table and returns when it is in the middle of it.
func (s *site) start(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	r := s.launch(t, append(args, "--splits", "20", "--workers", "2", "--page-size", "1", "--progress", "none")...)
	waitFor(t, "a commit in the ledger", func() bool {
		select {
		case <-r.ended:
			t.Fatalf("ended too early: %s", r.outcome())
		default:
		}
		return ledgerLines(t, dir) > 10
	})
	return r
}

// launch starts a run.
func (s *site) launch(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{command: s.command(args...).command(t.Context(), t), ended: make(chan struct{})}
	r.command.Stdout, r.command.Stderr = &r.stdout, &r.stderr
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		r.command.Wait() // the exit code is in ProcessState
	}()
	t.Cleanup(func() {
		r.command.Process.Kill()
		<-r.ended
	})
	return r
}

// ledgerLines counts the lines of the ledger somewhere below a directory.
func ledgerLines(t *testing.T, dir string) int {
	t.Helper()
	lines := 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.Name() != "ledger.jsonl" {
			return nil // things come and go while the run works
		}
		content, err := os.ReadFile(path)
		lines += bytes.Count(content, []byte("\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func waitFor(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !happened() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}

// end waits for the end of the run.
func (r *running) end(t *testing.T) outcome {
	t.Helper()
	waitFor(t, "the end of the run", func() bool {
		select {
		case <-r.ended:
			return true
		default:
			return false
		}
	})
	return r.outcome()
}

func (r *running) outcome() outcome {
	return outcome{
		command: strings.Join(r.command.Args, " "), code: r.command.ProcessState.ExitCode(), stdout: r.stdout.String(), stderr: r.stderr.String(),
	}
}

// newWideSite has the wide table alone.
func newWideSite(t *testing.T, keyspace string) (*site, *gocql.Session) {
	t.Helper()
	c := sharedCluster(t)
	s := newEmptySite(t, c, keyspace, fmt.Sprintf(simpleReplication, 1))
	session, err := c.Session("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	if err := loadWide(t.Context(), session, s.keyspace); err != nil {
		t.Fatal(err)
	}
	s.worker = startWorker(t)
	s.worker.connect(t, c)
	s.read(t, "wide")
	return s, session
}

var resumable = regexp.MustCompile(`--resume ([0-9A-Za-z-]+)`)

func TestRunsThatEndEarly(t *testing.T) {
	s, session := newWideSite(t, "e2e_early")

	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(fmt.Sprintf("export ended by %s", signal), func(t *testing.T) {
			parent := scratch(t)
			out := filepath.Join(parent, "out")
			run := s.start(t, parent, "export", "--table", s.flag("wide"), "--out", out, "--format", "jsonl")
			s.checkInterrupted(t, run, signal, out)
			kept := resumable.FindStringSubmatch(run.stderr.String())
			if kept == nil {
				t.Fatalf("the message does not say how to go on: %s", run.outcome())
			}
			o := s.command("export", "--table", s.flag("wide"), "--out", out, "--format", "jsonl", "--progress", "none", "--resume", kept[1]).run(t)
			if o.code != exitDone {
				t.Fatalf("the run does not go on: %s", o)
			}
			checkDataset(t, out, "jsonl")
			s.compare(t, exported{table: "wide", format: "jsonl", dirs: []string{out}, commands: []string{o.command}})
			if left := list(t, parent); len(left) != 1 {
				t.Errorf("beside the dataset is left: %q", left)
			}
		})
	}
	t.Run("statistics ended by interrupt", func(t *testing.T) {
		out := filepath.Join(scratch(t), "out")
		grouping := []string{"stats", "--table", s.flag("wide"), "--by", "n", "--agg", "count, sum(c)", "--out", out}
		run := s.start(t, filepath.Dir(out), grouping...)
		s.checkInterrupted(t, run, os.Interrupt, out)
		kept := resumable.FindStringSubmatch(run.stderr.String())
		if kept == nil {
			t.Fatalf("the message does not say how to go on: %s", run.outcome())
		}
		if o := s.command(append(grouping, "--progress", "none", "--resume", kept[1])...).run(t); o.code != exitDone {
			t.Fatalf("the run does not go on: %s", o)
		}
		s.reportProblems(t, "compare_grouping", map[string]any{"dir": out, "name": "groups", "table": s.full("wide"), "by": [][]string{key("n")},
			"aggregates": []any{call("count"), call("sum", key("c"))}, "ordered": true})
	})
	t.Run("table dropped", func(t *testing.T) {
		parent := scratch(t)
		out := filepath.Join(parent, "out")
		run := s.start(t, parent, "export", "--table", s.flag("wide"), "--out", out)
		if err := session.Query(`DROP TABLE e2e_early.wide`).WithContext(t.Context()).Exec(); err != nil {
			t.Fatal(err)
		}
		o := run.end(t)
		// The server says the one, and the look at the schema that follows the other.
		named := strings.Contains(o.stderr, "table wide does not exist") || strings.Contains(o.stderr, "table e2e_early.wide was dropped")
		if o.code != exitFault || !named {
			t.Errorf("want exit code %d and the table's name: %s", exitFault, o)
		}
		if left := list(t, parent); len(left) != 0 {
			t.Errorf("of a run that cannot go on is left: %q", left)
		}
	})
}

// checkInterrupted ends a run with a signal and checks that nothing is published.
func (s *site) checkInterrupted(t *testing.T, run *running, signal os.Signal, out string) {
	t.Helper()
	if err := run.command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	o := run.end(t)
	if o.code != exitInterrupted || o.stdout != "" {
		t.Errorf("want exit code %d and nothing on standard output: %s", exitInterrupted, o)
	}
	for _, published := range []string{"_SUCCESS", "manifest.json", "data", "run.json", "groups"} {
		if _, err := os.Stat(filepath.Join(out, published)); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", published, err)
		}
	}
}
