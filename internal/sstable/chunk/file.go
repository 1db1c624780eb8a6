package chunk

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
)

// File is the Data.db of one SSTable with its table of chunks. It is immutable
// and may be used by many goroutines, each with a [Window] or more of its own.
type File struct {
	path string
	data component.File
	size int64 // of the content

	// table has the chunks' offsets or checksums: CompressionInfo.db or CRC.db.
	table     component.File
	tablePath string

	info       info // of a compressed file
	compressed bool
	chunk      int // content bytes of each chunk but the last

	steps sync.Pool // of *step, left by windows that were closed
}

// Open opens the Data.db of an SSTable and its table of chunks.
func Open(ctx context.Context, set *component.Set) (*File, error) {
	f := &File{path: set.Path(component.Data), compressed: set.Has(component.CompressionInfo)}
	name := component.CRC
	if f.compressed {
		name = component.CompressionInfo
	}
	var err error
	if f.table, err = set.Open(ctx, name); err != nil {
		return nil, err
	}
	f.tablePath = set.Path(name)
	if f.data, err = set.Open(ctx, component.Data); err != nil {
		f.table.Close()
		return nil, err
	}
	if f.compressed {
		err = f.openCompressed(set.Version)
	} else {
		err = f.openPlain()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) openCompressed(version component.Version) error {
	var err error
	if f.info, err = readInfo(f.table, f.tablePath, version); err != nil {
		return err
	}
	f.chunk, f.size = f.info.chunkLength, f.info.contentLength
	if needed := (f.size + int64(f.chunk) - 1) / int64(f.chunk); f.info.chunks > needed {
		// The empty chunk at the end has nothing in it that is read later.
		return f.newLoader().loadCompressed(nil, needed, 1)
	}
	return nil
}

// openPlain reads the head of CRC.db.
func (f *File) openPlain() error {
	var head [4]byte
	if err := component.ReadAt(f.table, f.tablePath, head[:], 0); err != nil {
		return err
	}
	length := int32(binary.BigEndian.Uint32(head[:]))
	f.size = f.data.Size()
	switch {
	case length <= 0:
		return fault.Corruptf(f.tablePath, 0, "chunks of %d bytes", length)
	case length > maxChunkLength:
		return fault.Unsupportedf(f.tablePath, "chunks of %d bytes, more than %d", length, maxChunkLength)
	}
	f.chunk = int(length)
	needed := 4 + 4*((f.size+int64(length)-1)/int64(length))
	switch f.table.Size() {
	case needed:
	case needed + 4:
		// One more sum is that of no bytes, or else Data.db has been cut off.
		var sum [4]byte
		if err := component.ReadAt(f.table, f.tablePath, sum[:], needed); err != nil {
			return err
		}
		if sum != [4]byte{} {
			return fault.Corruptf(f.path, f.size, "the content of %d bytes ends before its last checksum", f.size)
		}
	default:
		return fault.Corruptf(f.tablePath, -1, "%d bytes, where the checksums of %d bytes in chunks of %d take %d",
			f.table.Size(), f.size, length, needed)
	}
	return nil
}

// Close closes the files. Windows must be closed before.
func (f *File) Close() error {
	err := f.data.Close()
	if e := f.table.Close(); err == nil {
		err = e
	}
	return err
}

// Size is the length of the content in bytes.
func (f *File) Size() int64 { return f.size }

// StoredSize is the length of Data.db in bytes.
func (f *File) StoredSize() int64 { return f.data.Size() }

// Path is that of Data.db.
func (f *File) Path() string { return f.path }

// loader reads chunks for one goroutine at a time.
type loader struct {
	file    *File
	codec   codec
	entries []byte // of the table
	stored  []byte // from Data.db
}

func (f *File) newLoader() *loader {
	l := &loader{file: f}
	if f.compressed {
		l.codec = codecs[f.info.compressor]()
	}
	return l
}

// load fills dst with content from the start of chunk first on: whole chunks,
// or up to the end of the content.
func (l *loader) load(dst []byte, first int64) error {
	chunks := (len(dst) + l.file.chunk - 1) / l.file.chunk
	if l.file.compressed {
		return l.loadCompressed(dst, first, chunks)
	}
	return l.loadPlain(dst, first, chunks)
}

func (l *loader) readTable(at int64, n int) error {
	l.entries = grow(l.entries, n)
	return component.ReadAt(l.file.table, l.file.tablePath, l.entries, at)
}

// grow returns a slice of n bytes, b if it is large enough, and otherwise one
// with room for a little more: pieces are of about the same length.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, n+n/8)
	}
	return b[:n]
}

func (l *loader) loadPlain(dst []byte, first int64, chunks int) error {
	f := l.file
	if err := l.readTable(4+4*first, 4*chunks); err != nil {
		return err
	}
	at := first * int64(f.chunk)
	if err := component.ReadAt(f.data, f.path, dst, at); err != nil {
		return err
	}
	for i := range chunks {
		piece := dst[i*f.chunk : min((i+1)*f.chunk, len(dst))]
		if crc32.ChecksumIEEE(piece) != binary.BigEndian.Uint32(l.entries[4*i:]) {
			return fault.Corruptf(f.path, at+int64(i*f.chunk), "chunk of %d bytes: %w", len(piece), errChecksum)
		}
	}
	return nil
}

// loadCompressed reads the stored chunks at once and decompresses one by one.
func (l *loader) loadCompressed(dst []byte, first int64, chunks int) error {
	f := l.file
	bounds := chunks + 1 // a chunk ends where the next one begins, or the file ends
	listed := int(min(int64(bounds), f.info.chunks-first))
	if err := l.readTable(f.info.offsetsAt+8*first, 8*listed); err != nil {
		return err
	}
	offset := func(i int) int64 {
		if i < listed {
			return int64(binary.BigEndian.Uint64(l.entries[8*i:]))
		}
		return f.data.Size()
	}
	start, end := offset(0), offset(chunks)
	for i := range chunks {
		length := offset(i+1) - offset(i) - 4
		if offset(i) < 0 || length < 0 || offset(i+1) > f.data.Size() || length > f.info.longestPayload() {
			return fault.Corruptf(f.tablePath, f.info.offsetsAt+8*(first+int64(i)),
				"chunk from %d to %d in a file of %d bytes", offset(i), offset(i+1), f.data.Size())
		}
	}
	if first == 0 && start != 0 {
		return fault.Corruptf(f.tablePath, f.info.offsetsAt, "the first chunk is at %d", start)
	}
	l.stored = grow(l.stored, int(end-start))
	if err := component.ReadAt(f.data, f.path, l.stored, start); err != nil {
		return err
	}
	for i := range chunks {
		piece := dst[min(i*f.chunk, len(dst)):min((i+1)*f.chunk, len(dst))]
		stored := l.stored[offset(i)-start : offset(i+1)-start]
		if err := l.decode(piece, stored); err != nil {
			return fault.Corruptf(f.path, (first+int64(i))*int64(f.chunk), "chunk of %d bytes stored at %d: %w", len(piece), offset(i), err)
		}
	}
	return nil
}

// decode verifies one stored chunk and fills dst with its content.
func (l *loader) decode(dst, stored []byte) error {
	payload, sum := stored[:len(stored)-4], stored[len(stored)-4:]
	if crc32.ChecksumIEEE(payload) != binary.BigEndian.Uint32(sum) {
		return errChecksum
	}
	if int64(len(payload)) < l.file.info.maxCompressedLength {
		return l.codec.decode(dst, payload)
	}
	if len(payload) != l.file.info.rawLength(len(dst)) {
		return lengthError(len(payload), len(dst))
	}
	copy(dst, payload)
	return nil
}
