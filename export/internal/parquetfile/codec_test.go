package parquetfile

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// compressible draws bytes of all kinds: constant, few symbols, all symbols, texts
// that repeat; shorter and longer than a block.
func compressible(t *rapid.T) []byte {
	n := rapid.SampledFrom([]int{0, 1, 2, 5, 100, 1023, 40_000, zstdBlockBytes - 1, zstdBlockBytes, zstdBlockBytes + 1, 3*zstdBlockBytes + 7}).Draw(t, "length")
	symbols := rapid.SampledFrom([]int{1, 2, 16, 200, 256}).Draw(t, "symbols")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(min(r.IntN(symbols), r.IntN(symbols)))
	}
	if rapid.Bool().Draw(t, "repeats") && n > 64 {
		for i := 64; i < n; i++ {
			data[i] = data[i-64]
		}
	}
	return data
}

func newDecoder(t testing.TB) *zstd.Decoder {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// Whatever way is chosen, the decoder of zstd gives the page back.
func TestCodecReadsBack(t *testing.T) {
	decoder := newDecoder(t)
	rapid.Check(t, func(t *rapid.T) {
		codec := new(codec)
		for range 3 {
			page := compressible(t)
			out, err := codec.encode(nil, page, new(huffmanZstd))
			if err != nil {
				t.Fatal(err)
			}
			back, err := decoder.DecodeAll(out, nil)
			if err != nil || !bytes.Equal(back, page) {
				t.Fatalf("%d bytes came back as %d: %v", len(page), len(back), err)
			}
		}
		page := compressible(t)
		out, err := new(huffmanZstd).encode(nil, page)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decoder.DecodeAll(out, nil)
		if err != nil || !bytes.Equal(back, page) {
			t.Fatalf("%d bytes came back from Huffman coding as %d: %v", len(page), len(back), err)
		}
	})
}

// The program zstd, where it is installed, reads what Huffman coding alone makes.
func TestHuffmanIsZstd(t *testing.T) {
	zstd, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("the program zstd is not installed; files are read by other readers in package export")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 1000, zstdBlockBytes, 300_000} {
		data := []byte(hex.EncodeToString(randomBytes(r, (n+1)/2)))[:n]
		out, err := new(huffmanZstd).encode(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), zstd, "-d", "-c")
		cmd.Stdin = bytes.NewReader(out)
		back, err := cmd.Output()
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%d bytes came back as %d: %v", n, len(back), err)
		}
	}
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Hex digests are best without looking for repetitions, near the 4 bits that
// a digit has; texts that repeat are not.
func TestCodecChoosesByContent(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	digests := []byte(hex.EncodeToString(randomBytes(r, 256<<10)))
	var times []byte
	for range 20_000 {
		times = binary.LittleEndian.AppendUint64(times, uint64(1_748_736_000_000+r.IntN(1e9))*1000)
	}
	for _, tt := range []struct {
		name string
		page []byte
		most float64 // share of the size
	}{
		{"digests", digests, 0.505},
		{"words", bytes.Repeat([]byte("rain sunny cloudy region-7 "), 20_000), 0.001},
		{"times", times, 0.87},
	} {
		out, err := new(codec).encode(nil, tt.page, new(huffmanZstd))
		if err != nil {
			t.Fatal(err)
		}
		if share := float64(len(out)) / float64(len(tt.page)); share > tt.most {
			t.Errorf("%s shrink to %.3f, want at most %.3f", tt.name, share, tt.most)
		}
	}
}
