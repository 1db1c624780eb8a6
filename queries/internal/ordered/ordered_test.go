package ordered

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDocumentedBytes(t *testing.T) {
	for _, tc := range []struct {
		name string
		got  []byte
		want string
	}{
		{"tinyint -1", AppendInt(nil, -1, 1), "7f"},
		{"smallint 1", AppendInt(nil, 1, 2), "8001"},
		{"int 7", AppendInt(nil, 7, 4), "80000007"},
		{"smallest bigint", AppendInt(nil, math.MinInt64, 8), "0000000000000000"},
		{"text a", AppendBytes(nil, []byte("a")), "6100"},
		{"text with a zero byte", AppendBytes(nil, []byte("a\x00")), "6100ff00"},
		{"empty text", AppendBytes(nil, nil), "00"},
		{"1.0", AppendFloat(nil, 1), "bff0000000000000"},
		{"-0", AppendFloat(nil, math.Copysign(0, -1)), "7fffffffffffffff"},
		{"NaN of other bits", AppendFloat(nil, math.Float64frombits(0xfff8000000000001)), "ffffffffffffffff"},
	} {
		if got := hex.EncodeToString(tc.got); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestIntOrderAndBack(t *testing.T) {
	for _, width := range []int{1, 2, 4, 8} {
		bits := uint(64 - 8*width)
		rapid.Check(t, func(t *rapid.T) {
			a := rapid.Int64().Draw(t, "a") << bits >> bits
			b := rapid.Int64().Draw(t, "b") << bits >> bits
			x, y := AppendInt(nil, a, width), AppendInt(nil, b, width)
			if got, want := bytes.Compare(x, y), cmp.Compare(a, b); got != want {
				t.Fatalf("order of %d and %d: %d, want %d", a, b, got, want)
			}
			back, rest, err := Int(append(x, 9), width)
			if err != nil || back != a || len(rest) != 1 {
				t.Fatalf("%d came back as %d, rest %x, error %v", a, back, rest, err)
			}
		})
	}
}

func TestFloatOrderAndBack(t *testing.T) {
	inf := math.Inf(1)
	ascending := []float64{-inf, -math.MaxFloat64, -1, -5e-324, math.Copysign(0, -1), 0, 5e-324, 1, math.MaxFloat64, inf, math.NaN()}
	for i, v := range ascending {
		if i > 0 && FloatBits(ascending[i-1]) >= FloatBits(v) {
			t.Errorf("%v is not below %v", ascending[i-1], v)
		}
		back, rest, err := Float(AppendFloat(nil, v))
		same := math.Float64bits(back) == math.Float64bits(v) || back != back && v != v
		if err != nil || len(rest) != 0 || !same {
			t.Errorf("%v came back as %v, error %v", v, back, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		if a == b {
			return // The two zeros are told apart.
		}
		if got := cmp.Compare(FloatBits(a), FloatBits(b)); got != cmp.Compare(a, b) {
			t.Fatalf("order of %v and %v: %d", a, b, got)
		}
	})
}

func TestBytesOrderAndBack(t *testing.T) {
	// Few different bytes, so that one value is often the prefix of the other.
	value := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xfe, 0xff}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		nextA, nextB := rapid.SampledFrom([]byte{Null, Present}).Draw(t, "behind a"), rapid.SampledFrom([]byte{Null, Present}).Draw(t, "behind b")
		x, y := append(AppendBytes(nil, a), nextA), append(AppendBytes(nil, b), nextB)
		want := cmp.Or(bytes.Compare(a, b), cmp.Compare(nextA, nextB))
		if got := bytes.Compare(x, y); got != want {
			t.Fatalf("order of %x and %x: %d, want %d", x, y, got, want)
		}
		back, rest, err := Bytes([]byte("dst"), x)
		if err != nil || !bytes.Equal(back, append([]byte("dst"), a...)) || !bytes.Equal(rest, []byte{nextA}) {
			t.Fatalf("%x came back as %x, rest %x, error %v", a, back, rest, err)
		}
	})
}

func TestTruncatedBytesAreAnError(t *testing.T) {
	if _, _, err := Int([]byte{1, 2, 3}, 4); err == nil {
		t.Error("int of 3 bytes")
	}
	if _, _, err := Float(make([]byte, 7)); err == nil {
		t.Error("float of 7 bytes")
	}
	for _, src := range []string{"", "a", "a\x00\xff", "a\x00\xffb"} {
		if v, _, err := Bytes(nil, []byte(src)); err == nil {
			t.Errorf("bytes %q read as %q", src, v)
		}
	}
	for _, src := range []string{"", "short", strings.Repeat("x", 17)} {
		if _, err := TimeUUID(nil, []byte(src)); err == nil {
			t.Errorf("timeuuid of %d bytes", len(src))
		}
		if _, err := Inet(nil, []byte(src)); err == nil {
			t.Errorf("address of %d bytes", len(src))
		}
	}
}
