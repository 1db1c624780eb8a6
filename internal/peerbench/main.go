// Command peerbench measures the binary beside the tools that one would use in
// its place, on the same data in the same run: Spark with its Cassandra connector
// and DSBulk, which read from a node, and CQLite, which reads SSTables.
//
// Cassandra's own writer makes SSTables of image_metadata and tag_image_index,
// once, which a node imports. Then all do the same jobs in turn, each a process
// of its own. What each has written is read by DuckDB: who gives another answer
// than the others is not measured but wrong.
//
// Node and tools share the machine, so the ratios within a run count, and not the
// seconds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

type options struct {
	binary, dir     string
	rows, indexRows int
	runs            int
	only            string
	dsbulk          bool
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/manifest", "the manifest binary to measure")
	flag.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "manifest-peerbench"), "folder of the SSTables, which are made there if need be, and of the results")
	flag.IntVar(&o.rows, "rows", 3_000_000, "rows of image_metadata")
	flag.IntVar(&o.indexRows, "index-rows", 6_000_000, "rows of tag_image_index")
	flag.IntVar(&o.runs, "runs", 3, "runs of each; medians are printed")
	flag.StringVar(&o.only, "only", "", "jobs to do, separated by commas: manifest, table, sizes (default: all)")
	flag.BoolVar(&o.dsbulk, "dsbulk", true, "measure DSBulk too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "peerbench:", err)
		os.Exit(1)
	}
}

// warmUps are the runs of our own binary that come first, for the node's sake: nodes of clusters have been up for weeks, and what a virtual
// machine does for the first time it does slowly.
const warmUps = 4

func measure(ctx context.Context, o options) (err error) {
	if o.runs < 1 {
		return errors.New("-runs is at least 1")
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	tools, err := bringTools(ctx, o.dir)
	if err != nil {
		return err
	}
	data, err := writeSSTables(ctx, o)
	if err != nil {
		return err
	}
	cluster, err := serve(ctx, data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()

	jobs, err := chosen(jobsOf(o, tools, data, cluster.Hosts()[0], cluster.Port()), o.only)
	if err != nil {
		return err
	}
	for run := -warmUps; run < o.runs; run++ { // those below 0 do not count
		for j := range jobs {
			for s := range jobs[j].subjects {
				subject := &jobs[j].subjects[s]
				if run < 0 && subject.tool != ours {
					continue
				}
				done, err := runOnce(ctx, *subject, tools, o.dir, run >= 0)
				if err != nil {
					return fmt.Errorf("%s of %s: %w", jobs[j].name, subject.tool, err)
				}
				fmt.Fprintf(os.Stderr, "run %d, %s, %s, %s: %.2f s, %.2f CPU s\n", run+1, jobs[j].name, subject.tool, subject.reads,
					done.cost.Wall.Seconds(), done.cost.CPU.Seconds())
				if run >= 0 {
					subject.runs = append(subject.runs, done)
				}
			}
		}
	}
	fmt.Printf("%d rows of %s, %d of %s, medians of %d runs\n\n", o.rows, metadata, o.indexRows, index, o.runs)
	fmt.Print(report(jobs))
	return wrong(jobs)
}

// chosen are the jobs that -only names.
func chosen(jobs []job, only string) ([]job, error) {
	if only == "" {
		return jobs, nil
	}
	var out []job
	for name := range strings.SplitSeq(only, ",") {
		found := false
		for _, j := range jobs {
			if j.name == name {
				out, found = append(out, j), true
			}
		}
		if !found {
			return nil, fmt.Errorf("-only %s: no such job", name)
		}
	}
	return out, nil
}
