package tokensort

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// A run is
//
//	magic            8 bytes
//	block ...        payload's length, rows (4 bytes each), XXH3 of these and of the payload (8 bytes), payload
//	end              a block of no rows, whose payload is the index
//	trailer          offset of the end (8 bytes), number of rows (8 bytes), XXH3 of these (8 bytes)
//
// A row in a payload is the length of what its key shares with the key before in the block, the length of the rest, the rest, the length of
// its value, the value; lengths are varints. The index has the offset and the first key of each block: offset (8 bytes), length (4 bytes),
// key. Nothing is compressed: LZ4 took a fifth of the time of making a manifest, for less than a third of the disk.
const (
	magic       = "MFSTRUN2"
	blockHead   = 16
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

// sealBlock fills the head of a block, in front of its payload.
func sealBlock(block []byte, rows uint32) {
	binary.BigEndian.PutUint32(block, uint32(len(block)-blockHead))
	binary.BigEndian.PutUint32(block[4:], rows)
	binary.BigEndian.PutUint64(block[8:], checksum(block, block[blockHead:]))
}

// takeBytes reads a length and as many bytes.
func takeBytes(src []byte) (text, rest []byte, err error) {
	n, size := binary.Uvarint(src)
	if size <= 0 || n > uint64(len(src)-size) {
		return nil, nil, fmt.Errorf("%w: row", ErrCorrupt)
	}
	return src[size : size+int(n)], src[size+int(n):], nil
}
