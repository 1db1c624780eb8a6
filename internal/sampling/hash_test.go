package sampling

import (
	"errors"
	"math/big"
	"testing"
)

// The numbers are of python-xxhash 3.x: xxhash.xxh3_128_intdigest(salt + b"\0" + domain + b"\0" + data) >> 64, shifted once more for
// sample hashes and signed for groups.
func TestHashesAreThoseOfPython(t *testing.T) {
	for _, v := range []struct {
		salt, id string
		want     int64
	}{
		{"", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", 1434458202417331418},
		{"2025", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", 2535899687523453926},
		{"ß", "00000000-0000-1000-8000-000000000000", 2137480698706657054},
	} {
		if got := SampleHash(v.salt, []byte(v.id)); got != v.want {
			t.Errorf("sample hash of %s with salt %q: %d, want %d", v.id, v.salt, got, v.want)
		}
	}
	splits, err := ParseSplits("train=0.8,validation=0.1,test=0.1")
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) []byte { return []byte(s) }
	for _, v := range []struct {
		values [][]byte
		group  int64
		salt   string
		bucket uint64
		split  string
	}{
		{[][]byte{text("dev-17")}, 5936109563525110689, "", 574147162934526578, "train"},
		{[][]byte{text("dev-17")}, 5936109563525110689, "2025", 16633588103443627694, "test"},
		{[][]byte{text("dev-17"), text("2025-06-01")}, 8936428267068911233, "", 1118024059584221729, "train"},
		{[][]byte{nil, text("ß")}, -5138846805062418514, "2025", 5103572816795504503, "train"},
		{[][]byte{nil, nil}, -3068189239442192837, "", 9713201627622754486, "train"},
		{[][]byte{{}}, 1929556784385790630, "", 15655111536534856191, "validation"},
	} {
		key, ok := GroupKey(nil, v.values...)
		if !ok {
			key = SingleKey(nil, []byte("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"))
		}
		if got := GroupID(key); got != v.group {
			t.Errorf("group %q: %d, want %d", key, got, v.group)
		}
		if got := bucket(v.salt, v.group); got != v.bucket {
			t.Errorf("bucket of %q with salt %q: %d, want %d", key, v.salt, got, v.bucket)
		}
		if got := splits[newSplitter(v.salt, splits).of(v.group)].Name; got != v.split {
			t.Errorf("split of %q with salt %q: %s, want %s", key, v.salt, got, v.split)
		}
	}
}

func TestSharesAreExact(t *testing.T) {
	splits, err := ParseSplits("a=10%,b=0.2,c=0.3,d=.4")
	if err != nil {
		t.Fatal(err)
	}
	// floor(0.1 * 2^64), floor(0.3 * 2^64), floor(0.6 * 2^64), by hand with a calculator of long numbers.
	want := []uint64{1844674407370955161, 5534023222112865484, 11068046444225730969}
	for i, got := range newSplitter("", splits).thresholds {
		if got != want[i] {
			t.Errorf("threshold %d is %d, want %d", i, got, want[i])
		}
	}
	tenth, err := ParseShare("10%")
	if err != nil || threshold(tenth.rat(), 63).Cmp(big.NewInt(922337203685477580)) != 0 {
		t.Errorf("a tenth of 2^63 is %v %v", threshold(tenth.rat(), 63), err)
	}
}

func TestWhatIsNoSplitIsRefused(t *testing.T) {
	for _, s := range []string{"", "train", "train=1.1", "train=0.8,test=0.1", "train=0.5,train=0.5", "tr/ain=1", "train=-1", "train=1e0", "=1", "train=0.3333333333"} {
		if splits, err := ParseSplits(s); !errors.Is(err, ErrOptions) {
			t.Errorf("%q gave %v %v", s, splits, err)
		}
	}
}
