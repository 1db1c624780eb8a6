package partial

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"
)

var (
	// ErrCorrupt is wrapped by the error for a file that no Writer finished, or that was changed since.
	ErrCorrupt = errors.New("corrupt partial file")
	// ErrOtherQuery is wrapped by the error for a file with the groups of another query than the one at hand.
	ErrOtherQuery = errors.New("partial file is of another query")
)

// Order is the order of the entries of a file.
type Order byte

const (
	ByKey   Order = 0
	ByToken Order = 1
)

// Header says what a file holds.
type Header struct {
	Order Order
	Query string // the canonical text of the query whose groups these are
	Split string // the ID of the split they are of, "" for an intermediate file
}

const (
	magic   = "MFSTPART"
	version = 1

	blockHead     = 20       // stored length, raw length, entries, checksum
	blockTarget   = 64 << 10 // A block is closed when it has as many raw bytes.
	maxHeader     = 1 << 20  // A query is shorter, a length beyond is damage.
	maxExpansion  = 255      // of LZ4 (lz4_Block_format.md: a byte of length stands for 255 bytes)
	checksumBytes = 8
)

// appendHeader appends the bytes a file starts with.
func (h Header) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, version, byte(h.Order))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(h.Query)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(h.Split)))
	dst = append(dst, h.Query...)
	dst = append(dst, h.Split...)
	return binary.BigEndian.AppendUint64(dst, xxh3.Hash(dst[start:]))
}

// fixedHeader is the length of a header up to its texts.
const fixedHeader = len(magic) + 2 + 4 + 4

// parseFixed reads the part of a header before the texts, and returns the lengths of these.
func parseFixed(src []byte) (h Header, query, split int, err error) {
	if string(src[:len(magic)]) != magic {
		return h, 0, 0, fmt.Errorf("%w: no partial file", ErrCorrupt)
	}
	src = src[len(magic):]
	if src[0] != version {
		return h, 0, 0, fmt.Errorf("%w: version %d, want %d", ErrCorrupt, src[0], version)
	}
	h.Order = Order(src[1])
	query, split = int(binary.BigEndian.Uint32(src[2:])), int(binary.BigEndian.Uint32(src[6:]))
	if h.Order > ByToken || query > maxHeader || split > maxHeader {
		return h, 0, 0, fmt.Errorf("%w: header", ErrCorrupt)
	}
	return h, query, split, nil
}

// checksum covers the head of a block before the checksum, and what is stored behind it.
func checksum(head, stored []byte) uint64 {
	h := xxh3.New()
	h.Write(head[:blockHead-checksumBytes])
	h.Write(stored)
	return h.Sum64()
}

// takeLength reads a varint that is at most the length of what lies behind it.
func takeLength(src []byte) (int, []byte, error) {
	v, n := binary.Uvarint(src)
	if n <= 0 || v > uint64(len(src)-n) {
		return 0, nil, fmt.Errorf("%w: entry", ErrCorrupt)
	}
	return int(v), src[n:], nil
}
