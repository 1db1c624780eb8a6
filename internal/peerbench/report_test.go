package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"manifest/internal/processcost"
)

// runsOf are outcomes of so many seconds, with half of the CPU seconds and 10 MiB.
func runsOf(answer string, job time.Duration, seconds ...float64) []outcome {
	var out []outcome
	for _, s := range seconds {
		wall := time.Duration(s * float64(time.Second))
		out = append(out, outcome{processcost.Cost{Wall: wall, CPU: wall / 2, Memory: 10 << 20}, job, answer})
	}
	return out
}

func TestReport(t *testing.T) {
	const same = "7 rows, x"
	jobs := []job{
		{name: "manifest", title: "training manifest", subjects: []subject{
			{tool: ours, reads: overCQL, runs: runsOf(same, 0, 3, 1, 2)},
			{tool: spark, reads: overCQL, runs: runsOf(same, 60*time.Second, 64, 66, 65)},
		}},
		{name: "table", title: "table", rows: 7, subjects: []subject{
			{tool: ours, reads: overCQL, runs: runsOf(same, 0, 20)},
			{tool: spark, reads: overCQL, runs: runsOf(same, 38*time.Second, 42)},
			{tool: ours, reads: fromFiles, runs: runsOf(same, 0, 4)},
			{tool: cqlite, reads: fromFiles, runs: runsOf("0 rows, y", 0, 1)},
		}},
	}
	want := "| | reads | s | CPU s | peak MiB | times as long as `manifest` over CQL | from SSTables | answer |\n" + `|---|---|---|---|---|---|---|---|
| **training manifest** | | | | | | | |
` + "| `manifest`" + ` | CQL | 2.00 | 1.00 | 10 |  |  | the same |
| Spark | CQL | 65.00 | 32.50 | 10 | 32.5 |  | the same |
| of it the job, started up | | 60.00 | | | 30.0 |  | |
| **table** | | | | | | | |
` + "| `manifest`" + ` | CQL | 20.00 | 10.00 | 10 |  | 5.0 | the same |
| Spark | CQL | 42.00 | 21.00 | 10 | 2.1 | 10.5 | the same |
| of it the job, started up | | 38.00 | | | 1.9 | 9.5 | |
` + "| `manifest`" + ` | SSTables | 4.00 | 2.00 | 10 | 0.2 |  | the same |
| CQLite | SSTables | 1.00 | 0.50 | 10 | 0.1 | 0.2 | **of 7 rows:** 0 rows, y |

training manifest: target 25 times as fast as Spark, its start-up left out: 30.0 times (32.5 times with it): met, by 20 %
table: target 2 times as fast as Spark, its start-up left out: 1.9 times (2.1 times with it): missed, by 5 %
`
	if d := cmp.Diff(want, report(jobs)); d != "" {
		t.Error(d)
	}
	if err := wrong(jobs); err == nil || !strings.Contains(err.Error(), "CQLite") || strings.Contains(err.Error(), "Spark") {
		t.Errorf("got %v, want an error about CQLite alone", err)
	}
}

func TestAWrongAnswerMeetsNoTarget(t *testing.T) {
	j := job{name: "manifest", title: "training manifest", subjects: []subject{
		{tool: ours, reads: overCQL, runs: runsOf("7 rows, x", 0, 1, 1)},
		{tool: spark, reads: overCQL, runs: append(runsOf("7 rows, x", 0, 90), runsOf("7 rows, z", 0, 90)...)},
	}}
	if got := report([]job{j}); !strings.HasSuffix(got, "90.0 times (90.0 times with it): not known, the answers differ\n") {
		t.Errorf("got %s", got)
	}
	for i := range j.subjects {
		j.subjects[i].runs = runsOf("0 rows, x", 0, 1)
	}
	if wrong([]job{j}) == nil {
		t.Error("no error though nobody has found a row")
	}
}

func TestJobTime(t *testing.T) {
	for output, want := range map[string]time.Duration{
		"warning: x\njob 12.5\n": 12500 * time.Millisecond, "job 3\njob": 3 * time.Second, "": 0, "the job 4": 0, "job 1.2.3\n": 0,
	} {
		if got := jobTime(output); got != want {
			t.Errorf("%q: %s, want %s", output, got, want)
		}
	}
}

func TestChosen(t *testing.T) {
	all := []job{{name: "a"}, {name: "b"}, {name: "c"}}
	names := func(only string) (names []string) {
		jobs, err := chosen(all, only)
		if err != nil {
			return []string{err.Error()}
		}
		for _, j := range jobs {
			names = append(names, j.name)
		}
		return names
	}
	for only, want := range map[string][]string{"": {"a", "b", "c"}, "c,a": {"c", "a"}, "a,x": {"-only x: no such job"}} {
		if d := cmp.Diff(want, names(only)); d != "" {
			t.Errorf("%q: %s", only, d)
		}
	}
}
