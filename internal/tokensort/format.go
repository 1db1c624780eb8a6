package tokensort

import (
	"encoding/binary"
	"fmt"

	"github.com/pierrec/lz4/v4"
	"github.com/zeebo/xxh3"
)

// A run is
//
//	magic            8 bytes
//	block ...        stored length, raw length, rows (4 bytes each), XXH3 of these and of the payload (8 bytes), payload
//	end              a block of no rows, whose payload is the index
//	trailer          offset of the end (8 bytes), number of rows (8 bytes), XXH3 of these (8 bytes)
//
// The payload of a block is its raw bytes, by LZ4 if that is shorter. A row is the length of what its key shares with the key before in
// the block, the length of the rest, the rest, the length of its value, the value; lengths are varints. The index has the offset and the
// first key of each block: offset (8 bytes), length (4 bytes), key.
const (
	magic       = "MFSTRUN1"
	blockHead   = 20
	trailerSize = 24
	blockTarget = 64 << 10
	// maxBlock bounds what damage can make a reader allocate. A row is a few hundred bytes; one of 1 GiB no database has.
	maxBlock = 1 << 30
)

// blockInfo is an entry of the index.
type blockInfo struct {
	offset int64
	first  []byte
}

// checksum covers the head of a block before the checksum, and its payload.
func checksum(head, payload []byte) uint64 {
	h := xxh3.New()
	_, _ = h.Write(head[:blockHead-8])
	_, _ = h.Write(payload)
	return h.Sum64()
}

// appendBlock appends a block.
func appendBlock(dst, raw []byte, rows uint32) ([]byte, error) {
	start := len(dst)
	need := blockHead + max(lz4.CompressBlockBound(len(raw)), len(raw))
	dst = append(dst, make([]byte, need)...)
	block := dst[start:]
	n := 0
	if len(raw) > 0 {
		var err error
		if n, err = lz4.CompressBlock(raw, block[blockHead:], nil); err != nil {
			return nil, fmt.Errorf("compress block: %w", err)
		}
	}
	if n == 0 || n >= len(raw) {
		n = copy(block[blockHead:], raw)
	}
	block = block[:blockHead+n]
	binary.BigEndian.PutUint32(block, uint32(n))
	binary.BigEndian.PutUint32(block[4:], uint32(len(raw)))
	binary.BigEndian.PutUint32(block[8:], rows)
	binary.BigEndian.PutUint64(block[12:], checksum(block, block[blockHead:]))
	return dst[:start+len(block)], nil
}

// expand gives the raw bytes of a payload, in buf if they were compressed.
func expand(buf, payload []byte, raw int) ([]byte, []byte, error) {
	if raw == len(payload) {
		return payload, buf, nil
	}
	if raw/255 > len(payload)+1 { // more than LZ4 can expand
		return nil, buf, fmt.Errorf("%w: %d bytes in %d", ErrCorrupt, raw, len(payload))
	}
	if cap(buf) < raw {
		buf = make([]byte, raw)
	}
	buf = buf[:raw]
	n, err := lz4.UncompressBlock(payload, buf)
	if err != nil || n != raw {
		return nil, buf, fmt.Errorf("%w: %d of %d bytes: %v", ErrCorrupt, n, raw, err)
	}
	return buf, buf, nil
}

// takeBytes reads a length and as many bytes.
func takeBytes(src []byte) (text, rest []byte, err error) {
	n, size := binary.Uvarint(src)
	if size <= 0 || n > uint64(len(src)-size) {
		return nil, nil, fmt.Errorf("%w: row", ErrCorrupt)
	}
	return src[size : size+int(n)], src[size+int(n):], nil
}
