package tokenrange_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"manifest/tokenrange"
)

// TestTokensOfCassandra compares with what Cassandra 5.0.6's own partitioners gave for keys of
// all lengths; testdata/CassandraVectors.java wrote the file.
func TestTokensOfCassandra(t *testing.T) {
	data, err := os.ReadFile("testdata/tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ Key, Murmur3, Random string }
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 100 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		key, err := hex.DecodeString(v.Key)
		if err != nil {
			t.Fatal(err)
		}
		if got := tokenrange.Murmur3.Token(key).String(); got != v.Murmur3 {
			t.Errorf("Murmur3 token of %s = %s, want %s", v.Key, got, v.Murmur3)
		}
		if got := tokenrange.Random.Token(key).String(); got != v.Random {
			t.Errorf("Random token of %s = %s, want %s", v.Key, got, v.Random)
		}
	}
}

func TestTokensOfKnownKeys(t *testing.T) {
	tests := []struct {
		name        string
		partitioner tokenrange.Partitioner
		key         []byte
		want        string
	}{
		// Of tables in a real cluster.
		{"int 1", tokenrange.Murmur3, []byte{0, 0, 0, 1}, "-4069959284402364209"},
		{"int 4317", tokenrange.Murmur3, []byte{0, 0, 0x10, 0xdd}, "-9223297786983086897"},
		{"frodo", tokenrange.Murmur3, []byte("frodo"), "6564497868996989420"},
		{"text 1", tokenrange.Murmur3, []byte("1"), "8213365047359667313"},
		{"(e, f)", tokenrange.Murmur3, tokenrange.PartitionKey([]byte("e"), []byte("f")), "5252503819450983638"},
		{"(a, b)", tokenrange.Murmur3, tokenrange.PartitionKey([]byte("a"), []byte("b")), "7470152180878494447"},
		// By hand: int.from_bytes(hashlib.md5(key).digest(), "big", signed=True), made positive.
		{"MD5 of frodo, negative", tokenrange.Random, []byte("frodo"), "19977320417370825342304802081136505459"},
		{"MD5 of a, positive", tokenrange.Random, []byte("a"), "16955237001963240173058271559858726497"},
	}
	for _, test := range tests {
		if got := test.partitioner.Token(test.key).String(); got != test.want {
			t.Errorf("%s: token %s, want %s", test.name, got, test.want)
		}
	}
}

func TestTokenDoesNotAllocate(t *testing.T) {
	key := bytes.Repeat([]byte{0xf1}, 77)
	for _, p := range []tokenrange.Partitioner{tokenrange.Murmur3, tokenrange.Random} {
		if n := testing.AllocsPerRun(100, func() { p.Token(key) }); n != 0 {
			t.Errorf("%s: %v allocations for a token", p.Name(), n)
		}
	}
}

func TestTokensOfKeysAreOnTheRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := partitioner().Draw(t, "partitioner")
		key := rapid.SliceOfN(rapid.Byte(), 1, 60).Draw(t, "key")
		if tok := p.Token(key); !p.Ring().Contains(tok) {
			t.Fatalf("token %s of % x is not on the ring %s", tok, key, p.Ring())
		}
	})
}

func TestPartitionerByName(t *testing.T) {
	tests := []struct {
		class      string
		want       tokenrange.Partitioner
		start, end string
	}{
		{"org.apache.cassandra.dht.Murmur3Partitioner", tokenrange.Murmur3, "-9223372036854775808", "9223372036854775807"},
		{"Murmur3Partitioner", tokenrange.Murmur3, "-9223372036854775808", "9223372036854775807"},
		{"org.apache.cassandra.dht.RandomPartitioner", tokenrange.Random, "-1", "170141183460469231731687303715884105728"},
		{"RandomPartitioner", tokenrange.Random, "-1", "170141183460469231731687303715884105728"},
	}
	for _, test := range tests {
		got, err := tokenrange.PartitionerByName(test.class)
		if err != nil || got != test.want {
			t.Errorf("PartitionerByName(%q) = %v, %v", test.class, got, err)
		}
		if want := "org.apache.cassandra.dht." + strings.TrimPrefix(test.class, "org.apache.cassandra.dht."); got.Name() != want {
			t.Errorf("Name = %q, want %q", got.Name(), want)
		}
		if ring := got.Ring(); ring.Start.String() != test.start || ring.End.String() != test.end {
			t.Errorf("%s: ring %s, want (%s, %s]", test.class, ring, test.start, test.end)
		}
	}
	for _, class := range []string{"", "org.apache.cassandra.dht.ByteOrderedPartitioner", "murmur3partitioner"} {
		_, err := tokenrange.PartitionerByName(class)
		if !errors.Is(err, tokenrange.ErrUnsupportedPartitioner) || !strings.Contains(err.Error(), `"`+class+`"`) {
			t.Errorf("PartitionerByName(%q): error %v does not name it", class, err)
		}
	}
	if (tokenrange.Partitioner{}) != tokenrange.Murmur3 {
		t.Error("the zero Partitioner is not Murmur3")
	}
}

func TestPartitionerParse(t *testing.T) {
	tests := []struct {
		partitioner tokenrange.Partitioner
		text        string
		err         error
	}{
		{tokenrange.Murmur3, "-9223372036854775808", nil}, // the exclusive start
		{tokenrange.Murmur3, "0", nil},
		{tokenrange.Murmur3, "9223372036854775807", nil},
		{tokenrange.Murmur3, "9223372036854775808", tokenrange.ErrOutOfRing},
		{tokenrange.Murmur3, "-9223372036854775809", tokenrange.ErrOutOfRing},
		{tokenrange.Murmur3, "north", tokenrange.ErrMalformed},
		{tokenrange.Random, "-1", nil},
		{tokenrange.Random, "-2", tokenrange.ErrOutOfRing},
		{tokenrange.Random, "170141183460469231731687303715884105728", nil},
		{tokenrange.Random, "170141183460469231731687303715884105729", tokenrange.ErrOutOfRing},
		{tokenrange.ExplicitPartitioner("com.example.Own"), "170141183460469231731687303715884105729", nil},
	}
	for _, test := range tests {
		got, err := test.partitioner.Parse(test.text)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: Parse(%q): error %v, want %v", test.partitioner.Name(), test.text, err, test.err)
		} else if err == nil && got.String() != test.text {
			t.Errorf("%s: Parse(%q) = %s", test.partitioner.Name(), test.text, got)
		} else if err != nil && !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: Parse(%q): error %v does not name it", test.partitioner.Name(), test.text, err)
		}
	}
}

func TestExplicitPartitionerHashesNothing(t *testing.T) {
	p := tokenrange.ExplicitPartitioner("com.example.Own")
	if p.Hashes() || !tokenrange.Murmur3.Hashes() || !tokenrange.Random.Hashes() {
		t.Error("Hashes is wrong")
	}
	if p.Name() != "com.example.Own" {
		t.Errorf("Name = %q", p.Name())
	}
	defer func() {
		if recover() == nil {
			t.Error("Token did not panic")
		}
	}()
	p.Token([]byte("key"))
}

func TestPartitionKey(t *testing.T) {
	tests := []struct {
		name       string
		components [][]byte
		want       string
	}{
		{"none", nil, ""},
		{"one column is its value", [][]byte{[]byte("ab")}, "6162"},
		{"one empty column", [][]byte{{}}, ""},
		{"two columns", [][]byte{[]byte("e"), []byte("f")}, "00016500" + "00016600"},
		{"an empty and a long column", [][]byte{{}, bytes.Repeat([]byte{1}, 258)}, "000000" + "0102" + strings.Repeat("01", 258) + "00"},
	}
	for _, test := range tests {
		if got := hex.EncodeToString(tokenrange.PartitionKey(test.components...)); got != test.want {
			t.Errorf("%s: key %s, want %s", test.name, got, test.want)
		}
		got := tokenrange.AppendPartitionKey([]byte{0xaa}, test.components...)
		if hex.EncodeToString(got) != "aa"+test.want {
			t.Errorf("%s: appended %x", test.name, got)
		}
	}

	room := make([]byte, 0, 64)
	device, day := []byte("device-7"), []byte{0x80, 0, 0x4d, 0x12}
	if n := testing.AllocsPerRun(100, func() { room = tokenrange.AppendPartitionKey(room[:0], device, day) }); n != 0 {
		t.Errorf("%v allocations where there is room", n)
	}
}

func TestSplitPartitionKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 20), 1, 5).Draw(t, "columns")
		got, err := tokenrange.SplitPartitionKey(nil, tokenrange.PartitionKey(columns...), len(columns))
		if err != nil || !slices.EqualFunc(got, columns, bytes.Equal) {
			t.Fatalf("%x, %v, want %x", got, err, columns)
		}
	})
	for _, key := range []string{"", "0001", "00016500", "0001650000016600ff", "0001650100016600", "000165000002660"} {
		b, _ := hex.DecodeString(key)
		if got, err := tokenrange.SplitPartitionKey(nil, b, 2); !errors.Is(err, tokenrange.ErrMalformed) {
			t.Errorf("%s: %x, %v", key, got, err)
		}
	}
}

func TestPartitionKeyLimit(t *testing.T) {
	longest := make([]byte, tokenrange.MaxKeyComponent)
	if got := len(tokenrange.PartitionKey(longest, nil)); got != math.MaxUint16+6 {
		t.Errorf("key of %d bytes", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a column of 65,536 bytes did not panic")
		}
	}()
	tokenrange.PartitionKey(append(longest, 0), nil)
}
