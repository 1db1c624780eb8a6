package chunk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"manifest/internal/sstable/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var compressors = []string{"", "LZ4Compressor", "SnappyCompressor", "DeflateCompressor", "ZstdCompressor", "NoopCompressor"}

// readAll reads the whole content in pieces.
func readAll(f *File, opts WindowOptions, piece int) ([]byte, error) {
	w := f.NewWindow(opts)
	defer w.Close()
	var all []byte
	consumed := 0
	for int64(len(all)) < f.Size() {
		need := min(piece, int(f.Size())-len(all))
		view, err := w.Next(consumed, need)
		if err != nil {
			return nil, err
		}
		if w.Offset() != int64(len(all)) {
			return nil, fmt.Errorf("the view is at %d, want %d", w.Offset(), len(all))
		}
		all = append(all, view[:need]...)
		consumed = need
	}
	return all, nil
}

func TestContent(t *testing.T) {
	for _, compressor := range compressors {
		for _, size := range []int{0, 1, 100, 1023, 1024, 1025, 4096, 100_000} {
			for _, maxCompressed := range []int{0, 300, 1024} {
				for _, extra := range []bool{false, true} {
					name := fmt.Sprintf("%s/%d/%d/%t", compressor, size, maxCompressed, extra)
					t.Run(name, func(t *testing.T) {
						want := content(size, uint64(size))
						b := built{compressor: compressor, chunkLength: 1024, maxCompressed: maxCompressed, extra: extra}
						b.build(t, want)
						f, err := Open(t.Context(), b.set(t))
						if err != nil {
							t.Fatal(err)
						}
						defer f.Close()
						if f.Size() != int64(size) || f.StoredSize() != int64(len(b.stored)) {
							t.Fatalf("content of %d bytes in %d, want %d in %d", f.Size(), f.StoredSize(), size, len(b.stored))
						}
						for _, opts := range []WindowOptions{{}, {Step: 1}, {Step: 3000, Ahead: 1}, {Step: 1024, Ahead: 5}} {
							for _, piece := range []int{1, 700, 5000, 70_000} {
								if piece == 1 && size > 5000 {
									continue
								}
								got, err := readAll(f, opts, piece)
								if err != nil || !bytes.Equal(got, want) {
									t.Fatalf("%+v, pieces of %d: %d bytes, %v", opts, piece, len(got), err)
								}
							}
						}
					})
				}
			}
		}
	}
}

// TestEmptyChunkOfNothing has the chunk at the end that Deflate makes of nothing:
// it has no payload at all.
func TestEmptyChunkOfNothing(t *testing.T) {
	want := content(1000, 3)
	b := built{compressor: "DeflateCompressor", chunkLength: 4096}
	b.build(t, want)
	end := len(b.stored)
	b.stored = append(b.stored, 0, 0, 0, 0)
	b.table = binary.BigEndian.AppendUint64(b.table, uint64(end))
	put32(b.table, len(b.table)-2*8-4, 2)
	f, err := Open(t.Context(), b.set(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := readAll(f, WindowOptions{}, 100); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	b.stored[end] = 1
	if _, err := Open(t.Context(), b.set(t)); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("a wrong checksum of nothing: %v", err)
	}
}

func TestVersionWithoutMaximum(t *testing.T) {
	want := content(10_000, 3)
	b := built{compressor: "LZ4Compressor", chunkLength: 4096, version: "me"}
	b.build(t, want)
	f, err := Open(t.Context(), b.set(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := readAll(f, WindowOptions{}, 100); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestWindowMoves(t *testing.T) {
	want := content(50_000, 7)
	b := built{compressor: "LZ4Compressor", chunkLength: 1024}
	b.build(t, want)
	f, err := Open(t.Context(), b.set(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rapid.Check(t, func(t *rapid.T) {
		w := f.NewWindow(WindowOptions{Step: 2048, Ahead: rapid.IntRange(0, 2).Draw(t, "ahead")})
		defer w.Close()
		at, view := int64(0), []byte(nil)
		for range rapid.IntRange(1, 20).Draw(t, "moves") {
			if rapid.Bool().Draw(t, "jump") {
				at = rapid.Int64Range(0, 50_000).Draw(t, "to")
				if err := w.MoveTo(at); err != nil {
					t.Fatal(err)
				}
				if view, err = w.Next(0, 0); err != nil {
					t.Fatal(err)
				}
			}
			consumed := rapid.IntRange(0, len(view)).Draw(t, "consumed")
			at += int64(consumed)
			need := rapid.IntRange(0, int(min(9000, 50_000-at))).Draw(t, "need")
			if view, err = w.Next(consumed, need); err != nil {
				t.Fatal(err)
			}
			if len(view) < need || w.Offset() != at || !bytes.Equal(view, want[at:at+int64(len(view))]) {
				t.Fatalf("wrong view of %d bytes at %d, want %d at %d", len(view), w.Offset(), need, at)
			}
		}
	})
}

func TestWindowRefuses(t *testing.T) {
	b := built{chunkLength: 1024}
	b.build(t, content(5000, 1))
	f, err := Open(t.Context(), b.set(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := f.NewWindow(WindowOptions{MaxPiece: 3000})
	if _, err := w.Next(0, 5001); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("more than there is: %v", err)
	}
	if _, err := f.NewWindow(WindowOptions{MaxPiece: 3000}).Next(0, 3001); !errors.Is(err, ErrTooLong) {
		t.Errorf("more than allowed: %v", err)
	}
	if err := f.NewWindow(WindowOptions{}).MoveTo(5001); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("move past the end: %v", err)
	}
}

// TestEveryBit flips each bit of the stored content and of its table: either the
// reading fails, or the bit did not matter.
func TestEveryBit(t *testing.T) {
	for _, compressor := range compressors {
		for _, maxCompressed := range []int{0, 200} {
			t.Run(fmt.Sprintf("%s/%d", compressor, maxCompressed), func(t *testing.T) {
				want := content(700, 5)
				b := built{compressor: compressor, chunkLength: 256, maxCompressed: maxCompressed, extra: true}
				b.build(t, want)
				for _, file := range [][]byte{b.stored, b.table} {
					harmless := 0
					for bit := range 8 * len(file) {
						file[bit/8] ^= 1 << (bit % 8)
						f, err := Open(t.Context(), b.set(t))
						if err == nil {
							var got []byte
							got, err = readAll(f, WindowOptions{}, 100)
							f.Close()
							if err == nil && !bytes.Equal(got, want) {
								t.Fatalf("bit %d of %d bytes: wrong content and no error", bit, len(file))
							}
						}
						if err == nil {
							harmless++
						} else if !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrUnsupported) {
							t.Fatalf("bit %d: %v", bit, err)
						}
						file[bit/8] ^= 1 << (bit % 8)
					}
					// Options do not matter, nor the empty chunk at the end.
					if most := 8 * 60; harmless > most {
						t.Errorf("%d bits of %d bytes did not matter", harmless, len(file))
					}
				}
			})
		}
	}
}

func TestEveryTruncation(t *testing.T) {
	for _, compressor := range compressors {
		want := content(700, 5)
		b := built{compressor: compressor, chunkLength: 256}
		b.build(t, want)
		read := func(stored, table []byte) error {
			c := b
			c.stored, c.table = stored, table
			f, err := Open(t.Context(), c.set(t))
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = readAll(f, WindowOptions{}, 100)
			return err
		}
		if err := read(b.stored, b.table); err != nil {
			t.Fatal(err)
		}
		for n := range b.stored {
			if err := read(b.stored[:n], b.table); !errors.Is(err, fault.ErrCorrupt) {
				t.Errorf("%q: Data.db cut to %d bytes: %v", compressor, n, err)
			}
		}
		for n := range b.table {
			if err := read(b.stored, b.table[:n]); !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrUnsupported) {
				t.Errorf("%q: table cut to %d bytes: %v", compressor, n, err)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *built)
		want   error
		text   string
	}{
		{"unknown compressor", func(b *built) { b.table = bytes.Replace(b.table, []byte("LZ4C"), []byte("XYZC"), 1) }, fault.ErrUnsupported, "XYZCompressor"},
		{"chunk length no power of two", func(b *built) { put32(b.table, infoAt, 1000) }, fault.ErrCorrupt, "1000"},
		{"chunk length 0", func(b *built) { put32(b.table, infoAt, 0) }, fault.ErrCorrupt, "0 bytes"},
		{"chunk length too large", func(b *built) { put32(b.table, infoAt, 1<<30) }, fault.ErrUnsupported, "1073741824"},
		{"maximum compressed length 0", func(b *built) { put32(b.table, infoAt+4, 0) }, fault.ErrCorrupt, "maximum"},
		{"content longer than chunks", func(b *built) { put32(b.table, infoAt+8+4, 5000) }, fault.ErrCorrupt, "chunks"},
		{"negative content", func(b *built) { put32(b.table, infoAt+8, 1<<31) }, fault.ErrCorrupt, "content of -"},
		{"too many offsets", func(b *built) { b.table = append(b.table, 0) }, fault.ErrCorrupt, "take"},
	} {
		b := built{compressor: "LZ4Compressor", chunkLength: 1024}
		b.build(t, content(3000, 2))
		c.change(&b)
		_, err := Open(t.Context(), b.set(t))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "CompressionInfo.db") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// infoAt is the place of the chunk length in the CompressionInfo.db that is built here.
const infoAt = 2 + len("LZ4Compressor") + 4 + 2 + len("lz4_compressor_type") + 2 + len("fast")

func put32(b []byte, at int, v uint32) { binary.BigEndian.PutUint32(b[at:], v) }

// FuzzDecode feeds payloads with right checksums to the decompressors.
func FuzzDecode(f *testing.F) {
	want := content(500, 9)
	for i, compressor := range compressors[1:] {
		f.Add(byte(i), compress(f, compressor, want))
	}
	f.Fuzz(func(t *testing.T, which byte, payload []byte) {
		name := compressors[1+int(which)%(len(compressors)-1)]
		l := loader{file: &File{info: info{maxCompressedLength: 1 << 30}}, codec: codecs[name]()}
		stored := binary.BigEndian.AppendUint32(bytes.Clone(payload), crc32.ChecksumIEEE(payload))
		dst := make([]byte, 500)
		if err := l.decode(dst, stored); err == nil {
			again := make([]byte, 500)
			if err := l.decode(again, stored); err != nil || !bytes.Equal(dst, again) {
				t.Errorf("%s: decoded once and then %v", name, err)
			}
		}
	})
}

// FuzzInfo reads tables that no writer made.
func FuzzInfo(f *testing.F) {
	for _, compressor := range compressors {
		b := built{compressor: compressor, chunkLength: 256, extra: true}
		b.build(f, content(700, 5))
		f.Add(compressor == "", b.table, b.stored)
	}
	f.Fuzz(func(t *testing.T, plain bool, table, stored []byte) {
		b := built{compressor: "LZ4Compressor", table: table, stored: stored}
		if plain {
			b.compressor = ""
		}
		file, err := Open(t.Context(), b.set(t))
		if err != nil {
			return
		}
		defer file.Close()
		if file.Size() < 1<<20 {
			_, _ = readAll(file, WindowOptions{}, 1000)
		}
	})
}
