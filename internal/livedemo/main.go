// Command livedemo shows the main job on a real cluster: it starts a Cassandra
// on this machine, fills the image tables with generated images, runs the
// binary's statistics and an export, and stops the server again.
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
	statistics, dataset := filepath.Join(out, "stats"), filepath.Join(out, "image_metadata")
	for _, args := range [][]string{
		{"stats", "--out", statistics},
		{"export", "--table", imagegen.DefaultKeyspace + "." + imagegen.MetadataTable, "--out", dataset},
	} {
		args = append(args, connection...)
		fmt.Printf("\n$ manifest %s\n", strings.Join(args, " "))
		started := time.Now()
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("manifest %s: %w", args[0], err)
		}
		fmt.Printf("(%.1f s)\n", time.Since(started).Seconds())
	}
	fmt.Printf(`
Look at the files:
  duckdb -c "SELECT tag, sum(images) AS images FROM read_parquet('%[1]s/tags/*/*.parquet') GROUP BY tag ORDER BY images DESC LIMIT 5"
  duckdb -c "SELECT count(*), min(capture_time), max(capture_time) FROM '%[2]s/data/*.parquet'"
  python3 -c "import pandas; print(pandas.read_parquet('%[2]s/data').head())"
`, statistics, dataset)
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
