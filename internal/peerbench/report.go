package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"manifest/internal/processcost"
)

// target is how many times as fast as a tool we want to be at a job, over CQL, the tool's start-up left out.
type target struct {
	job, tool string
	times     float64
}

var targets = []target{{"manifest", spark, 25}, {"table", spark, 2}}

// report is a table of medians, and a line for each target.
func report(jobs []job) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| | reads | s | CPU s | peak MiB | times as long as `manifest` over CQL | from SSTables | answer |")
	fmt.Fprintln(&b, "|---|---|---|---|---|---|---|---|")
	for _, j := range jobs {
		fmt.Fprintf(&b, "| **%s** | | | | | | | |\n", j.title)
		cql, files := j.ours(overCQL), j.ours(fromFiles)
		for _, s := range j.subjects {
			wall := s.seconds()
			name := cmp.Or(map[string]string{ours: "`manifest`"}[s.tool], s.tool)
			fmt.Fprintf(&b, "| %s | %s | %.2f | %.2f | %.0f | %s | %s | %s |\n", name, s.reads, wall, s.median(processcost.CPUSeconds),
				s.median(processcost.MiB), times(wall, cql), times(wall, files), cmp.Or(j.fault(s), "the same"))
			if alone := s.jobSeconds(); alone > 0 {
				fmt.Fprintf(&b, "| of it the job, started up | | %.2f | | | %s | %s | |\n", alone, times(alone, cql), times(alone, files))
			}
		}
	}
	b.WriteString("\n")
	for _, t := range targets {
		for _, j := range jobs {
			if j.name == t.job {
				b.WriteString(t.line(j))
			}
		}
	}
	return b.String()
}

// line says whether a target was met.
func (t target) line(j job) string {
	mine := j.ours(overCQL)
	for _, s := range j.subjects {
		if s.tool != t.tool {
			continue
		}
		whole := s.seconds() / mine
		job := cmp.Or(s.jobSeconds(), s.seconds()) / mine
		verdict := fmt.Sprintf("met, by %.0f %%", 100*(job/t.times-1))
		switch {
		case j.fault(s) != "" || j.fault(j.subjects[0]) != "":
			verdict = "not known, the answers differ"
		case job < t.times:
			verdict = fmt.Sprintf("missed, by %.0f %%", 100*(1-job/t.times))
		}
		return fmt.Sprintf("%s: target %g times as fast as %s, its start-up left out: %.1f times (%.1f times with it): %s\n",
			j.title, t.times, t.tool, job, whole, verdict)
	}
	return ""
}

// wrong is the error of the answers that differ.
func wrong(jobs []job) error {
	var errs []error
	for _, j := range jobs {
		for _, s := range j.subjects {
			if fault := j.fault(s); fault != "" {
				errs = append(errs, fmt.Errorf("%s of %s, from %s: %s", j.name, s.tool, s.reads, fault))
			}
		}
	}
	return errors.Join(errs...)
}

// fault is what is wrong with the answers of a subject: in every run it is that of
// the first subject, and counts the rows that there are.
func (j job) fault(s subject) string {
	want := j.subjects[0].runs[0].answer
	for _, r := range s.runs {
		switch {
		case j.rows > 0 && !strings.HasPrefix(r.answer, fmt.Sprintf("%d rows", j.rows)):
			return fmt.Sprintf("**of %d rows:** %s", j.rows, r.answer)
		case strings.HasPrefix(r.answer, "0 rows"):
			return "**no rows**"
		case r.answer != want:
			return fmt.Sprintf("**differs:** %s, not %s", r.answer, want)
		}
	}
	return ""
}

// ours is the time of our own binary from a source; 0 if it did not do the job
// from there.
func (j job) ours(reads string) float64 {
	for _, s := range j.subjects {
		if s.tool == ours && s.reads == reads {
			return s.seconds()
		}
	}
	return 0
}

func (s subject) seconds() float64 { return s.median(processcost.Seconds) }

func (s subject) median(figure func(processcost.Cost) float64) float64 {
	var costs []processcost.Cost
	for _, r := range s.runs {
		costs = append(costs, r.cost)
	}
	return processcost.Median(costs, figure)
}

// jobSeconds is the time of the job alone; 0 if the tool does not tell it.
func (s subject) jobSeconds() float64 {
	var jobs []processcost.Cost
	for _, r := range s.runs {
		jobs = append(jobs, processcost.Cost{Wall: r.job})
	}
	return processcost.Median(jobs, processcost.Seconds)
}

// times is a ratio as text; nothing where there is nothing to compare with.
func times(wall, against float64) string {
	if against == 0 || wall == against {
		return ""
	}
	return fmt.Sprintf("%.1f", wall/against)
}
