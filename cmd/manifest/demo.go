package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"manifest/internal/demodata"
)

func newDemoCommand() *cobra.Command {
	dir := "manifest-demo"
	cmd := &cobra.Command{
		Use:   "demo [--dir DIR]",
		Short: "Run statistics and an export on data inside of the binary, without a server",
		Long: `Unpack a small set of real SSTables, snapshots of two nodes with a few thousand
images, and run the commands on it that a user would: list it, compute all
statistics, export a selection, make a training manifest, and verify both. Every command is shown, to be tried
again by hand.
` + exitStatus,
		Example: `  manifest demo
  manifest demo --dir demo`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demonstrate(cmd.Context(), cmd.OutOrStdout(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", dir, "folder of the data and the results; what is in it of an earlier demo is replaced")
	return cmd
}

// demoMark is a file that tells that a folder is a demo's, and may be replaced.
const demoMark = ".manifest-demo"

// demonstrate runs the demo's commands.
func demonstrate(ctx context.Context, out io.Writer, dir string) error {
	started := time.Now()
	if err := emptyDemo(dir); err != nil {
		return err
	}
	snapshots := filepath.Join(dir, "snapshots")
	if err := demodata.Unpack(snapshots); err != nil {
		return err
	}
	statistics, leaf, training := filepath.Join(dir, "stats"), filepath.Join(dir, "leaf_spot"), filepath.Join(dir, "training")
	source := []string{"--snapshot", snapshots, "--keyspace", demodata.Keyspace, "--now", demodata.Now.Format(time.RFC3339)}
	for _, args := range [][]string{
		{"snapshot", "ls", snapshots},
		append([]string{"stats", "--out", statistics, "--progress", "none"}, source...),
		append([]string{
			"stats", "--out", statistics, "--table", "image_review_status", "--by", "status", "--agg", "count", "--name", "review-status", "--progress", "none",
		}, source...),
		append([]string{
			"export", "--table", "tag_image_index", "--tags", "leaf_spot", "--columns", "image_id,object_key,device_id,capture_time",
			"--out", leaf, "--progress", "none",
		}, source...),
		{"verify", leaf},
		append([]string{
			"export", "--tags", "(leaf_spot OR rust) AND NOT blurry", "--status", "approved", "--limit", "200", "--balance", "device",
			"--split", "train=0.8,validation=0.1,test=0.1", "--group-by", "device", "--out", training, "--progress", "none",
		}, source...),
		{"verify", training},
	} {
		fmt.Fprintf(out, "$ manifest %s\n", shellWords(args))
		root := newRootCommand()
		root.SetOut(out)
		root.SetArgs(args)
		if err := root.ExecuteContext(ctx); err != nil {
			return fmt.Errorf("manifest %s: %w", args[0], err)
		}
		fmt.Fprintln(out)
	}
	_, err := fmt.Fprintf(out, `That took %.1f s. Look at the files:
  duckdb -c "SELECT tag, sum(images) AS images FROM read_parquet('%[2]s/tags/*/*.parquet') GROUP BY tag ORDER BY images DESC LIMIT 5"
  python3 -c "import pandas; print(pandas.read_parquet('%[3]s/data').head())"
`, time.Since(started).Seconds(), statistics, leaf)
	return err
}

// emptyDemo makes the folder, or empties that of an earlier demo.
func emptyDemo(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return usagef("--dir: %w", err)
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, demoMark)); err != nil {
			return usagef("--dir %s has files that are not of a demo: another --dir", dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, demoMark), nil, 0o644)
}
