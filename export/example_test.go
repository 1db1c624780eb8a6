package export_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export"
	"manifest/tokenrange"
)

// readings is what a scan would give: records with the types that CQL has in Arrow.
func readings() arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "device_id", Type: arrow.BinaryTypes.String},
		{Name: "capture_time", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
		{Name: "attributes", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	attributes := b.Field(2).(*array.MapBuilder)
	for i, weather := range []string{"rain", "sun"} {
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("leaf-%d", i))
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(1_748_781_296_789 + i))
		attributes.Append(true)
		attributes.KeyBuilder().(*array.StringBuilder).Append("weather")
		attributes.ItemBuilder().(*array.StringBuilder).Append(weather)
	}
	return b.NewRecord()
}

// The whole way from rows to a published directory. A scan calls Begin, Write and
// Commit, for many splits at a time.
func Example() {
	ctx := context.Background()
	parent, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	out := filepath.Join(parent, "images")

	target, err := export.Prepare(out, export.TargetOptions{RunID: "2025-06-01"})
	if err != nil {
		log.Fatal(err) // before anything was read
	}
	rec := readings()
	defer rec.Release()
	dataset, err := export.New(rec.Schema(), export.Options{WorkDir: target.PartsDir(), Format: export.JSONLines})
	if err != nil {
		log.Fatal(err)
	}

	split := tokenrange.Split{ID: "split-1"}
	part, err := dataset.Begin(ctx, split)
	if err != nil {
		log.Fatal(err)
	}
	if err := part.Write(ctx, rec); err != nil {
		part.Abort()
		log.Fatal(err)
	}
	if err := part.Commit(ctx); err != nil {
		part.Abort()
		log.Fatal(err)
	}

	result, err := dataset.Finish(ctx, []string{split.ID}, target.Dir())
	if err != nil {
		log.Fatal(err)
	}
	m := export.Manifest{
		Kind: "table", RunID: "2025-06-01", CreatedAt: time.Now().UTC(),
		Source: export.Source{Kind: "cql", Keyspace: "image_keyspace", Table: "image_metadata"},
	}
	dataset.Describe(&m, result)
	if err := target.Publish(ctx, m); err != nil {
		log.Fatal(err)
	}

	err = filepath.WalkDir(out, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			fmt.Println(strings.TrimPrefix(path, out+"/"))
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "data", "part-00000-of-00001.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(data))
	// Output:
	// SHA256SUMS
	// _SUCCESS
	// data/part-00000-of-00001.jsonl
	// manifest.json
	// {"device_id":"leaf-0","capture_time":"2025-06-01T12:34:56.789Z","attributes":[{"key":"weather","value":"rain"}]}
	// {"device_id":"leaf-1","capture_time":"2025-06-01T12:34:56.790Z","attributes":[{"key":"weather","value":"sun"}]}
}

// A nightly job replaces the days that it computed.
func ExampleStatsTree() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "stats")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	schema := arrow.NewSchema([]arrow.Field{
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "images", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	rows := func(day arrow.Date32, images int64) iter.Seq2[arrow.Record, error] {
		return func(yield func(arrow.Record, error) bool) {
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			defer b.Release()
			b.Field(0).(*array.Date32Builder).Append(day)
			b.Field(1).(*array.Int64Builder).Append(images)
			rec := b.NewRecord()
			defer rec.Release()
			yield(rec, nil)
		}
	}
	const june1 = arrow.Date32(20240)
	for run, day := range []arrow.Date32{june1, june1 + 1, june1} {
		tree, err := export.OpenStatsTree(dir, export.StatsTreeOptions{RunID: fmt.Sprintf("run%d", run)})
		if err != nil {
			log.Fatal(err)
		}
		if err := tree.Write(ctx, "device-day", export.DayOf(day), schema, rows(day, 1)); err != nil {
			log.Fatal(err)
		}
		if err := tree.Commit(ctx, export.RunRecord{CreatedAt: time.Now().UTC()}); err != nil {
			log.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.parquet"))
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(strings.TrimPrefix(f, dir+"/"))
	}
	// Output:
	// device-day/dt=2025-06-01/part-run2.parquet
	// device-day/dt=2025-06-02/part-run1.parquet
}
