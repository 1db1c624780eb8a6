package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export"
	"manifest/internal/cqltype"
	"manifest/internal/ledger"
	"manifest/internal/metrics"
	"manifest/internal/schema"
	"manifest/internal/throttle"
	"manifest/scan"
	"manifest/tokenrange"
)

// onePerSplit is a source that gives each split one row: the start of its range.
type onePerSplit struct {
	schema *arrow.Schema
	mu     sync.Mutex
	read   []string // split ids
}

func (s *onePerSplit) Schema([]string) (*arrow.Schema, error) { return s.schema, nil }

func (s *onePerSplit) Read(_ context.Context, split tokenrange.Split, _ []string, emit func(arrow.Record) error) (scan.ReadStats, error) {
	s.mu.Lock()
	s.read = append(s.read, split.ID)
	s.mu.Unlock()
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.schema)
	defer b.Release()
	start, _ := split.Range.Start.Int64()
	b.Field(0).(*array.Int64Builder).Append(start)
	rec := b.NewRecord()
	defer rec.Release()
	return scan.ReadStats{Pages: 1}, emit(rec)
}

// A run that goes on finds that files of it are gone, cut, or of other bytes: it
// reads those ranges again, says so, and the ledger proves the whole.
func TestDamagedPartsAreReadAgain(t *testing.T) {
	bigint := &cqltype.Type{Kind: cqltype.Bigint}
	table := &schema.Table{Keyspace: "ks", Name: "t", ID: "id", Columns: []schema.Column{{Name: "k", Kind: schema.PartitionKey, Type: bigint}}}
	field, err := bigint.Field("k", false)
	if err != nil {
		t.Fatal(err)
	}
	source := &onePerSplit{schema: arrow.NewSchema([]arrow.Field{field}, nil)}
	ring := tokenrange.Murmur3.Ring()
	plan := tokenrange.Plan{Partitioner: tokenrange.Murmur3.Name(), Asked: []tokenrange.Range{ring}}
	for _, r := range ring.Split(6) {
		plan.Splits = append(plan.Splits, tokenrange.NewSplit(r))
	}
	limiter, err := throttle.New(throttle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	parts := filepath.Join(dir, "parts")
	if err := os.Mkdir(parts, 0o700); err != nil {
		t.Fatal(err)
	}
	dataset, err := export.New(source.schema, export.Options{WorkDir: parts, Format: export.CSV, Columns: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	p := &pass{dir: dir, input: &input{table: table, plan: plan, source: source, throttle: limiter, workers: 2}, columns: []string{"k"},
		consumers: []scan.Consumer{scan.ConsumerFunc(func(ctx context.Context, s tokenrange.Split) (scan.Part, error) { return dataset.Begin(ctx, s) })}}
	var said strings.Builder
	run := func(resume string) outcome {
		t.Helper()
		log := slog.New(slog.NewTextHandler(&said, nil))
		watch, err := oversightOptions{}.begin(t.Context(), metrics.Info{Started: time.Now()}, slog.New(slog.NewTextHandler(io.Discard, nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer watch.finish(nil)
		read, err := p.run(t.Context(), "run", runOptions{resume: resume, progress: "none"}, watch, log)
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	first := run("")
	if len(source.read) != 6 || first.rows != 6 {
		t.Fatalf("read %v, %d rows", source.read, first.rows)
	}

	rec, err := ledger.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := func(i, n int) string { return filepath.Join(dir, rec.Receipts[i].Files[n].Name) }
	content, err := os.ReadFile(file(4, 0))
	if err != nil {
		t.Fatal(err)
	}
	content[1] ^= 1 // a digit: the size stays
	for _, err := range []error{os.Remove(file(1, 0)), os.Remove(file(2, 1)), os.Truncate(file(3, 0), 1), os.WriteFile(file(4, 0), content, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	source.read = nil
	again := run("run")
	want := []string{plan.Splits[1].ID, plan.Splits[2].ID, plan.Splits[3].ID, plan.Splits[4].ID}
	if slices.Sort(source.read); !slices.Equal(source.read, want) {
		t.Errorf("read again %v, want %v", source.read, want)
	}
	if again.rows != 6 || len(again.receipts) != 6 {
		t.Errorf("%d rows of %d splits", again.rows, len(again.receipts))
	}
	if n := strings.Count(said.String(), "its range is read again"); n != 4 {
		t.Errorf("said %d times that a range is read again:\n%s", n, said.String())
	}
	if faults, err := scan.VerifyFiles(t.Context(), dir, again.receipts); err != nil || len(faults) > 0 {
		t.Errorf("after that: %v, %v", faults, err)
	}
}
