package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"manifest/internal/demodata"
	"manifest/internal/pyenv"
)

func TestFilesBesideTheData(t *testing.T) {
	data := writeSnapshot(t, "da/partitions")
	run := func(out string, more ...string) ran {
		return manifest(append([]string{"export", "--snapshot", data, "--table", "ks.partitions", "--out", out, "--progress", "none"}, more...)...)
	}
	beside := func(out string) (names []string) {
		for _, name := range namesOf(tree(t, out)) {
			if !strings.HasPrefix(name, "data/") {
				names = append(names, name)
			}
		}
		return names
	}
	always := []string{"SHA256SUMS", "_SUCCESS", "ledger.jsonl", "manifest.json"}
	for _, c := range []struct {
		with []string
		more []string
	}{
		{nil, []string{"README.md", "croissant.json"}},
		{[]string{"--with", "none"}, nil},
		{[]string{"--with", "card"}, []string{"README.md"}},
		{[]string{"--with", "croissant"}, []string{"croissant.json"}},
	} {
		out := filepath.Join(t.TempDir(), "leaf")
		if r := run(out, c.with...); r.code != exitDone {
			t.Fatal(r)
		}
		want := append(slices.Clone(always), c.more...)
		slices.Sort(want)
		if got := beside(out); !slices.Equal(got, want) {
			t.Errorf("%q: files %q, want %q", c.with, got, want)
		}
		if r := manifest("verify", out); r.code != exitDone {
			t.Error(r)
		}
	}
	out := filepath.Join(t.TempDir(), "x")
	if r := run(out, "--dataset-name", "Leaf spot", "--license", "CC0-1.0"); r.code != exitDone {
		t.Fatal(r)
	}
	card, err := os.ReadFile(filepath.Join(out, "README.md"))
	if err != nil || !strings.Contains(string(card), "pretty_name: \"Leaf spot\"\nlicense: \"CC0-1.0\"\n") || !strings.Contains(string(card), "num_examples: 331\n") {
		t.Errorf("card, %v:\n%s", err, card)
	}
	for _, with := range []string{"crd", "none,card"} {
		if r := run(filepath.Join(t.TempDir(), "x"), "--with", with); r.code != exitUsage {
			t.Error(with, r)
		}
	}
}

// What stands beside the data holds what the data hold, as numpy, WebDataset,
// Hugging Face datasets and mlcroissant read it: of a table and of a training
// manifest with splits.
func TestOthersReadWhatStandsBesideTheData(t *testing.T) {
	python := pyenv.Python(t)
	snapshots := filepath.Join(t.TempDir(), "snapshots")
	if err := demodata.Unpack(snapshots); err != nil {
		t.Fatal(err)
	}
	source := []string{"--snapshot", snapshots, "--keyspace", demodata.Keyspace, "--now", demodata.Now.Format(time.RFC3339), "--progress", "none"}
	common := []string{"--with", "card,croissant,uids,coco", "--map-columns", "attributes['weather'] AS weather"}
	for name, more := range map[string][]string{
		"table":    {"--table", "image_metadata", "--shards", "3", "--uri", "s3://{object_store}/{object_key}", "--webdataset-key", "{object_key}"},
		"training": {"--tags", "leaf_spot", "--split", "train=0.6,validation=0.2,test=0.2", "--group-by", "device", "--status", "any", "--webdataset-key", "{image_id}"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "leaf")
			if r := manifest(slices.Concat([]string{"export", "--out", out}, source, common, more)...); r.code != exitDone {
				t.Fatal(r)
			}
			if r := manifest("verify", out); r.code != exitDone {
				t.Error(r)
			}
			cmd := exec.CommandContext(t.Context(), python, "testdata/beside.py", out)
			home := t.TempDir()
			cmd.Env = append(os.Environ(), "HF_HOME="+home, "HF_HUB_OFFLINE=1", "HF_DATASETS_OFFLINE=1", "HOME="+home, "PYTHONDONTWRITEBYTECODE=1")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

// The tags of training manifests are lists without nulls by their type too, in
// Parquet and in Arrow, as pyarrow, DuckDB and Polars read them.
func TestOthersReadTags(t *testing.T) {
	python := pyenv.Python(t)
	snapshots := filepath.Join(t.TempDir(), "snapshots")
	if err := demodata.Unpack(snapshots); err != nil {
		t.Fatal(err)
	}
	args := []string{"testdata/tags.py"}
	for _, format := range []string{"parquet", "arrow", "jsonl"} {
		out := filepath.Join(t.TempDir(), format)
		r := manifest("export", "--out", out, "--snapshot", snapshots, "--keyspace", demodata.Keyspace, "--now", demodata.Now.Format(time.RFC3339), "--progress", "none",
			"--tags", "leaf_spot OR NOT (rust OR blurry)", "--split", "train=0.6,test=0.4", "--format", format)
		if r.code != exitDone {
			t.Fatal(r)
		}
		if r := manifest("verify", out); r.code != exitDone {
			t.Error(r)
		}
		args = append(args, out)
	}
	if text, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestColumnsMadeOfOthers(t *testing.T) {
	snapshots := filepath.Join(t.TempDir(), "snapshots")
	if err := demodata.Unpack(snapshots); err != nil {
		t.Fatal(err)
	}
	run := func(more ...string) (ran, string) {
		out := filepath.Join(t.TempDir(), "x")
		return manifest(append([]string{"export", "--snapshot", snapshots, "--keyspace", demodata.Keyspace, "--now", demodata.Now.Format(time.RFC3339), "--progress", "none",
			"--table", "image_metadata", "--format", "csv", "--out", out}, more...)...), out
	}
	r, out := run("--columns", "image_id", "--uri", "gs://{object_store}/{object_key}?w={width}", "--map-columns", "attributes['weather']")
	if r.code != exitDone {
		t.Fatal(r)
	}
	text, err := os.ReadFile(filepath.Join(out, "data", "part-00000-of-00001.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if header, _, _ := strings.Cut(string(text), "\n"); header != "image_id,uri,attr_weather" {
		t.Errorf("columns %s", header)
	}
	if !regexp.MustCompile(`(?m)^[0-9a-f-]{36},gs://[^,]+\?w=[0-9]+,`).Match(text) {
		t.Errorf("no URI as asked for in %.300s", text)
	}
	if r, out = run("--map-as", "columns", "--map-columns", "attributes['weather'] AS sky"); r.code != exitDone {
		t.Fatal(r)
	}
	if text, err = os.ReadFile(filepath.Join(out, "data", "part-00000-of-00001.csv")); err != nil {
		t.Fatal(err)
	}
	if header, _, _ := strings.Cut(string(text), "\n"); strings.Contains(header, "attributes") || !strings.HasSuffix(header, ",sky") {
		t.Errorf("columns %s", header)
	}
	for _, bad := range [][]string{
		{"--map-as", "columns"}, {"--map-columns", "attributes.weather"}, {"--map-columns", "width['a']"}, {"--uri", "{nope}"}, {"--uri", "s3://x"},
		{"--with", "uids", "--columns", "width"}, {"--with", "coco", "--columns", "width"}, {"--webdataset-key", "{"},
	} {
		if r, _ := run(bad...); r.code != exitUsage {
			t.Errorf("%q: %v", bad, r)
		}
	}
}
