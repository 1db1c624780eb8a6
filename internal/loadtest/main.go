// Command loadtest measures what a scan does to those who use the same cluster
// at the same time: the latency of point reads, alone, beside a scan with the
// adaptive limit, and beside one without.
//
// It starts nodes, fills image_metadata and asks for single images at a fixed
// rate. A read's latency counts from the moment at which it was due, not from
// when it could be sent, so that a stall shows in all reads that it delayed. The
// three phases take turns, several rounds, so that a change of the machine's
// mood hits all of them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
)

type options struct {
	binary   string
	nodes    int
	images   int
	rate     int
	rounds   int
	duration time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/manifest", "the manifest binary that scans")
	flag.IntVar(&o.nodes, "nodes", 3, "nodes, with as many replicas")
	flag.IntVar(&o.images, "images", 300_000, "rows of image_metadata")
	flag.IntVar(&o.rate, "rate", 200, "point reads per second")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of the three phases")
	flag.DurationVar(&o.duration, "duration", 20*time.Second, "length of a phase")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		os.Exit(1)
	}
}

// phase is what goes on beside the point reads.
type phase struct {
	name string
	scan []string // flags of the scan; nil for none
}

var phases = []phase{
	{"no scan", nil},
	{"scan, adaptive limit", []string{"--adaptive=true"}},
	{"scan, no limit", []string{"--adaptive=false"}},
}

// seen is what a phase has shown.
type seen struct {
	latencies []time.Duration
	rows      int64 // that the scan read
	took      time.Duration
}

func measure(ctx context.Context, o options) (err error) {
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	cluster, err := casstest.Start(ctx, casstest.Options{Nodes: o.nodes, HeapMB: 1024, Optimizing: true, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	reader, err := newPointReader(ctx, cluster, o)
	if err != nil {
		return err
	}
	defer reader.session.Close()

	all := make([]seen, len(phases))
	for round := range o.rounds + 1 { // the first warms the servers up
		for i, p := range phases {
			s, err := run(ctx, o, cluster, reader, p)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if round > 0 {
				all[i].latencies = append(all[i].latencies, s.latencies...)
				all[i].rows, all[i].took = all[i].rows+s.rows, all[i].took+s.took
			}
		}
	}
	fmt.Printf("%d nodes, %d replicas, LOCAL_QUORUM, %d rows; %d point reads per second, %d rounds of %v\n",
		o.nodes, o.nodes, o.images, o.rate, o.rounds, o.duration)
	fmt.Printf("%-22s %10s %10s %10s %10s %14s\n", "", "p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "scan rows/s")
	for i, p := range phases {
		slices.Sort(all[i].latencies)
		fmt.Printf("%-22s", p.name)
		for _, q := range []float64{0.5, 0.95, 0.99, 0.999} {
			fmt.Printf(" %10.1f", quantile(all[i].latencies, q).Seconds()*1e3)
		}
		fmt.Printf(" %14.0f\n", float64(all[i].rows)/all[i].took.Seconds())
	}
	return nil
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// run does one phase.
func run(ctx context.Context, o options, cluster *casstest.Cluster, reader *pointReader, p phase) (seen, error) {
	ctx, cancel := context.WithTimeout(ctx, o.duration)
	defer cancel()
	began := time.Now()
	scanned := make(chan scanResult, 1)
	go func() { scanned <- keepScanning(ctx, o.binary, cluster, p.scan) }()
	latencies, err := reader.read(ctx, o.rate)
	result := <-scanned
	if err := errors.Join(err, result.err); err != nil {
		return seen{}, err
	}
	return seen{latencies: latencies, rows: result.rows, took: time.Since(began)}, nil
}

func hosts(cluster *casstest.Cluster) string { return strings.Join(cluster.Hosts(), ",") }

func fill(ctx context.Context, cluster *casstest.Cluster, o options) (*imagegen.Set, error) {
	session, err := cluster.Session("")
	if err != nil {
		return nil, err
	}
	defer session.Close()
	set, err := imagegen.New(imagegen.Options{Images: o.images})
	if err != nil {
		return nil, err
	}
	if err := casstest.CreateImageTables(ctx, session, imagegen.DefaultKeyspace, o.nodes); err != nil {
		return nil, err
	}
	if _, err := casstest.Load(ctx, session, set, casstest.LoadOptions{Tables: []string{imagegen.MetadataTable}}); err != nil {
		return nil, err
	}
	for node := range o.nodes {
		if _, err := cluster.NodeTool(ctx, node, "flush"); err != nil {
			return nil, err
		}
	}
	return set, nil
}
