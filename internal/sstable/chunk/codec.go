package chunk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec decompresses payloads. It belongs to one goroutine.
type codec interface {
	// decode fills dst, which is as long as the content must be.
	decode(dst, payload []byte) error
}

// codecs are the compressors of Cassandra by their class names.
var codecs = map[string]func() codec{
	"LZ4Compressor":     func() codec { return lz4Codec{} },
	"SnappyCompressor":  func() codec { return snappyCodec{} },
	"DeflateCompressor": func() codec { return &deflateCodec{} },
	"ZstdCompressor":    func() codec { return &zstdCodec{} },
	"NoopCompressor":    func() codec { return noopCodec{} },
}

func lengthError(got, want int) error {
	return fmt.Errorf("the chunk holds %d bytes, not %d", got, want)
}

// lz4Codec reads the content's length, little-endian, and one LZ4 block.
type lz4Codec struct{}

func (lz4Codec) decode(dst, payload []byte) error {
	if len(payload) < 4 {
		return io.ErrUnexpectedEOF
	}
	if n := binary.LittleEndian.Uint32(payload); int64(n) != int64(len(dst)) {
		return lengthError(int(n), len(dst))
	}
	n, err := lz4.UncompressBlock(payload[4:], dst)
	if err != nil {
		return err
	}
	if n != len(dst) {
		return lengthError(n, len(dst))
	}
	return nil
}

// snappyCodec reads one Snappy block, without framing.
type snappyCodec struct{}

func (snappyCodec) decode(dst, payload []byte) error {
	n, err := snappy.DecodedLen(payload)
	if err != nil {
		return err
	}
	if n != len(dst) {
		return lengthError(n, len(dst))
	}
	_, err = snappy.Decode(dst, payload)
	return err
}

// deflateCodec reads one zlib stream; of nothing, nothing is stored.
type deflateCodec struct {
	in     bytes.Reader
	stream io.ReadCloser
}

func (c *deflateCodec) decode(dst, payload []byte) error {
	if len(dst) == 0 && len(payload) == 0 {
		return nil
	}
	c.in.Reset(payload)
	var err error
	if c.stream == nil {
		c.stream, err = zlib.NewReader(&c.in)
	} else {
		err = c.stream.(zlib.Resetter).Reset(&c.in, nil)
	}
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(c.stream, dst); err != nil {
		return err
	}
	// Reading on to the end verifies the stream's own checksum.
	var more [1]byte
	switch n, err := c.stream.Read(more[:]); {
	case n > 0:
		return lengthError(len(dst)+n, len(dst))
	case err != io.EOF:
		return err
	}
	if c.in.Len() > 0 {
		return fmt.Errorf("%d bytes after the stream", c.in.Len())
	}
	return nil
}

// zstdCodec reads one Zstandard frame.
type zstdCodec struct {
	decoder *zstd.Decoder
}

func (c *zstdCodec) decode(dst, payload []byte) error {
	if c.decoder == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxChunkLength), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
		c.decoder = d
	}
	out, err := c.decoder.DecodeAll(payload, dst[:0:len(dst)])
	if err != nil {
		return err
	}
	if len(out) != len(dst) {
		return lengthError(len(out), len(dst))
	}
	return nil
}

// noopCodec copies.
type noopCodec struct{}

func (noopCodec) decode(dst, payload []byte) error {
	if len(payload) != len(dst) {
		return lengthError(len(payload), len(dst))
	}
	copy(dst, payload)
	return nil
}

var errChecksum = errors.New("the checksum does not match")
