package tokensort

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

type pair struct{ key, value []byte }

// keys draws keys that often are equal, begin alike, or begin with a token of 64 bits.
func keys() *rapid.Generator[[]byte] {
	return rapid.OneOf(
		rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 255}), 0, 12),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 7}), 0, 3), func(b []byte) []byte { return append(make([]byte, 8), b...) }),
		rapid.SliceOfN(rapid.Byte(), 0, 40),
	)
}

func drawPairs(t *rapid.T, label string) []pair {
	all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pair { return pair{key: keys().Draw(t, "key")} }), 0, 300).Draw(t, label)
	for i := range all {
		all[i].value = fmt.Appendf(nil, "%s%d", label, i)
	}
	return all
}

// sortedPairs is the model: a stable sort in memory.
func sortedPairs(pairs []pair) []pair {
	pairs = slices.Clone(pairs)
	slices.SortStableFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	return pairs
}

func collect(t interface{ Fatal(...any) }, s Stream) []pair {
	var got []pair
	err := Each(context.Background(), s, func(key, value []byte) error {
		got = append(got, pair{bytes.Clone(key), bytes.Clone(value)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func samePairs(a, b []pair) bool {
	return slices.EqualFunc(a, b, func(a, b pair) bool { return bytes.Equal(a.key, b.key) && bytes.Equal(a.value, b.value) })
}

func TestSortsAsInMemoryWhateverTheLimit(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		pairs := drawPairs(t, "rows")
		opts := Options{Dir: dir, Memory: rapid.Int64Range(1, 20_000).Draw(t, "memory"), FanIn: rapid.IntRange(2, 5).Draw(t, "fan-in")}
		s, err := NewSorter(opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			if err := s.Add(p.key, p.value); err != nil {
				t.Fatal(err)
			}
		}
		open := func() (Stream, error) { return s.Open() }
		order := func(pairs []pair) []pair { return pairs }
		if rapid.Bool().Draw(t, "in any order") {
			open, order = func() (Stream, error) { return s.Unsorted(context.Background()) }, sortedPairs
		} else if err := s.Sort(context.Background()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // as often as it is opened
			in, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := order(collect(t, in)), sortedPairs(pairs); !samePairs(got, want) {
				t.Fatalf("got %d rows %q, want %d %q", len(got), got, len(want), want)
			}
		}
		if s.Rows() != int64(len(pairs)) {
			t.Fatalf("%d rows counted of %d", s.Rows(), len(pairs))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("left behind: %v %v", left, err)
		}
	})
}

func writeRun(t interface{ Fatal(...any) }, path string, pairs []pair) {
	err := WriteRun(path, func(w *Writer) error {
		for _, p := range pairs {
			if err := w.Add(p.key, p.value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMergeRunsKeepsTheOrderOfPathsAndTheRuns(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		work, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		var all []pair
		var paths []string
		for i := range rapid.IntRange(0, 9).Draw(t, "runs") {
			pairs := drawPairs(t, fmt.Sprintf("run%d-", i))
			all = append(all, pairs...)
			paths = append(paths, filepath.Join(work, fmt.Sprint(i)))
			writeRun(t, paths[i], sortedPairs(pairs))
		}
		s, err := MergeRuns(Options{Dir: work, FanIn: 2}, paths)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Sort(context.Background()); err != nil {
			t.Fatal(err)
		}
		in, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := collect(t, in), sortedPairs(all); !samePairs(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(work)
		if err != nil || len(left) != len(paths) {
			t.Fatalf("%d runs became %v %v", len(paths), left, err)
		}
	})
}

func TestConcatRefusesRunsThatOverlap(t *testing.T) {
	dir := t.TempDir()
	a, b, none := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "none")
	writeRun(t, a, []pair{{[]byte("a"), nil}, {[]byte("c"), nil}})
	writeRun(t, b, []pair{{[]byte("c"), []byte("x")}, {[]byte("d"), nil}})
	writeRun(t, none, nil)
	if got := collect(t, Concat(none, a, none, b)); len(got) != 4 || string(got[2].value) != "x" {
		t.Fatalf("got %q", got)
	}
	err := Each(t.Context(), Concat(b, none, a), func([]byte, []byte) error { return nil })
	if !errors.Is(err, ErrOrder) {
		t.Fatalf("overlapping runs gave %v", err)
	}
}

func TestWriterRefusesDescendingKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	err := WriteRun(path, func(w *Writer) error {
		return errors.Join(w.Add([]byte("b"), nil), w.Add([]byte("a"), nil))
	})
	if !errors.Is(err, ErrOrder) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a broken run is left: %v", err)
	}
}

func TestFullDiskNamesTheDirectory(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no device that is always full here")
	}
	defer full.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "run")
	err = WriteRun(path, func(*Writer) error {
		_, err := full.Write([]byte("x"))
		return err
	})
	if !errors.Is(err, ErrDiskFull) || !errors.Is(err, syscall.ENOSPC) || !bytes.Contains([]byte(err.Error()), []byte(dir)) {
		t.Fatalf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
}

func TestSorterEndsWithItsContext(t *testing.T) {
	s, err := NewSorter(Options{Dir: t.TempDir(), Memory: 1, FanIn: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 5 {
		if err := s.Add([]byte{byte(9 - i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Sort(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}
