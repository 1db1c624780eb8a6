package primitive

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The encodings are those of org.apache.cassandra.utils.vint.VIntCoding, worked
// out by hand from its description.
var uvints = []struct {
	value uint64
	hex   string
}{
	{0, "00"}, {1, "01"}, {0x7f, "7f"},
	{0x80, "8080"}, {0x3fff, "bfff"},
	{0x4000, "c04000"}, {0x1fffff, "dfffff"},
	{0x200000, "e0200000"}, {0xfffffff, "efffffff"},
	{0x10000000, "f010000000"}, {0x7ffffffff, "f7ffffffff"},
	{0x800000000, "f80800000000"}, {0x3ffffffffff, "fbffffffffff"},
	{0x40000000000, "fc040000000000"}, {0x1ffffffffffff, "fdffffffffffff"},
	{0x2000000000000, "fe02000000000000"}, {0xffffffffffffff, "feffffffffffffff"},
	{0x100000000000000, "ff0100000000000000"}, {math.MaxUint64, "ffffffffffffffffff"},
}

func TestUvint(t *testing.T) {
	for _, c := range uvints {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendUvint(nil, c.value); !bytes.Equal(got, b) {
			t.Errorf("append %#x: %x, want %s", c.value, got, c.hex)
		}
		for _, behind := range [][]byte{nil, {0xff}, bytes.Repeat([]byte{0xaa}, 9)} {
			if v, n := Uvint(append(bytes.Clone(b), behind...)); v != c.value || n != len(b) {
				t.Errorf("%s with %d bytes behind: %#x of %d bytes, want %#x of %d", c.hex, len(behind), v, n, c.value, len(b))
			}
		}
		for cut := range len(b) {
			if v, n := Uvint(b[:cut]); v != 0 || n != 0 {
				t.Errorf("%s cut to %d bytes: %#x of %d bytes", c.hex, cut, v, n)
			}
		}
	}
}

func TestUvintReadsLongForms(t *testing.T) {
	if v, n := Uvint([]byte{0xff, 0, 0, 0, 0, 0, 0, 0, 5}); v != 5 || n != 9 {
		t.Errorf("got %d of %d bytes", v, n)
	}
	if v, n := Uvint([]byte{0xc0, 0, 7}); v != 7 || n != 3 {
		t.Errorf("got %d of %d bytes", v, n)
	}
}

func TestUvintRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64().Draw(t, "v") >> rapid.IntRange(0, 63).Draw(t, "shift")
		b := AppendUvint(nil, v)
		if got, n := Uvint(b); got != v || n != len(b) {
			t.Fatalf("%x: %d of %d bytes, want %d", b, got, n, v)
		}
		if got, n := Uvint(append(b, 1, 2, 3, 4, 5, 6, 7, 8, 9)); got != v || n != len(b) {
			t.Fatalf("%x with bytes behind: %d of %d bytes, want %d", b, got, n, v)
		}
	})
}

func TestZigzag(t *testing.T) {
	for v, want := range map[uint64]int64{0: 0, 1: -1, 2: 1, 3: -2, math.MaxUint64 - 1: math.MaxInt64, math.MaxUint64: math.MinInt64} {
		if got := Zigzag(v); got != want {
			t.Errorf("%d: %d, want %d", v, got, want)
		}
	}
}

func TestPartitionDeletion(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		unsigned  bool
		want      DeletionTime
		size      int
	}{
		{"legacy live", "7fffffff8000000000000000", false, Live, 12},
		{"legacy deleted", "56c9b1cd00052c1d0f1a2b3c", false, DeletionTime{0x52c1d0f1a2b3c, 0x56c9b1cd}, 12},
		{"legacy deleted before 1970", "00000001ffffffffffffffff", false, DeletionTime{-1, 1}, 12},
		{"legacy deletion time past 2038", "80000001000000000000000a", false, DeletionTime{10, InvalidDeletionTime}, 12},
		{"live", "80ff", true, Live, 1},
		{"deleted", "00052c1d0f1a2b3c56c9b1cd", true, DeletionTime{0x52c1d0f1a2b3c, 0x56c9b1cd}, 12},
		{"deleted past 2038", "00052c1d0f1a2b3cf0000000", true, DeletionTime{0x52c1d0f1a2b3c, 0xf0000000}, 12},
	} {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		d, n, err := PartitionDeletion(b, c.unsigned)
		if d != c.want || n != c.size || err != nil {
			t.Errorf("%s: %v of %d bytes, %v; want %v of %d", c.name, d, n, err, c.want, c.size)
		}
		for cut := range c.size {
			if _, n, err := PartitionDeletion(b[:cut], c.unsigned); n != 0 || err != nil {
				t.Errorf("%s cut to %d bytes: %d bytes, %v", c.name, cut, n, err)
			}
		}
	}
	if _, _, err := PartitionDeletion([]byte{0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, true); !errors.Is(err, ErrDeletionTime) {
		t.Errorf("unknown flags: %v", err)
	}
}

func TestDeletionTime(t *testing.T) {
	d := DeletionTime{100, 5}
	if !d.Deletes(100) || d.Deletes(101) {
		t.Error("a deletion wins against writes up to its own time, and no later ones")
	}
	if Live.Deletes(math.MinInt64+1) || !(DeletionTime{math.MinInt64, 7}).IsLive() {
		t.Error("a deletion at the minimal time deletes nothing")
	}
	if !(DeletionTime{101, 1}).Supersedes(d) || !(DeletionTime{100, 6}).Supersedes(d) || d.Supersedes(d) {
		t.Error("the later deletion supersedes, by the time of the write first")
	}
}

func TestReader(t *testing.T) {
	b, _ := hex.DecodeString("01" + "0203" + "04050607" + "ffffffff" + "0001020304050607" + "3ff8000000000000" + "8080" + "03" + "0002abcd" + "00000001ee" + "01dd" + "05")
	r := NewReader(b)
	if r.Uint8() != 1 || r.Uint16() != 0x203 || r.Uint32() != 0x4050607 || r.Int32() != -1 || r.Int64() != 0x1020304050607 ||
		r.Float64() != 1.5 || r.Uvint() != 128 || r.Vint() != -2 {
		t.Error("wrong number")
	}
	if !bytes.Equal(r.Bytes16(), []byte{0xab, 0xcd}) || !bytes.Equal(r.Bytes32(), []byte{0xee}) || !bytes.Equal(r.BytesV(), []byte{0xdd}) {
		t.Error("wrong bytes")
	}
	if r.Err() != nil || r.Len() != 1 || r.Offset() != len(b)-1 {
		t.Errorf("%v, %d left at %d", r.Err(), r.Len(), r.Offset())
	}
	if r.BytesV(); !errors.Is(r.Err(), ErrShort) {
		t.Errorf("length past the end: %v", r.Err())
	}
	if r.Uint8() != 0 || r.Uvint() != 0 || r.Length() != 0 || r.Bytes(0) != nil {
		t.Error("a value after the error")
	}
	if r := NewReader([]byte{0xff, 0xff, 0xff, 0xff}); r.Bytes32() != nil || r.Err() == nil {
		t.Error("a negative length is taken")
	}
}
