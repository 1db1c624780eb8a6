package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"sync"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// page puts one page together. Pages are kept for use again by all files.
type page struct {
	raw     []byte // levels and values, before compression
	encoded []byte // what an encoding has made, to be appended to raw
	out     []byte // room for the header, then the compressed page
	huffman huffmanZstd
}

// errPageSize is a page that no header can describe: a row of 2 GiB, for example.
var errPageSize = errors.New("larger than a page may be")

var freePages = sync.Pool{New: func() any { return new(page) }}

// headerRoom is kept free in front of a compressed page for its header, which has
// some 40 bytes: numbers only, and no statistics.
const headerRoom = 128

// addLevels appends levels, preceded by their length as in pages of version 1.
func (p *page) addLevels(levels []byte, most byte) error {
	if most == 0 {
		return nil
	}
	var err error
	coding := rle.Encoding{BitWidth: bits.Len8(most)}
	if p.encoded, err = coding.EncodeLevels(p.encoded, levels); err != nil {
		return fmt.Errorf("encode levels: %w", err)
	}
	p.raw = binary.LittleEndian.AppendUint32(p.raw, uint32(len(p.encoded)))
	p.raw = append(p.raw, p.encoded...)
	return nil
}

// addIndexes appends numbers of values in a dictionary.
func (p *page) addIndexes(indexes []int32) error {
	var err error
	if p.encoded, err = new(rle.DictionaryEncoding).EncodeInt32(p.encoded, indexes); err != nil {
		return fmt.Errorf("encode indexes: %w", err)
	}
	p.raw = append(p.raw, p.encoded...)
	return nil
}

// finish compresses the page and gives its bytes with the header in front, valid
// until the page is used again, and the size of the header.
func (p *page) finish(c *codec, header *format.PageHeader) (whole []byte, headerSize int, err error) {
	if len(p.raw) > math.MaxInt32 {
		return nil, 0, fmt.Errorf("page of %d bytes: %w", len(p.raw), errPageSize)
	}
	if p.out, err = c.encode(append(p.out[:0], make([]byte, headerRoom)...), p.raw, &p.huffman); err != nil {
		return nil, 0, fmt.Errorf("compress page: %w", err)
	}
	body := p.out[headerRoom:]
	header.UncompressedPageSize = int32(len(p.raw))
	header.CompressedPageSize = int32(len(body))
	header.CRC = int32(crc32.ChecksumIEEE(body))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), header)
	if err != nil {
		return nil, 0, fmt.Errorf("encode page header: %w", err)
	}
	start := headerRoom - len(head)
	copy(p.out[start:], head)
	return p.out[start:], len(head), nil
}
