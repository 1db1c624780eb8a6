package parquetfile

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/huff0"
)

// huffmanZstd compresses with the Huffman coding of zstd alone, without looking
// for repetitions. For text without any, such as hex digests, that is the best
// that can be done: looking costs eight times as much, and the few repetitions
// that are found by chance cost more than they give.
//
// The output is a zstd frame like any other (RFC 8878): blocks that consist of
// literals only.
type huffmanZstd struct{ scratch huff0.Scratch }

const (
	zstdMagic      = 0xFD2FB528
	zstdBlockBytes = 128 << 10 // the most that a block may hold

	blockRaw        = 0
	blockRLE        = 1
	blockCompressed = 2
)

func (h *huffmanZstd) encode(dst, src []byte) ([]byte, error) {
	dst = binary.LittleEndian.AppendUint32(dst, zstdMagic)
	// Frame header: one segment, so no window, and a content size of 4 bytes.
	dst = append(dst, 2<<6|1<<5)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
	for {
		block := src[:min(len(src), zstdBlockBytes)]
		src = src[len(block):]
		var err error
		if dst, err = h.block(dst, block, len(src) == 0); err != nil {
			return dst, err
		}
		if len(src) == 0 {
			return dst, nil
		}
	}
}

func (h *huffmanZstd) block(dst, block []byte, last bool) ([]byte, error) {
	if len(block) == 0 {
		return appendBlockHeader(dst, last, blockRaw, 0), nil
	}
	h.scratch.Reuse = huff0.ReusePolicyNone
	out, _, err := huff0.Compress4X(block, &h.scratch)
	// The section of literals has a header of 5 bytes, that of sequences is the
	// byte that says that there are none.
	const headers = 5 + 1
	switch {
	case errors.Is(err, huff0.ErrUseRLE):
		return append(appendBlockHeader(dst, last, blockRLE, len(block)), block[0]), nil
	case errors.Is(err, huff0.ErrIncompressible) || err == nil && len(out)+headers >= len(block):
		return append(appendBlockHeader(dst, last, blockRaw, len(block)), block...), nil
	case err != nil:
		return dst, err
	}
	dst = appendBlockHeader(dst, last, blockCompressed, len(out)+headers)
	// Compressed literals in four streams, with both sizes in 18 bits.
	sizes := uint64(2) | 3<<2 | uint64(len(block))<<4 | uint64(len(out))<<22
	dst = append(dst, byte(sizes), byte(sizes>>8), byte(sizes>>16), byte(sizes>>24), byte(sizes>>32))
	return append(append(dst, out...), 0), nil
}

func appendBlockHeader(dst []byte, last bool, kind, size int) []byte {
	header := uint32(kind)<<1 | uint32(size)<<3
	if last {
		header |= 1
	}
	return append(dst, byte(header), byte(header>>8), byte(header>>16))
}
