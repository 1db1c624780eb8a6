package chunk

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"manifest/internal/sstable/component"
)

// built is an SSTable's Data.db with its table of chunks, as Cassandra's
// CompressedSequentialWriter and ChecksumWriter make them.
type built struct {
	compressor  string // "" for none
	chunkLength int
	// maxCompressed is the maximum compressed length; 0 for no maximum.
	maxCompressed int
	// extra adds the empty chunk that a writer may leave at the end.
	extra   bool
	version string

	stored, table []byte
}

func compress(t testing.TB, compressor string, b []byte) []byte {
	switch compressor {
	case "LZ4Compressor":
		out := make([]byte, 4+lz4.CompressBlockBound(len(b)))
		binary.LittleEndian.PutUint32(out, uint32(len(b)))
		n, err := lz4.CompressBlock(b, out[4:], nil)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 { // does not compress: one run of literals
			out = append(out[:4], literals(b)...)
			return out
		}
		return out[:4+n]
	case "SnappyCompressor":
		return snappy.Encode(nil, b)
	case "DeflateCompressor":
		var out bytes.Buffer
		w := zlib.NewWriter(&out)
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	case "ZstdCompressor":
		e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
		if err != nil {
			t.Fatal(err)
		}
		return e.EncodeAll(b, nil)
	}
	return bytes.Clone(b)
}

// literals is the LZ4 block of bytes that repeat nothing.
func literals(b []byte) []byte {
	n := len(b)
	if n < 15 {
		return append([]byte{byte(n << 4)}, b...)
	}
	out := []byte{0xf0}
	for n -= 15; n >= 255; n -= 255 {
		out = append(out, 255)
	}
	return append(append(out, byte(n)), b...)
}

func (f *built) build(t testing.TB, content []byte) {
	chunks := 0
	var offsets []int64
	var sums []uint32
	for at := 0; at < len(content) || f.extra && at < len(content)+f.chunkLength; at += f.chunkLength {
		if f.extra && at >= len(content) && chunks > 0 && len(offsets) > (len(content)+f.chunkLength-1)/f.chunkLength {
			break
		}
		piece := content[min(at, len(content)):min(at+f.chunkLength, len(content))]
		offsets = append(offsets, int64(len(f.stored)))
		chunks++
		if f.compressor == "" {
			f.stored = append(f.stored, piece...)
			sums = append(sums, crc32.ChecksumIEEE(piece))
			continue
		}
		payload := compress(t, f.compressor, piece)
		if f.maxCompressed > 0 && len(payload) >= f.maxCompressed {
			payload = append(bytes.Clone(piece), make([]byte, max(0, f.maxCompressed-len(piece)))...)
		}
		f.stored = append(f.stored, payload...)
		f.stored = binary.BigEndian.AppendUint32(f.stored, crc32.ChecksumIEEE(payload))
	}
	f.table = nil
	if f.compressor == "" {
		f.table = binary.BigEndian.AppendUint32(f.table, uint32(f.chunkLength))
		for _, s := range sums {
			f.table = binary.BigEndian.AppendUint32(f.table, s)
		}
		return
	}
	utf := func(s string) {
		f.table = binary.BigEndian.AppendUint16(f.table, uint16(len(s)))
		f.table = append(f.table, s...)
	}
	utf(f.compressor)
	f.table = binary.BigEndian.AppendUint32(f.table, 1)
	utf("lz4_compressor_type")
	utf("fast")
	f.table = binary.BigEndian.AppendUint32(f.table, uint32(f.chunkLength))
	if f.version != "me" {
		most := uint32(math.MaxInt32)
		if f.maxCompressed > 0 {
			most = uint32(f.maxCompressed)
		}
		f.table = binary.BigEndian.AppendUint32(f.table, most)
	}
	f.table = binary.BigEndian.AppendUint64(f.table, uint64(len(content)))
	f.table = binary.BigEndian.AppendUint32(f.table, uint32(chunks))
	for _, o := range offsets {
		f.table = binary.BigEndian.AppendUint64(f.table, uint64(o))
	}
}

// set gives the files as those of an SSTable.
func (f *built) set(t testing.TB) *component.Set {
	version := f.version
	if version == "" {
		version = "nb"
	}
	prefix := version + "-1-big-"
	table := component.CompressionInfo
	if f.compressor == "" {
		table = component.CRC
	}
	fsys := fstest.MapFS{
		prefix + component.Data:       {Data: f.stored},
		prefix + table:                {Data: f.table},
		prefix + component.Statistics: {},
		prefix + component.TOC:        {Data: []byte("Data.db\nStatistics.db\nTOC.txt\n" + table + "\n")},
	}
	sets, err := component.Find(t.Context(), component.FS(fsys))
	if err != nil {
		t.Fatal(err)
	}
	return sets[0]
}

// content makes bytes of which some parts compress well and others do not.
func content(n int, seed uint64) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		seed = seed*6364136223846793005 + 1442695040888963407
		if seed>>60 < 8 {
			b = binary.BigEndian.AppendUint64(b, seed)
		} else {
			b = append(b, bytes.Repeat([]byte{byte(seed >> 32)}, int(seed>>56)+1)...)
		}
	}
	return b[:n]
}
