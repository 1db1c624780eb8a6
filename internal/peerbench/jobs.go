package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
)

// Names of tools and of what they read.
const (
	ours      = "manifest"
	spark     = "Spark"
	dsbulk    = "DSBulk"
	cqlite    = "CQLite"
	overCQL   = "CQL"
	fromFiles = "SSTables"
)

// limit is the most rows of the training manifest; spark_job.py has it too.
const limit = 500_000

// job is a piece of work that several tools do.
type job struct {
	name, title string
	subjects    []subject
	// rows is how many the answer counts, where that is known beforehand.
	rows int
}

// subject is a tool that does a job.
type subject struct {
	tool, reads string
	// command gives the process to run in a folder of its own, below which it writes into out.
	command func(ctx context.Context, out string) *exec.Cmd
	// answer is the query that makes one line of text of what was written.
	answer func(out string) string
	runs   []outcome
}

func jobsOf(o options, t tools, data sstables, host string, port int) []job {
	portText := strconv.Itoa(port)
	cql := []string{"--hosts", host, "--port", portText}
	files := []string{"--snapshot", data.images, "--keyspace", "ks"}
	manifest := func(command string, from []string, args ...string) func(context.Context, string) *exec.Cmd {
		return func(ctx context.Context, out string) *exec.Cmd {
			all := append([]string{command, "--out", out, "--progress", "none"}, from...)
			return exec.CommandContext(ctx, o.binary, append(all, args...)...)
		}
	}
	sparkDoes := func(job string) func(context.Context, string) *exec.Cmd {
		return func(ctx context.Context, out string) *exec.Cmd {
			return exec.CommandContext(ctx, t.spark, t.sparkScript, job, host, portText, jarList(t.connector), out)
		}
	}
	cqliteDoes := func(ctx context.Context, out string) *exec.Cmd {
		return exec.CommandContext(ctx, t.cqlite, t.cqliteScript, data.images, filepath.Join(data.tables[metadata], "schema.cql"), out)
	}
	dsbulkDoes := func(ctx context.Context, out string) *exec.Cmd {
		return exec.CommandContext(ctx, t.java, "-cp", filepath.Join(t.dsbulk, "*"), "com.datastax.oss.dsbulk.runner.DataStaxBulkLoader",
			"unload", "-k", "image_keyspace", "-t", metadata, "-h", host, "-port", portText, "-url", out)
	}
	training := []string{"--tags", "leaf_spot", "--from", "2025-06-01", "--limit", strconv.Itoa(limit), "--status", "any", "--dedupe", "none",
		"--columns", "image_id,object_key,device_id,capture_time"}
	table := job{name: "table", title: "image_metadata to Parquet", rows: o.rows, subjects: []subject{
		{tool: ours, reads: overCQL, command: manifest("export", cql, "--table", metadata), answer: tableAnswer(ourImages)},
		{tool: spark, reads: overCQL, command: sparkDoes("table"), answer: tableAnswer(imagesWithMaps)},
		{tool: ours, reads: fromFiles, command: manifest("export", files, "--table", metadata), answer: tableAnswer(ourImages)},
		{tool: cqlite, reads: fromFiles, command: cqliteDoes, answer: tableAnswer(imagesWithMaps)},
	}}
	if o.dsbulk {
		table.subjects = append(table.subjects, subject{tool: dsbulk, reads: overCQL, command: dsbulkDoes, answer: tableAnswer(imagesOfCSV)})
	}
	return []job{
		{name: "manifest", title: "training manifest", subjects: []subject{
			{tool: ours, reads: overCQL, command: manifest("export", cql, training...), answer: manifestAnswer("/data/*.parquet")},
			{tool: spark, reads: overCQL, command: sparkDoes("manifest"), answer: manifestAnswer("/*.parquet")},
		}},
		table,
		{name: "sizes", title: "images by width and height", rows: o.rows, subjects: []subject{
			{tool: ours, reads: overCQL, command: manifest("stats", cql, "--query", "image-sizes"), answer: sizesAnswer(ourSizes)},
			{tool: spark, reads: overCQL, command: sparkDoes("sizes"), answer: sizesAnswer(sparkSizes)},
			{tool: ours, reads: fromFiles, command: manifest("stats", files, "--query", "image-sizes"), answer: sizesAnswer(ourSizes)},
		}},
	}
}
