package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Whatever happens to one node of three while a run reads at LOCAL_QUORUM, the run ends complete, with nobody's help.
func (d *disturbed) testNodes(t *testing.T) {
	c := d.cluster
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	joined := -1
	type event struct {
		name string
		// happen makes it happen; mend puts things right after the run.
		happen, mend func(t *testing.T)
		// rate is the rows per second of the run, where it has to go on for longer than 8 s.
		rate string
		// newRing: the run is paused until it has seen that the ring is another one, and has all that is left planned again.
		newRing bool
	}
	var events []event
	for node := range 3 { // also the one that the driver asks about the others
		events = append(events, event{name: fmt.Sprintf("node %d dies", node),
			happen: func(t *testing.T) { must(t, c.Kill(node)) },
			mend:   func(t *testing.T) { must(t, c.Restart(t.Context(), node)); must(t, c.WaitUp(t.Context(), node)) }})
	}
	for i, event := range append(events, []event{
		{name: "a node hangs",
			happen: func(t *testing.T) { must(t, c.Suspend(1)) },
			mend:   func(t *testing.T) { must(t, c.Resume(1)); must(t, c.WaitUp(t.Context(), 1)) }},
		{name: "a node is started again", rate: "500",
			happen: func(t *testing.T) { must(t, c.Kill(0)); must(t, c.Restart(t.Context(), 0)) },
			mend:   func(t *testing.T) { must(t, c.WaitUp(t.Context(), 0)) }},
		{name: "a node joins", newRing: true,
			happen: func(t *testing.T) {
				var err error
				joined, err = c.AddNode(t.Context())
				must(t, err)
			}},
		{name: "a node leaves", newRing: true,
			happen: func(t *testing.T) {
				_, err := c.NodeTool(t.Context(), joined, "decommission")
				must(t, err)
			}},
	}...) {
		kinds := d.kinds
		if !long() {
			kinds = kinds[i%2 : i%2+1]
		}
		for _, kind := range kinds {
			t.Run(event.name+" in mid-"+kind.name, func(t *testing.T) {
				out := filepath.Join(scratch(t), "out")
				file, address := filepath.Join(scratch(t), "m.prom"), freeAddress(t)
				began := time.Now()
				r := d.begin(t, kind, out, "--rows-per-second", cmp.Or(event.rate, "1500"), "--metrics-file", file, "--metrics-listen", address)
				if event.newRing {
					signalRun(t, r)
				}
				event.happen(t)
				select {
				case <-r.ended:
					t.Errorf("the run had ended before the event had: %s", r.outcome())
				default:
				}
				if event.newRing {
					waitFor(t, "a new plan", func() bool { return sum(scrape(t, address), "manifest_replans_total") > 0 })
					signalRun(t, r)
				}
				o := r.endWithin(t, 3*time.Minute)
				logCost(t, event.name, file, time.Since(began))
				if event.mend != nil {
					event.mend(t)
				}
				d.check(t, kind, out, o)
			})
			if event.newRing {
				break // once is all that there is
			}
		}
	}
}

// logCost says what a disturbance cost, for docs/reliability.md.
func logCost(t *testing.T, event, file string, took time.Duration) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := metrics(string(text))
	t.Logf("%s: %.1f s; %v reads of splits failed; %v of %v rows were read in vain", event, took.Seconds(),
		sum(m, "manifest_split_failures_total"), sum(m, "manifest_rows_dropped_total"), sum(m, "manifest_rows_read_total"))
}

// endWithin waits for the end of a run that has a long wait before it.
func (r *running) endWithin(t *testing.T, limit time.Duration) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	select {
	case <-r.ended:
	case <-ctx.Done():
		t.Fatalf("the run has not ended after %s: %s", limit, r.stderr.String())
	}
	return r.outcome()
}
