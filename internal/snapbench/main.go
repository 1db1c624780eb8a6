// Command snapbench measures the binary on SSTables, beside the bare loop that
// no reader can do without: read, decompress and verify each chunk.
//
// It has Cassandra's own writer write image_metadata, once, into a folder, and
// then runs in turn, each as a process of its own, with one core and with two:
// the bare loop, `manifest stats` and `manifest export`. Of each it prints rows/s,
// CPU seconds per million rows, the largest resident memory, and how much slower
// it is than the bare loop.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"manifest/internal/processcost"
	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/oracle"
)

// bareCommand makes this program the bare loop.
const bareCommand = "bare"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) == 4 && os.Args[1] == bareCommand {
		cores, err := strconv.Atoi(os.Args[3])
		exitOn(errors.Join(err, runBare(ctx, os.Args[2], cores)))
		return
	}
	var o options
	flag.StringVar(&o.binary, "binary", "bin/manifest", "the manifest binary to measure")
	flag.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "manifest-snapbench"), "folder of the SSTables, which are made there if need be, and of the results")
	flag.IntVar(&o.rows, "rows", 3_000_000, "rows of image_metadata")
	flag.IntVar(&o.runs, "runs", 3, "runs of each; medians are printed")
	flag.StringVar(&o.version, "version", "oa", "format of the SSTables: oa or da")
	flag.Parse()
	exitOn(measure(ctx, o))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "snapbench:", err)
		os.Exit(1)
	}
}

type options struct {
	binary, dir, version string
	rows, runs           int
}

// runBare decompresses and verifies all chunks, as many at a time as there are
// cores.
func runBare(ctx context.Context, dir string, cores int) error {
	sets, err := component.Find(ctx, component.Dir(dir))
	if err != nil {
		return err
	}
	for _, set := range sets {
		f, err := chunk.Open(ctx, set)
		if err != nil {
			return err
		}
		var mu sync.Mutex
		next := int64(0)
		const piece = 16 << 20
		take := func() (int64, bool) {
			mu.Lock()
			defer mu.Unlock()
			at := next
			next += piece
			return at, at < f.Size()
		}
		var group errgroup.Group
		for range cores {
			group.Go(func() error {
				w := f.NewWindow(chunk.WindowOptions{})
				defer w.Close()
				for at, ok := take(); ok; at, ok = take() {
					if err := w.MoveTo(at); err != nil {
						return err
					}
					end := min(at+piece, f.Size())
					for view := []byte(nil); w.Offset()+int64(len(view)) < end; {
						var err error
						if view, err = w.Next(len(view), 1); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
		if err := errors.Join(group.Wait(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// subject is one of the things measured.
type subject struct {
	name  string
	cores int
	// command gives the process to run; it may write into dir.
	command func(ctx context.Context, dir string) *exec.Cmd
	large   bool // what it writes is removed at once
}

func measure(ctx context.Context, o options) error {
	images := filepath.Join(o.dir, fmt.Sprintf("%s-%d", o.version, o.rows))
	if _, err := os.Stat(filepath.Join(images, "schema.cql")); err != nil {
		fmt.Fprintf(os.Stderr, "writing %d rows ...\n", o.rows)
		if err := oracle.WriteImages(ctx, o.version, o.rows, images); err != nil {
			return err
		}
	}
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	manifest := func(args ...string) func(context.Context, string) *exec.Cmd {
		return func(ctx context.Context, dir string) *exec.Cmd {
			args := append(slices.Clone(args), "--snapshot", images, "--keyspace", "ks", "--out", filepath.Join(dir, "out"), "--progress", "none")
			return exec.CommandContext(ctx, binary, args...)
		}
	}
	var subjects []subject
	for _, cores := range []int{1, 2} {
		subjects = append(subjects,
			subject{name: "bare loop: read, decompress, verify", cores: cores, command: func(ctx context.Context, _ string) *exec.Cmd {
				return exec.CommandContext(ctx, self, bareCommand, images, strconv.Itoa(cores))
			}},
			subject{name: "stats image-sizes", cores: cores, command: manifest("stats", "--query", "image-sizes")},
			subject{name: "stats of width by day", cores: cores, command: manifest("stats", "--table", "image_metadata", "--by", "day(capture_time)", "--agg", "count, sum(width)")},
			subject{name: "export to Parquet, zstd", cores: cores, command: manifest("export", "--table", "image_metadata"), large: true},
		)
	}
	// Results go at the end: ext4 takes long to make files where others have just
	// been removed, of which statistics by day are many.
	results, err := os.MkdirTemp(o.dir, "out")
	if err != nil {
		return err
	}
	defer os.RemoveAll(results)
	all := make([][]processcost.Cost, len(subjects))
	for run := range o.runs + 1 { // the first run does not count
		if err := cache(images); err != nil {
			return err
		}
		for i, s := range subjects {
			f, err := runOnce(ctx, s, results)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if run > 0 {
				all[i] = append(all[i], f)
			}
		}
	}
	report(subjects, all, o)
	return nil
}

// cache brings the files into the system's page cache. manifest leaves there only
// what it has found there: what is missing would be read from the disk in each
// run, which is then what is measured, with two cores more than with one.
func cache(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range files {
		f, openErr := os.Open(name)
		if openErr != nil {
			return openErr
		}
		_, readErr := io.Copy(io.Discard, f)
		err = errors.Join(err, readErr, f.Close())
	}
	return err
}

func runOnce(ctx context.Context, s subject, results string) (processcost.Cost, error) {
	dir, err := os.MkdirTemp(results, "")
	if err != nil {
		return processcost.Cost{}, err
	}
	if s.large {
		defer os.RemoveAll(dir)
	}
	cmd := s.command(ctx, dir)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", s.cores))
	return processcost.Run(cmd)
}

func report(subjects []subject, all [][]processcost.Cost, o options) {
	fmt.Printf("%d rows in %s, medians of %d runs\n", o.rows, o.version, o.runs)
	fmt.Printf("%-38s %5s %12s %14s %10s %14s\n", "", "cores", "rows/s", "CPU s/M rows", "peak MiB", "CPU of bare")
	bare := 0.0
	for i, s := range subjects {
		cpu := processcost.Median(all[i], processcost.CPUSeconds)
		ratio := ""
		if strings.HasPrefix(s.name, "bare") {
			bare = cpu
		} else {
			ratio = fmt.Sprintf("%.2f times", cpu/bare)
		}
		fmt.Printf("%-38s %5d %12.0f %14.3f %10.1f %14s\n", s.name, s.cores, float64(o.rows)/processcost.Median(all[i], processcost.Seconds),
			cpu/(float64(o.rows)/1e6), processcost.Median(all[i], processcost.MiB), ratio)
	}
}
