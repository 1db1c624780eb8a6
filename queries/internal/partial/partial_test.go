package partial

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type entry struct{ key, state string }

// write writes entries to a file and returns its path.
func write(t testing.TB, h Header, entries []entry) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, encode(t, h, entries), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func encode(t testing.TB, h Header, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Add([]byte(e.key), []byte(e.state)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read reads a file to its end.
func read(path string) (h Header, entries []entry, err error) {
	r, err := Open(path)
	if err != nil {
		return h, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		switch err := r.Next(); err {
		case nil:
			entries = append(entries, entry{string(r.Key()), string(r.State())})
		case io.EOF:
			if again := r.Next(); again != io.EOF {
				return h, nil, fmt.Errorf("behind the end: %w", again)
			}
			return r.Header, entries, nil
		default:
			return h, nil, err
		}
	}
}

func TestEntriesComeBack(t *testing.T) {
	large := strings.Repeat("x", 3*blockTarget)
	var many []entry
	for i := range 20_000 {
		many = append(many, entry{fmt.Sprintf("key %010d", i*i), fmt.Sprint(i * 7919)})
	}
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(i * i * i >> 7)
	}
	for name, entries := range map[string][]entry{
		"none":              nil,
		"one":               {{"k", "s"}},
		"empty":             {{"", ""}, {"a", ""}},
		"prefixes":          {{"a", "1"}, {"a\x00", "2"}, {"ab", "3"}, {"b", "4"}},
		"larger than block": {{"a", large}, {"a" + large, string(noise)}, {"b", ""}},
		"many":              many,
	} {
		t.Run(name, func(t *testing.T) {
			want := Header{Order: ByKey, Query: "query", Split: "split-1"}
			h, got, err := read(write(t, want, entries))
			if err != nil {
				t.Fatal(err)
			}
			if h != want || !slices.Equal(got, entries) {
				t.Errorf("header %v, %d entries, want %v, %d", h, len(got), want, len(entries))
			}
		})
	}
}

// The bytes were put together by hand from docs/format/partials.md, with the checksums of Python's xxhash.
func TestDocumentedFile(t *testing.T) {
	want := "4d46535450415254" + "01" + "00" + "00000001" + "00000002" + "71" + "7331" + "59c1ac67f481bee9" + // header
		"00000009" + "00000009" + "00000002" + "12f937e94ad1dc33" + "0001610178" + "01016200" + // block
		"00000008" + "00000000" + "00000000" + "84f863575b6b71db" + "0000000000000002" // end
	got := encode(t, Header{Order: ByKey, Query: "q", Split: "s1"}, []entry{{"a", "x"}, {"ab", ""}})
	if hex.EncodeToString(got) != want {
		t.Errorf("file\n%x, want\n%s", got, want)
	}
}

func TestTokenOrderIsKept(t *testing.T) {
	entries := []entry{{"b", "1"}, {"a", "2"}, {"b", "3"}}
	_, got, err := read(write(t, Header{Order: ByToken}, entries))
	if err != nil || !slices.Equal(got, entries) {
		t.Errorf("entries %v, error %v", got, err)
	}
}

func TestKeysOutOfOrder(t *testing.T) {
	for _, entries := range [][]entry{{{"b", ""}, {"a", ""}}, {{"a", ""}, {"a", ""}}, {{"ab", ""}, {"a", ""}}} {
		if _, got, err := read(write(t, Header{Order: ByKey}, entries)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("entries %v, error %v", got, err)
		}
	}
}

// Every bit matters: a file with one flipped, or cut short, or with something behind it, is an error.
func TestDamage(t *testing.T) {
	var entries []entry
	for i := range 10 {
		entries = append(entries, entry{fmt.Sprintf("key %02d", i), strings.Repeat("s", i)})
	}
	whole := encode(t, Header{Order: ByKey, Query: "count by device_id", Split: "s"}, entries)
	path := filepath.Join(t.TempDir(), "file")
	check := func(what string, file []byte) {
		t.Helper()
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, got, err := read(path); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %d entries, error %v", what, len(got), err)
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v does not name the file", what, err)
		}
	}
	for n := range whole {
		check(fmt.Sprintf("cut to %d bytes", n), whole[:n])
	}
	for i := range 8 * len(whole) {
		damaged := bytes.Clone(whole)
		damaged[i/8] ^= 1 << (i % 8)
		check(fmt.Sprintf("bit %d of %d bytes", i, len(whole)), damaged)
	}
	check("a byte more", append(bytes.Clone(whole), 0))
	check("twice", append(bytes.Clone(whole), whole...))
}

// join is a Combine that sorts the states, so that the result does not depend on the order.
func join(_ []byte, states [][]byte) ([]byte, error) {
	var parts []string
	for _, s := range states {
		parts = append(parts, strings.Split(string(s), ",")...)
	}
	slices.Sort(parts)
	return []byte(strings.Join(parts, ",")), nil
}

func TestMergeAgreesWithMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := map[string][]string{}
		var paths []string
		for f := range rapid.IntRange(0, 12).Draw(rt, "files") {
			keys := rapid.SliceOfNDistinct(rapid.StringMatching("[ab]{0,3}"), 0, 8, rapid.ID).Draw(rt, "keys")
			slices.Sort(keys)
			var entries []entry
			for _, k := range keys {
				state := fmt.Sprintf("%02d", f)
				want[k] = append(want[k], state)
				entries = append(entries, entry{k, state})
			}
			paths = append(paths, write(t, Header{Query: "q"}, entries))
		}
		temp := t.TempDir()
		m := Merger{TempDir: temp, FanIn: rapid.IntRange(2, 5).Draw(rt, "fan-in"), Query: "q", Combine: join}
		last := ""
		err := m.Merge(t.Context(), rapid.Permutation(paths).Draw(rt, "order"), func(key, state []byte) error {
			k := string(key)
			if k <= last && last != "" {
				rt.Fatalf("key %q after %q", k, last)
			}
			last = k
			if got := strings.Join(want[k], ","); got != string(state) {
				rt.Fatalf("key %q has %q, want %q", k, state, got)
			}
			delete(want, k)
			return nil
		})
		if err != nil || len(want) > 0 {
			rt.Fatalf("%d keys missing, error %v", len(want), err)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			rt.Fatalf("%d temporary files are left", len(left))
		}
	})
}

func TestMergeStops(t *testing.T) {
	a, b := write(t, Header{Query: "q"}, []entry{{"k", "1"}}), write(t, Header{Query: "q"}, []entry{{"k", "2"}})
	other := write(t, Header{Query: "other"}, nil)
	byToken := write(t, Header{Query: "q", Order: ByToken}, nil)
	wrong := errors.New("wrong")
	nothing := func(_, _ []byte) error { return nil }
	done, cancel := context.WithCancelCause(t.Context())
	cancel(wrong)
	for name, tc := range map[string]struct {
		ctx     context.Context
		paths   []string
		combine Combine
		emit    Emit
		want    error
	}{
		"at an error of emit":         {t.Context(), []string{a}, join, func(_, _ []byte) error { return wrong }, wrong},
		"at an error of combine":      {t.Context(), []string{a, b}, func([]byte, [][]byte) ([]byte, error) { return nil, wrong }, nothing, wrong},
		"when the context is done":    {done, []string{a}, join, nothing, wrong},
		"at a file of another query":  {t.Context(), []string{a, other}, join, nothing, ErrOtherQuery},
		"at a file in token order":    {t.Context(), []string{a, byToken}, join, nothing, ErrOtherQuery},
		"at a file that is not there": {t.Context(), []string{a, a + "x"}, join, nothing, os.ErrNotExist},
		"in the first of two passes":  {t.Context(), []string{a, b, a + "x"}, join, nothing, os.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			m := Merger{TempDir: t.TempDir(), FanIn: 2, Query: "q", Combine: tc.combine}
			if err := m.Merge(tc.ctx, tc.paths, tc.emit); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if left, _ := os.ReadDir(m.TempDir); len(left) > 0 {
				t.Errorf("%d temporary files are left", len(left))
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add(encode(f, Header{Query: "q", Split: "s"}, []entry{{"a", "1"}, {"ab", "2"}}))
	f.Add(encode(f, Header{Order: ByToken}, nil))
	f.Fuzz(func(t *testing.T, file []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		h, entries, err := read(path)
		if err != nil {
			return
		}
		if _, again, err := read(write(t, h, entries)); err != nil || !slices.Equal(entries, again) {
			t.Errorf("%v come back as %v, error %v", entries, again, err)
		}
	})
}

// FuzzEntries reads arbitrary entries under right checksums.
func FuzzEntries(f *testing.F) {
	f.Add(uint32(2), []byte("\x00\x01a\x011\x01\x01b\x012"))
	f.Add(uint32(1), []byte("\x05\x01a\x011"))
	f.Fuzz(func(t *testing.T, entries uint32, raw []byte) {
		var b bytes.Buffer
		w, err := NewWriter(&b, Header{})
		if err != nil {
			t.Fatal(err)
		}
		w.raw, w.entries = raw, entries
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, got, err := read(path)
		if err == nil && uint64(len(got)) != uint64(entries) {
			t.Errorf("%d entries, want %d", len(got), entries)
		}
	})
}
