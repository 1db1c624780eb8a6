package tokensort

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// Rows in memory and those of merged runs tell the same of their keys, among them such as begin alike.
func TestRepeats(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "12345678", "123456789", "12345678\x00", "\x00\x00\x00\x00\x00\x00\x00\x00x"}), 0, 40).Draw(t, "keys")
		for _, memory := range []int64{1, 1 << 20} {
			s, err := NewSorter(Options{Dir: dir, Memory: memory, FanIn: 3})
			if err != nil {
				t.Fatal(err)
			}
			for i, k := range keys {
				if err := s.Add([]byte(k), fmt.Append(nil, i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Sort(t.Context()); err != nil {
				t.Fatal(err)
			}
			in, err := s.Open()
			if err != nil {
				t.Fatal(err)
			}
			r := NewRepeats(in)
			var key, value string
			rows := 0
			for ; ; rows++ {
				repeats, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if want := rows > 0 && key == string(r.Key()); repeats != want {
					t.Fatalf("row %d, %q behind %q: %v", rows, r.Key(), key, repeats)
				}
				if repeats && string(r.ValueBefore()) != value {
					t.Fatalf("row %d: value before is %q, not %q", rows, r.ValueBefore(), value)
				}
				key, value = string(r.Key()), string(r.Value())
			}
			if rows != len(keys) {
				t.Fatalf("%d rows of %d", rows, len(keys))
			}
			if err := errors.Join(in.Close(), s.Close()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
