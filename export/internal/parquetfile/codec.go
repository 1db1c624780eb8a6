package parquetfile

import (
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// codec compresses the pages of one column with zstd: at level 1, or by Huffman
// coding alone where looking for repetitions gives next to nothing. The beginning
// of the column's first large page in the file decides.
//
// Level 1 is as high as it goes: at level 3 ids, keys and digests come out larger,
// in twice the time. Huffman coding alone is for random digits and the low bytes
// of numbers, and takes a quarter of the time of level 1.
//
// It has no memory of other files: the choice depends on the column's own bytes
// alone.
type codec struct{ chosen method }

type method uint8

const (
	undecided method = iota
	level1
	huffmanOnly
)

const (
	// decidingBytes is the smallest page that decides. Smaller ones take level 1
	// without deciding, because their time does not matter.
	decidingBytes = 32 << 10

	// sampleBytes of it are compressed both ways to know.
	sampleBytes = 16 << 10
)

// The encoder is shared by all files. EncodeAll may be called concurrently; there
// are as many states as processors.
var zstdLevel1 = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
		zstd.WithEncoderCRC(false),     // pages have a CRC of their own
		zstd.WithWindowSize(1<<20),     // a page is hardly longer
		zstd.WithLowerEncoderMem(true), // or each state holds two windows
		zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // only for options out of range
	}
	return e
})

// encode appends the compressed page to dst. huffman may be used by one call at a
// time.
func (c *codec) encode(dst, page []byte, huffman *huffmanZstd) ([]byte, error) {
	if c.chosen == undecided && len(page) >= decidingBytes {
		sample := page[:sampleBytes]
		matched := len(zstdLevel1().EncodeAll(sample, nil))
		coded, err := huffman.encode(nil, sample)
		if err != nil {
			return dst, err
		}
		c.chosen = level1
		if len(coded) < matched+matched/100 {
			c.chosen = huffmanOnly
		}
	}
	if c.chosen == huffmanOnly {
		return huffman.encode(dst, page)
	}
	return zstdLevel1().EncodeAll(page, dst), nil
}
