package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRunsAreWatchedOver(t *testing.T) {
	s, _ := newWideSite(t, "e2e_watched")

	t.Run("the window ends", func(t *testing.T) {
		parent := scratch(t)
		out := filepath.Join(parent, "out")
		args := []string{"export", "--table", s.flag("wide"), "--out", out, "--format", "csv"}
		end := time.Now().Add(5 * time.Second).UTC()
		// 100 rows a second: the table can't be read by then.
		run := s.start(t, parent, append(args, "--until", end.Format(time.RFC3339), "--rows-per-second", "100")...)
		o := run.end(t)
		if o.code != exitIncomplete || !strings.Contains(o.stderr, "--resume ") || !strings.Contains(o.stderr, "--until") {
			t.Fatalf("want exit code %d and how to go on: %s", exitIncomplete, o)
		}
		runs, err := filepath.Glob(filepath.Join(parent, ".out.run-*"))
		if err != nil || len(runs) != 1 || len(list(t, parent)) != 1 {
			t.Fatalf("want the directory of the run and nothing else: %q, %v", list(t, parent), err)
		}
		mark, err := os.ReadFile(filepath.Join(runs[0], "INCOMPLETE"))
		if err != nil {
			t.Fatal(err)
		}
		var missing struct {
			Missing []struct{ Start, End string }
		}
		if err := json.Unmarshal(mark, &missing); err != nil || len(missing.Missing) == 0 {
			t.Errorf("INCOMPLETE names no missing range: %v: %s", err, mark)
		}
		if o := (invocation{args: []string{"verify", runs[0]}}).run(t); o.code != exitIncomplete {
			t.Errorf("the run's directory verifies: %s", o)
		}
		// Other workers, page size and splits, as another night would have.
		o = s.command(append(args, "--resume", "auto", "--workers", "3", "--splits", "7", "--progress", "none")...).run(t)
		if o.code != exitDone {
			t.Fatalf("the next night does not go on: %s", o)
		}
		s.compare(t, exported{table: "wide", format: "csv", dirs: []string{out}, commands: []string{o.command}})
		if left := list(t, parent); len(left) != 1 {
			t.Errorf("beside the dataset is left: %q", left)
		}
		verify(t, out, exitDone, "whole")
	})

	t.Run("a pause", func(t *testing.T) {
		parent := scratch(t)
		out, file := filepath.Join(parent, "out"), filepath.Join(scratch(t), "manifest.prom")
		address := freeAddress(t)
		run := s.start(t, parent, "export", "--table", s.flag("wide"), "--out", out, "--format", "csv",
			"--metrics-listen", address, "--metrics-file", file, "--rows-per-second", "500")
		signalRun(t, run)
		waitFor(t, "the pause", func() bool { return scrape(t, address)["manifest_paused"] == 1 })
		before := sum(scrape(t, address), "manifest_rows_read_total")
		for range 200 { // time enough for many rows at 500 a second
			// Each of the two workers may receive what it had asked for: a page of one row.
			if now := sum(scrape(t, address), "manifest_rows_read_total"); now > before+2 {
				t.Fatalf("%v rows were read when the pause began, now %v", before, now)
			}
		}
		signalRun(t, run)
		waitFor(t, "rows after the pause", func() bool {
			m := scrape(t, address)
			return m["manifest_paused"] == 0 && sum(m, "manifest_rows_read_total") > before
		})
		if err := run.command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if o := run.end(t); o.code != exitInterrupted {
			t.Fatalf("want exit code %d: %s", exitInterrupted, o)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m := metrics(string(text)); sum(m, "manifest_run_exit_code") != exitInterrupted || sum(m, "manifest_run_success") != 0 {
			t.Errorf("the file does not say how the run ended:\n%s", text)
		}

		o := s.command("export", "--table", s.flag("wide"), "--out", out, "--format", "csv", "--resume", "auto", "--progress", "none", "--metrics-file", file).run(t)
		if o.code != exitDone {
			t.Fatalf("the run does not go on: %s", o)
		}
		if text, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		m := metrics(string(text))
		if sum(m, "manifest_run_success") != 1 || sum(m, "manifest_last_success_timestamp_seconds") < float64(time.Now().Add(-patience).Unix()) {
			t.Errorf("the file does not say that the run has succeeded:\n%s", text)
		}
		if share := sum(m, "manifest_ring_share"); share < 0.999999 || share > 1.000001 {
			t.Errorf("%v of the ring is read at the end, not all", share)
		}
		s.compare(t, exported{table: "wide", format: "csv", dirs: []string{out}, commands: []string{o.command}})
	})

	t.Run("verification finds what is done to statistics", func(t *testing.T) {
		out := filepath.Join(scratch(t), "out")
		o := s.command("stats", "--table", s.flag("wide"), "--by", "n", "--agg", "count", "--out", out, "--progress", "none").run(t)
		if o.code != exitDone {
			t.Fatal(o)
		}
		verify(t, out, exitDone, "whole")
		ledger := filepath.Join(out, "ledger-1.jsonl")
		content, err := os.ReadFile(ledger)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(content), "\n")
		// Without one receipt, and with all checksums of files made anew, the
		// numbers of its lines still tell.
		damaged := strings.Join(append(append([]string{}, lines[:1]...), lines[2:]...), "")
		if err := os.WriteFile(ledger, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		verify(t, out, exitDifferences, "ledger-1.jsonl")
		if err := os.Remove(ledger); err != nil {
			t.Fatal(err)
		}
		verify(t, out, exitDifferences, "ledger-1.jsonl is missing")
	})

	t.Run("words that are no time", func(t *testing.T) {
		o := s.command("export", "--table", s.flag("wide"), "--out", filepath.Join(scratch(t), "out"), "--until", "dawn").run(t)
		if o.code != exitUsage || !strings.Contains(o.stderr, "dawn") {
			t.Errorf("want exit code %d: %s", exitUsage, o)
		}
	})
}

func signalRun(t *testing.T, r *running) {
	t.Helper()
	if err := r.command.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
}

// verify runs the command on a directory.
func verify(t *testing.T, dir string, code int, says string) {
	t.Helper()
	o := invocation{args: []string{"verify", dir}}.run(t)
	if o.code != code || !strings.Contains(o.stdout, says) {
		t.Errorf("want exit code %d and %q: %s", code, says, o)
	}
}

// freeAddress is one that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// scrape asks a run for its metrics.
func scrape(t *testing.T, address string) map[string]float64 {
	t.Helper()
	response, err := http.Get(fmt.Sprintf("http://%s/metrics", address))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return metrics(string(text))
}

var metricLine = regexp.MustCompile(`(?m)^(manifest_[^ ]+) ([0-9.e+-]+)$`)

// metrics reads the text format.
func metrics(text string) map[string]float64 {
	all := map[string]float64{}
	for _, line := range metricLine.FindAllStringSubmatch(text, -1) {
		if v, err := strconv.ParseFloat(line[2], 64); err == nil {
			all[line[1]] = v
		}
	}
	return all
}

// sum adds up a metric over its labels.
func sum(all map[string]float64, name string) (total float64) {
	for key, v := range all {
		if key == name || strings.HasPrefix(key, name+"{") {
			total += v
		}
	}
	return total
}
