package tokensort

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

func TestSeekFindsTheFirstRowNotBelow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	// Blocks of 64 KiB: some of equal keys, which go over several blocks.
	var pairs []pair
	for i := range 60 {
		for j := range 1 + i%4*200 {
			pairs = append(pairs, pair{[]byte{byte(i * 4)}, bytes.Repeat([]byte{byte(j)}, 300)})
		}
	}
	writeRun(t, path, pairs)
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(r.index) < 20 {
		t.Fatalf("%d blocks test nothing", len(r.index))
	}
	rapid.Check(t, func(t *rapid.T) {
		key := []byte{rapid.Byte().Draw(t, "key")}
		if err := r.Seek(key); err != nil {
			t.Fatal(err)
		}
		var want []pair
		for _, p := range pairs {
			if bytes.Compare(p.key, key) >= 0 {
				want = append(want, p)
			}
		}
		for i := range min(len(want), 3) {
			if err := r.Next(); err != nil || !bytes.Equal(r.Key(), want[i].key) || !bytes.Equal(r.Value(), want[i].value) {
				t.Fatalf("row %d from %v on is %v %v, %v", i, key, r.Key(), r.Value()[:1], err)
			}
		}
		if len(want) == 0 {
			if err := r.Next(); !errors.Is(err, io.EOF) {
				t.Fatalf("behind the last row: %v", err)
			}
		}
	})
}

// Every flipped bit and every cut is found, or makes no difference to the rows.
func TestDamageIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	var pairs []pair
	for i := range 40 {
		pairs = append(pairs, pair{[]byte{1, byte(i)}, bytes.Repeat([]byte{byte(i)}, i)})
	}
	writeRun(t, path, pairs)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, at int, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		var got []pair
		for err == nil {
			if err = r.Next(); err == nil {
				got = append(got, pair{bytes.Clone(r.Key()), bytes.Clone(r.Value())})
			}
		}
		if r != nil {
			r.Close()
		}
		if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s %d: %v after %d rows", what, at, err, len(got))
		}
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 1 << (i % 8)
		check("flip at", i, damaged)
		check("cut at", i, whole[:i])
	}
}

func TestKeysHaveTheOrderOfTheRing(t *testing.T) {
	texts := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 255}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		ta, tb := rapid.Int64().Draw(t, "token a"), rapid.SampledFrom([]int64{-1, 0, 1}).Draw(t, "step")
		a, b := tokenrange.Int64Token(ta), tokenrange.Int64Token(ta+tb)
		ka, kb := texts.Draw(t, "key a"), texts.Draw(t, "key b")
		want := a.Compare(b)
		if want == 0 {
			want = bytes.Compare(ka, kb)
		}
		ea, eb := AppendKey(nil, a, ka), AppendKey(nil, b, kb)
		more := texts.Draw(t, "more")
		longer := append(bytes.Clone(ea), more...)
		if got := bytes.Compare(ea, eb); got != want {
			t.Fatalf("%v %x and %v %x compare as %d, not %d", a, ka, b, kb, got, want)
		}
		if want != 0 && bytes.Compare(longer, eb) != want {
			t.Fatalf("%x with more behind it compares otherwise with %x", ea, eb)
		}
		if n, err := KeyLen(longer); err != nil || n != len(ea) {
			t.Fatalf("the key of %x has %d bytes, not %d: %v", longer, n, len(ea), err)
		}
		if back, err := PartitionKey(nil, longer); err != nil || !bytes.Equal(back, ka) {
			t.Fatalf("%x came back as %x: %v", ka, back, err)
		}
	})
}
