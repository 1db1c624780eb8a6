package scan_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"manifest/scan"
	"manifest/tokenrange"
)

// filer is a consumer whose parts are files of one line per row.
type filer struct{ dir string }

func (f filer) Begin(_ context.Context, split tokenrange.Split) (scan.Part, error) {
	return &filerPart{path: filepath.Join(f.dir, split.ID+".part")}, nil
}

type filerPart struct {
	path string
	text []byte
}

func (p *filerPart) Write(_ context.Context, rec arrow.Record) error {
	for _, v := range rec.Column(0).(*array.Int64).Int64Values() {
		p.text = fmt.Appendf(p.text, "%d\n", v)
	}
	return nil
}

func (p *filerPart) Commit(context.Context) error { return os.WriteFile(p.path, p.text, 0o600) }
func (p *filerPart) Abort()                       {}

func (p *filerPart) Files(add func(path string, bytes int64, digest string)) {
	add(p.path, int64(len(p.text)), hash(p.text))
}

func hash(text []byte) string {
	sum := xxh3.Hash128(text).Bytes()
	return fmt.Sprintf("%x", sum[:])
}

// told is a source that says of its reads what it is told to say.
type told struct {
	modelTable
	stats func(tokenrange.Split) scan.ReadStats
}

func (s *told) Read(ctx context.Context, split tokenrange.Split, columns []string, emit func(arrow.Record) error) (scan.ReadStats, error) {
	_, err := s.modelTable.Read(ctx, split, columns, emit)
	return s.stats(split), err
}

func TestAReceiptSaysWhatTheSplitWas(t *testing.T) {
	run := t.TempDir()
	for _, sub := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(run, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	stats := scan.ReadStats{Node: "n2", Consistency: "LOCAL_QUORUM", Pages: 7, Bytes: 99, Retries: 3, First: "k='a'", Last: "k='b'",
		Largest: []scan.Partition{{Key: "k='a'", Token: tokenrange.Int64Token(5), Rows: 2, Bytes: 20}}}
	source := &told{modelTable{rows: spread(10), page: 3}, func(tokenrange.Split) scan.ReadStats { return stats }}
	consumers := []scan.Consumer{filer{filepath.Join(run, "a")}, &keeper{}, filer{filepath.Join(run, "b")}}
	plan := evenPlan(t, 1, "n1", "n2")
	result, err := scan.Run(t.Context(), plan, source, consumers, fast(scan.Options{Dir: run}))
	if err != nil {
		t.Fatal(err)
	}
	got := result.Receipts[0]
	if got.Node != "n2" || got.Consistency != "LOCAL_QUORUM" || got.Pages != 7 || got.Bytes != 99 || got.Retries != 3 ||
		got.Rows != 10 || got.Attempts != 1 || got.First != "k='a'" || got.Last != "k='b'" || got.Ended.Before(got.Started) {
		t.Errorf("receipt is %+v", got)
	}
	if len(got.Largest) != 1 || got.Largest[0].Rows != 2 || len(result.Largest.ByBytes) != 1 {
		t.Errorf("largest are %+v in the receipt and %+v in the result", got.Largest, result.Largest)
	}

	var lines strings.Builder
	for _, v := range spread(10) {
		fmt.Fprintln(&lines, v)
	}
	digest := hash([]byte(lines.String()))
	id := plan.Splits[0].ID
	want := []scan.PartFile{{"a/" + id + ".part", int64(lines.Len()), digest}, {"b/" + id + ".part", int64(lines.Len()), digest}}
	if !slices.Equal(got.Files, want) {
		t.Errorf("files are %+v, not %+v", got.Files, want)
	}
	// As docs/format/ledger.md has it.
	if want := hash([]byte("10\n" + digest + "\n" + digest + "\n")); got.Digest != want {
		t.Errorf("digest is %s, not %s", got.Digest, want)
	}
}

func TestDamagedFilesAreFound(t *testing.T) {
	run := t.TempDir()
	result, err := scan.Run(t.Context(), evenPlan(t, 4, "a"), &modelTable{rows: spread(40), page: 7}, []scan.Consumer{filer{run}}, fast(scan.Options{Dir: run}))
	if err != nil {
		t.Fatal(err)
	}
	path := func(i int) string { return filepath.Join(run, result.Receipts[i].Files[0].Name) }
	if faults, err := scan.VerifyFiles(t.Context(), run, result.Receipts); err != nil || len(faults) != 0 {
		t.Fatalf("sound files: %v, %v", faults, err)
	}

	if err := os.Remove(path(0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path(2), 3); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path(3))
	if err != nil {
		t.Fatal(err)
	}
	text[5] ^= 1 // of the same size
	if err := os.WriteFile(path(3), text, 0o600); err != nil {
		t.Fatal(err)
	}

	sizes, err := scan.CheckFiles(run, result.Receipts)
	if err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 2 || sizes[0].Range != result.Receipts[0].Range || !errors.Is(sizes[0].Err, fs.ErrNotExist) ||
		sizes[1].Split != result.Receipts[2].Split || !errors.Is(sizes[1].Err, scan.ErrPartFile) {
		t.Errorf("by size: %+v", sizes)
	}
	digests, err := scan.VerifyFiles(t.Context(), run, result.Receipts)
	if err != nil {
		t.Fatal(err)
	}
	if len(digests) != 3 || digests[2].Range != result.Receipts[3].Range || !errors.Is(digests[2].Err, scan.ErrPartFile) {
		t.Errorf("by digest: %+v", digests)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := scan.VerifyFiles(cancelled, run, result.Receipts); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The largest partitions of a run, found from its receipts, are those that
// sorting all partitions gives, in whatever order splits are committed and
// however often the run is taken up again.
func TestTheLargestPartitionsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []scan.Partition
		for i, token := range spread(rapid.IntRange(0, 120).Draw(t, "partitions")) {
			all = append(all, scan.Partition{
				Key: fmt.Sprintf("k=%d", i), Token: tokenrange.Int64Token(token),
				Rows: int64(rapid.IntRange(1, 40).Draw(t, "rows")), Bytes: int64(rapid.IntRange(0, 60).Draw(t, "bytes")),
			})
		}
		source := &told{stats: func(s tokenrange.Split) scan.ReadStats {
			var l scan.Largest
			for _, p := range all {
				if s.Range.Contains(p.Token) {
					wanted := l.Wants(p.Rows, p.Bytes)
					if added := l.Add(p); added != wanted {
						t.Errorf("a partition was wanted: %t, and added: %t", wanted, added)
					}
				}
			}
			return scan.ReadStats{Largest: l.All()}
		}}
		plan := evenPlan(t, rapid.IntRange(1, 30).Draw(t, "splits"), "a", "b")
		result, err := scan.Run(context.Background(), plan, source, nil, fast(scan.Options{Workers: rapid.IntRange(1, 4).Draw(t, "workers")}))
		if err != nil {
			t.Fatal(err)
		}
		largest := func(size func(scan.Partition) int64, least int64) []scan.Partition {
			sorted := slices.DeleteFunc(slices.Clone(all), func(p scan.Partition) bool { return p.Rows < least })
			slices.SortStableFunc(sorted, func(a, b scan.Partition) int { return cmp.Compare(size(b), size(a)) })
			return sorted[:min(len(sorted), scan.LargestKept)]
		}
		byRows := largest(func(p scan.Partition) int64 { return p.Rows }, 2)
		byBytes := largest(func(p scan.Partition) int64 { return p.Bytes }, 0)
		for name, got := range map[string]scan.Largest{"result": result.Largest, "receipts": scan.LargestPartitions(result.Receipts)} {
			if !slices.Equal(got.ByRows, byRows) || !slices.Equal(got.ByBytes, byBytes) {
				t.Fatalf("by the %s:\n%v\n%v\nwant\n%v\n%v", name, got.ByRows, got.ByBytes, byRows, byBytes)
			}
		}
	})
}
