package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"manifest/internal/demodata"
)

// TestDemo compares what the demo shows with what Cassandra answered when its
// data were made.
func TestDemo(t *testing.T) {
	want, err := demodata.ReadFigures()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "demo")
	r := manifest("demo", "--dir", dir)
	if r.code != exitDone {
		t.Fatal(r)
	}
	for table, rows := range want.Rows {
		if line := fmt.Sprintf("%s.%s: %d rows read\n", demodata.Keyspace, table, rows); !strings.Contains(r.out, line) {
			t.Errorf("the demo does not say %q: %s", line, r.out)
		}
	}
	if line := fmt.Sprintf("tag_image_index: %d rows in 1 file", want.Tags["leaf_spot"]); !strings.Contains(r.out, line) {
		t.Errorf("the demo does not say %q: %s", line, r.out)
	}

	type tagCount struct {
		Tag    string `parquet:"tag"`
		Images int64  `parquet:"images"`
	}
	got := map[string]int64{}
	for _, row := range readStatistic[tagCount](t, dir, "tags") {
		got[row.Tag] += row.Images
	}
	if !maps.Equal(got, want.Tags) {
		t.Errorf("tags: %v, want %v", got, want.Tags)
	}
	type deviceCount struct {
		Device string `parquet:"device_id"`
		Images int64  `parquet:"images"`
	}
	got = map[string]int64{}
	for _, row := range readStatistic[deviceCount](t, dir, "device-day") {
		got[row.Device] += row.Images
	}
	if !maps.Equal(got, want.Devices) {
		t.Errorf("devices: %v, want %v", got, want.Devices)
	}
	type statusCount struct {
		Status *string `parquet:"status,optional"`
		Count  int64   `parquet:"count"`
	}
	got = map[string]int64{}
	for _, row := range readStatistic[statusCount](t, dir, "review-status") {
		if row.Status != nil {
			got[*row.Status] += row.Count
		}
	}
	if !maps.Equal(got, want.Statuses) {
		t.Errorf("statuses: %v, want %v", got, want.Statuses)
	}
	// Again, over what is there; and never over what is not a demo's.
	if r := manifest("demo", "--dir", dir); r.code != exitDone {
		t.Errorf("a second time: %v", r)
	}
	if r := manifest("demo", "--dir", t.TempDir()); r.code != exitDone {
		t.Errorf("into an empty folder: %v", r)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := manifest("demo", "--dir", other); r.code != exitUsage {
		t.Errorf("over other files: %v", r)
	}
}

// readStatistic reads the files of a statistic.
func readStatistic[T any](t *testing.T, dir, name string) []T {
	t.Helper()
	var all []T
	for _, path := range find(t, filepath.Join(dir, "stats", name), ".parquet") {
		rows, err := parquet.ReadFile[T](path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
	}
	return all
}

// TestDemoNeedsBothNodes shows that the set is worth its name: each of the nodes
// alone gives other figures than both together, of every table.
func TestDemoNeedsBothNodes(t *testing.T) {
	want, err := demodata.ReadFigures()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := demodata.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	now := demodata.Now.Format("2006-01-02T15:04:05Z07:00")
	for table, rows := range want.Rows {
		for _, node := range []string{"node1", "node2", ""} {
			out := filepath.Join(t.TempDir(), "out")
			r := manifest("export", "--snapshot", filepath.Join(dir, node), "--table", table, "--now", now, "--out", out, "--progress", "none", "--format", "jsonl")
			if r.code != exitDone {
				t.Fatal(r)
			}
			if got := int64(len(exported(t, out))); (got == rows) != (node == "") {
				t.Errorf("%s of node %q: %d rows, of both %d", table, node, got, rows)
			}
		}
	}
}

// TestDemoValues compares values inside of rows with Cassandra's answers.
func TestDemoValues(t *testing.T) {
	want, err := demodata.ReadFigures()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := demodata.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	r := manifest("export", "--snapshot", dir, "--table", "image_metadata", "--columns", "attributes,width", "--now", fmt.Sprint(demodata.Now.Unix()),
		"--out", out, "--progress", "none", "--format", "jsonl")
	if r.code != exitDone {
		t.Fatal(r)
	}
	regions, width := map[string]int64{}, int64(0)
	for _, line := range exported(t, out) {
		var row struct {
			Attributes []struct{ Key, Value string }
			Width      int64
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		width += row.Width
		for _, a := range row.Attributes {
			if a.Key == "region" {
				regions[a.Value]++
			}
		}
	}
	if width != want.Width || !maps.Equal(regions, want.Regions) {
		t.Errorf("width %d and regions %v, want %d and %v", width, regions, want.Width, want.Regions)
	}
}
