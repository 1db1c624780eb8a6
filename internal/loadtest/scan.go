package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
)

// scanResult is what the scans of a phase have read.
type scanResult struct {
	rows int64
	err  error
}

var rowsRead = regexp.MustCompile(`(?m)^manifest_rows_read_total\{[^}]*\} (\S+)$`)

// keepScanning exports the table again and again until ctx ends. Without flags
// it scans nothing.
func keepScanning(ctx context.Context, binary string, cluster *casstest.Cluster, flags []string) (r scanResult) {
	if flags == nil {
		return r
	}
	dir, err := os.MkdirTemp("", "loadtest")
	if err != nil {
		return scanResult{err: err}
	}
	defer os.RemoveAll(dir)
	for n := 0; ctx.Err() == nil; n++ {
		metrics := filepath.Join(dir, fmt.Sprintf("%d.prom", n))
		args := append([]string{"stats", "--hosts", hosts(cluster), "--port", strconv.Itoa(cluster.Port()),
			"--table", imagegen.DefaultKeyspace + "." + imagegen.MetadataTable, "--by", "width,height", "--out", filepath.Join(dir, "out"),
			"--progress", "none", "--metrics-file", metrics}, flags...)
		scan := exec.CommandContext(ctx, binary, args...)
		scan.Cancel = func() error { return scan.Process.Signal(syscall.SIGTERM) }
		var stderr bytes.Buffer
		scan.Stderr = &stderr
		if err := scan.Run(); err != nil && ctx.Err() == nil {
			return scanResult{err: fmt.Errorf("scan: %w: %s", err, stderr.String())}
		}
		text, err := os.ReadFile(metrics)
		if err != nil {
			return scanResult{err: err}
		}
		if found := rowsRead.FindSubmatch(text); found != nil {
			rows, err := strconv.ParseFloat(string(found[1]), 64)
			if err != nil {
				return scanResult{err: err}
			}
			r.rows += int64(rows)
		}
	}
	return r
}
