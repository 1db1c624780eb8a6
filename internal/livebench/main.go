// Command livebench measures the binary against a real node, beside a bare
// loop of the driver over the same columns in the same run.
//
// It starts a Cassandra, fills image_metadata, and then runs in turn, each as
// a process of its own: the bare loop, the engine without consumers, `manifest
// stats` and `manifest export`.
// Of each it prints rows/s, CPU seconds per million rows and the largest
// resident memory, and the ratio to the bare loop. The server shares the
// machine and sets the pace, so the ratios count, not the seconds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
	"manifest/internal/processcost"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case bareCommand:
			exitOn(runBare(ctx, os.Args[2:]))
			return
		case engineCommand:
			exitOn(runEngine(ctx, os.Args[2:]))
			return
		}
	}
	var o options
	flag.StringVar(&o.binary, "binary", "bin/manifest", "the manifest binary to measure")
	flag.IntVar(&o.images, "images", 1_000_000, "rows of image_metadata")
	flag.IntVar(&o.runs, "runs", 5, "runs of each; medians are printed")
	flag.StringVar(&o.only, "only", "", "measure only what has this in its name, and what it is compared with")
	flag.IntVar(&o.workers, "workers", 8, "splits read at a time, by all")
	flag.Parse()
	exitOn(measure(ctx, o))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "livebench:", err)
		os.Exit(1)
	}
}

type options struct {
	binary  string
	images  int
	runs    int
	workers int
	only    string
}

// subject is one of the things measured.
type subject struct {
	name string
	// command gives the process to run; it may write into dir.
	command func(ctx context.Context, dir string) *exec.Cmd
	// against is the subject whose rows/s it is compared with.
	against string
	// start is a run without work: only its wall time counts.
	start bool
}

func measure(ctx context.Context, o options) (err error) {
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cluster, rows, err := load(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()

	hosts := strings.Join(cluster.Hosts(), ",")
	port := strconv.Itoa(cluster.Port())
	workers := strconv.Itoa(o.workers)
	loop := func(command, columns string) func(context.Context, string) *exec.Cmd {
		return func(ctx context.Context, _ string) *exec.Cmd {
			return exec.CommandContext(ctx, self, command, "-hosts", hosts, "-port", port, "-workers", workers, "-columns", columns)
		}
	}
	manifest := func(args ...string) func(context.Context, string) *exec.Cmd {
		return func(ctx context.Context, dir string) *exec.Cmd {
			args := append(slices.Clone(args), "--hosts", hosts, "--port", port, "--workers", workers, "--out", filepath.Join(dir, "out"), "--progress", "none")
			return exec.CommandContext(ctx, binary, args...)
		}
	}
	subjects := []subject{
		{name: "bare loop, 3 columns", command: loop(bareCommand, "width,height,capture_time")},
		{name: "engine, 3 columns", command: loop(engineCommand, "width,height,capture_time"), against: "bare loop, 3 columns"},
		{name: "stats image-sizes", command: manifest("stats", "--query", "image-sizes", "--adaptive=false"), against: "bare loop, 3 columns"},
		{name: "stats, adaptive limit", command: manifest("stats", "--query", "image-sizes"), against: "bare loop, 3 columns"},
		{name: "bare loop, 9 columns", command: loop(bareCommand, strings.Join(metadataColumns, ","))},
		{name: "engine, 9 columns", command: loop(engineCommand, strings.Join(metadataColumns, ",")), against: "bare loop, 9 columns"},
		{name: "export to Parquet", command: manifest("export", "--table", imagegen.DefaultKeyspace+"."+imagegen.MetadataTable, "--adaptive=false"), against: "bare loop, 9 columns"},
		{name: "start-up (version)", start: true, command: func(ctx context.Context, _ string) *exec.Cmd { return exec.CommandContext(ctx, binary, "version") }},
	}
	subjects = slices.DeleteFunc(subjects, func(s subject) bool { return !strings.Contains(s.name, o.only) && !strings.HasPrefix(s.name, "bare") })
	all := map[string][]processcost.Cost{}
	for run := range o.runs + 1 { // the first run warms the server up and does not count
		for _, s := range subjects {
			f, err := runOnce(ctx, s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if run > 0 {
				all[s.name] = append(all[s.name], f)
			}
		}
	}
	report(subjects, all, rows)
	return nil
}

var metadataColumns = []string{"image_id", "attributes", "capture_time", "content_hash", "height", "object_key", "object_store", "upload_time", "width"}

// load starts a node and fills image_metadata.
func load(ctx context.Context, o options) (_ *casstest.Cluster, rows int64, err error) {
	cluster, err := casstest.Start(ctx, casstest.Options{HeapMB: 3072, Optimizing: true, Log: os.Stderr})
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, cluster.Stop())
		}
	}()
	session, err := cluster.Session("")
	if err != nil {
		return nil, 0, err
	}
	defer session.Close()
	set, err := imagegen.New(imagegen.Options{Images: o.images})
	if err != nil {
		return nil, 0, err
	}
	if err := casstest.CreateImageTables(ctx, session, imagegen.DefaultKeyspace, 1); err != nil {
		return nil, 0, err
	}
	stats, err := casstest.Load(ctx, session, set, casstest.LoadOptions{Tables: []string{imagegen.MetadataTable}})
	if err != nil {
		return nil, 0, err
	}
	fmt.Fprintf(os.Stderr, "loaded %d rows at %.0f rows/s\n", stats.Total(), stats.RowsPerSecond())
	for _, command := range [][]string{{"flush"}, {"compact", imagegen.DefaultKeyspace}} {
		if _, err := cluster.NodeTool(ctx, 0, command...); err != nil {
			return nil, 0, err
		}
	}
	return cluster, stats.Rows[imagegen.MetadataTable], nil
}

func runOnce(ctx context.Context, s subject) (processcost.Cost, error) {
	dir, err := os.MkdirTemp("", "livebench")
	if err != nil {
		return processcost.Cost{}, err
	}
	defer os.RemoveAll(dir)
	cmd := s.command(ctx, dir)
	cmd.Stderr = os.Stderr
	return processcost.Run(cmd)
}

func report(subjects []subject, all map[string][]processcost.Cost, rows int64) {
	fmt.Printf("%d rows, medians of %d runs\n", rows, len(all[subjects[0].name]))
	fmt.Printf("%-22s %12s %14s %12s %10s\n", "", "rows/s", "CPU s/M rows", "peak MiB", "of bare")
	for _, s := range subjects {
		wall := processcost.Median(all[s.name], processcost.Seconds)
		if s.start {
			fmt.Printf("%-22s %9.1f ms\n", s.name, wall*1000)
			continue
		}
		ratio := ""
		if s.against != "" {
			ratio = fmt.Sprintf("%.1f %%", 100*processcost.Median(all[s.against], processcost.Seconds)/wall)
		}
		fmt.Printf("%-22s %12.0f %14.2f %12.1f %10s\n", s.name, float64(rows)/wall,
			processcost.Median(all[s.name], processcost.CPUSeconds)/(float64(rows)/1e6), processcost.Median(all[s.name], processcost.MiB), ratio)
	}
}
