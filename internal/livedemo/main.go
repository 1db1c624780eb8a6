// Command livedemo shows the main job on a real cluster: it starts a Cassandra
// on this machine, fills the image tables with generated images, runs the
// binary's statistics, an export and a training manifest, verifies what was made,
// and stops the server again.
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
	"strconv"
	"strings"
	"time"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	binary := flag.String("binary", "bin/manifest", "the manifest binary")
	out := flag.String("out", "demo", "directory of the results; emptied first")
	images := flag.Int("images", 20_000, "images to generate")
	flag.Parse()
	if err := demonstrate(ctx, *binary, *out, *images); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func demonstrate(ctx context.Context, binary, out string, images int) (err error) {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	fmt.Println("Starting a Cassandra (the first time, Maven brings its jars) ...")
	cluster, err := casstest.Start(ctx, casstest.Options{Log: os.Stdout})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if err := load(ctx, cluster, images); err != nil {
		return err
	}

	connection := []string{"--hosts", strings.Join(cluster.Hosts(), ","), "--port", strconv.Itoa(cluster.Port())}
	statistics, dataset, training := filepath.Join(out, "stats"), filepath.Join(out, "image_metadata"), filepath.Join(out, "training")
	for _, args := range [][]string{
		append([]string{"stats", "--out", statistics}, connection...),
		append([]string{"export", "--table", imagegen.DefaultKeyspace + "." + imagegen.MetadataTable, "--out", dataset}, connection...),
		// Approved pictures of leaf_spot that are not blurry, no duplicates, balanced by device, split without leaks.
		append([]string{
			"export", "--keyspace", imagegen.DefaultKeyspace, "--tags", "leaf_spot AND NOT blurry", "--from", "2025-05-10", "--status", "approved",
			"--limit", "1000", "--balance", "device", "--split", "train=0.8,validation=0.1,test=0.1", "--group-by", "device", "--out", training,
		}, connection...),
		{"verify", statistics},
		{"verify", dataset},
		{"verify", training},
	} {
		if err := run(ctx, binary, args); err != nil {
			return err
		}
	}
	fmt.Printf(`
Look at the files:
  duckdb -c "SELECT tag, sum(images) AS images FROM read_parquet('%[1]s/tags/*/*.parquet') GROUP BY tag ORDER BY images DESC LIMIT 5"
  duckdb -c "SELECT count(*), min(capture_time), max(capture_time) FROM '%[2]s/data/*.parquet'"
  python3 -c "import pandas; print(pandas.read_parquet('%[2]s/data').head())"
  duckdb -c "SELECT split, count(*), count(DISTINCT group_id) FROM '%[3]s/data/*.parquet' GROUP BY split"
`, statistics, dataset, training)
	return nil
}

// run shows a command as one would type it, what it prints, and how long it took.
func run(ctx context.Context, binary string, args []string) error {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if strings.Contains(a, " ") {
			words[i] = "'" + a + "'"
		}
	}
	fmt.Printf("\n$ manifest %s\n", strings.Join(words, " "))
	started := time.Now()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("manifest %s: %w", args[0], err)
	}
	fmt.Printf("(%.1f s)\n", time.Since(started).Seconds())
	return nil
}

func load(ctx context.Context, cluster *casstest.Cluster, images int) error {
	session, err := cluster.Session("")
	if err != nil {
		return err
	}
	defer session.Close()
	set, err := imagegen.New(imagegen.Options{Images: images})
	if err != nil {
		return err
	}
	if err := casstest.CreateImageTables(ctx, session, imagegen.DefaultKeyspace, 1); err != nil {
		return err
	}
	stats, err := casstest.Load(ctx, session, set, casstest.LoadOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("Wrote %d rows of %d images in %.1f s.\n", stats.Total(), images, stats.Elapsed.Seconds())
	return nil
}
