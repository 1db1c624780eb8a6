package chunk

import (
	"math"
	"math/bits"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
)

const (
	// maxChunkLength bounds the memory that one chunk takes; Cassandra's default
	// is 16 KiB, and tables with more than 1 MiB are unheard of.
	maxChunkLength = 16 << 20
	// maxInfoHeader bounds what stands before the offsets in CompressionInfo.db.
	maxInfoHeader = 64 << 10
)

// info is CompressionInfo.db without the offsets, which stay in the file: those
// of a large SSTable take many megabytes.
type info struct {
	compressor          string
	chunkLength         int
	maxCompressedLength int64
	contentLength       int64
	chunks              int64 // listed: the empty one at the end counts
	offsetsAt           int64
}

// readInfo reads and checks the table's head.
func readInfo(f component.File, path string, version component.Version) (info, error) {
	head := make([]byte, min(f.Size(), maxInfoHeader))
	if err := component.ReadAt(f, path, head, 0); err != nil {
		return info{}, err
	}
	r := primitive.NewReader(head)
	in := info{compressor: string(r.Bytes16()), maxCompressedLength: math.MaxInt32}
	for options := r.Uint32(); options > 0 && r.Err() == nil; options-- {
		r.Bytes16()
		r.Bytes16()
	}
	chunkLength := r.Int32()
	if version.HasMaxCompressedLength() {
		in.maxCompressedLength = int64(r.Int32())
	}
	in.contentLength = r.Int64()
	in.chunks = int64(r.Int32())
	in.offsetsAt = int64(r.Offset())
	corrupt := func(format string, args ...any) (info, error) {
		return info{}, fault.Corruptf(path, -1, format, args...)
	}
	switch {
	case r.Err() != nil:
		return corrupt("%w", r.Err())
	case codecs[in.compressor] == nil:
		return info{}, fault.Unsupportedf(path, "compressor %q", in.compressor)
	case chunkLength <= 0 || bits.OnesCount32(uint32(chunkLength)) != 1:
		return corrupt("chunks of %d bytes", chunkLength)
	case chunkLength > maxChunkLength:
		return info{}, fault.Unsupportedf(path, "chunks of %d bytes, more than %d", chunkLength, maxChunkLength)
	case in.maxCompressedLength <= 0 || in.maxCompressedLength > int64(chunkLength) && in.maxCompressedLength != math.MaxInt32:
		return corrupt("maximum compressed length %d of chunks of %d bytes", in.maxCompressedLength, chunkLength)
	case in.contentLength < 0:
		return corrupt("content of %d bytes", in.contentLength)
	}
	in.chunkLength = int(chunkLength)
	if needed := (in.contentLength + int64(chunkLength) - 1) / int64(chunkLength); in.chunks != needed && in.chunks != needed+1 {
		return corrupt("%d chunks of %d bytes, where the content of %d bytes takes %d", in.chunks, chunkLength, in.contentLength, needed)
	}
	if want := in.offsetsAt + 8*in.chunks; f.Size() != want {
		return corrupt("%d bytes, where %d chunks take %d", f.Size(), in.chunks, want)
	}
	return in, nil
}

// rawLength is the length of the payload of a chunk that is stored as it is.
// Short content at the end is filled up with zeros.
func (in info) rawLength(content int) int { return int(max(int64(content), in.maxCompressedLength)) }

// longestPayload bounds what a payload can measure: no compressor here adds
// more than this to content that does not compress.
func (in info) longestPayload() int64 { return int64(in.chunkLength) + int64(in.chunkLength)/4 + 1024 }
