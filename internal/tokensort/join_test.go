package tokensort

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// sliceStream gives rows from memory.
type sliceStream struct {
	rows   []pair
	at     int
	closed bool
}

func streamOf(rows []pair) *sliceStream { return &sliceStream{rows: rows, at: -1} }

func (s *sliceStream) Next() error {
	if s.at++; s.at >= len(s.rows) {
		return io.EOF
	}
	return nil
}
func (s *sliceStream) Key() []byte   { return s.rows[s.at].key }
func (s *sliceStream) Value() []byte { return s.rows[s.at].value }
func (s *sliceStream) Close() error  { s.closed = true; return nil }

func TestJoinFindsWhatAMapFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := sortedPairs(drawPairs(t, "left"))
		var rights []Stream
		var models []map[string]string
		for range rapid.IntRange(0, 3).Draw(t, "rights") {
			right := sortedPairs(drawPairs(t, "right"))
			model := map[string]string{}
			for _, p := range right {
				model[string(p.key)] = string(p.value) // the last one counts
			}
			rights = append(rights, streamOf(right))
			models = append(models, model)
		}
		in := streamOf(left)
		j := NewJoin(in, nil, rights...)
		for i, want := range left {
			if err := j.Next(); err != nil || !bytes.Equal(j.Key(), want.key) || !bytes.Equal(j.Value(), want.value) {
				t.Fatalf("left row %d: %x %v", i, j.Key(), err)
			}
			for k, model := range models {
				value, ok := j.Right(k)
				if has, known := model[string(want.key)]; ok != known || string(value) != has {
					t.Fatalf("key %x in stream %d: %q %v, want %q %v", want.key, k, value, ok, has, known)
				}
			}
		}
		if err := j.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("behind the last row: %v", err)
		}
		if err := j.Close(); err != nil || !in.closed {
			t.Fatalf("not closed: %v", err)
		}
	})
}

func TestJoinByABeginningOfTheKey(t *testing.T) {
	left := streamOf([]pair{{[]byte("a1"), nil}, {[]byte("a2"), nil}, {[]byte("b1"), nil}})
	right := streamOf([]pair{{[]byte("a"), []byte("A")}})
	j := NewJoin(left, func([]byte) (int, error) { return 1, nil }, right)
	for i, want := range []bool{true, true, false} {
		if err := j.Next(); err != nil {
			t.Fatal(err)
		}
		if _, ok := j.Right(0); ok != want {
			t.Fatalf("row %d joined: %v", i, ok)
		}
	}
}

func TestJoinRefusesStreamsOutOfOrder(t *testing.T) {
	up, down := []pair{{[]byte("a"), nil}, {[]byte("c"), nil}}, []pair{{[]byte("b"), nil}, {[]byte("a"), nil}}
	for name, j := range map[string]*Join{"left": NewJoin(streamOf(down), nil), "right": NewJoin(streamOf(up), nil, streamOf(down))} {
		err := j.Next()
		if err == nil {
			err = j.Next()
		}
		if !errors.Is(err, ErrOrder) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
