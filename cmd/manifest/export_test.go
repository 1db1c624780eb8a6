package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"manifest/export"
)

// An output that may not be replaced is refused before a cluster is looked for: nothing listens at port 1.
func TestOutputIsLookedAtFirst(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "taken")
	if err := os.MkdirAll(taken, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(taken, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := []string{"--hosts", "127.0.0.1", "--port", "1", "--progress", "none"}
	for _, c := range []struct {
		name string
		args []string
		want error
		code int
	}{
		{"a table", []string{"--table", "ks.t", "--out", taken}, export.ErrExists, exitUsage},
		{"a training manifest", []string{"--tags", "leaf_spot", "--out", taken}, export.ErrExists, exitUsage},
		{"something else to overwrite", []string{"--table", "ks.t", "--out", taken, "--overwrite"}, export.ErrNotDataset, exitUsage},
		{"a free place", []string{"--table", "ks.t", "--out", filepath.Join(t.TempDir(), "free")}, nil, exitNoAccess},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := manifest(append(append([]string{"export"}, c.args...), nowhere...)...)
			if r.code != c.code || c.want != nil && !errors.Is(r.err, c.want) {
				t.Errorf("exit code %d, %v; want %d, %v", r.code, r.err, c.code, c.want)
			}
			if left, err := os.ReadDir(filepath.Dir(taken)); err != nil || len(left) != 1 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
