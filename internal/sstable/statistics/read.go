package statistics

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"manifest/internal/cqltype"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
)

// maxSize bounds Statistics.db, whose largest parts are two histograms, the
// header's type strings, and clustering keys.
const maxSize = 256 << 20

// Statistics is what Statistics.db holds.
type Statistics struct {
	// Partitioner is the Java class that computed the tokens.
	Partitioner string
	Header      Header
	// Stats is nil where the component is not of the form of its version.
	Stats *Stats
}

// Types of components.
const (
	validation = 0
	compaction = 1
	stats      = 2
	header     = 3
)

// Read reads the Statistics.db of an SSTable.
func Read(ctx context.Context, set *component.Set) (*Statistics, error) {
	path := set.Path(component.Statistics)
	b, err := set.Read(ctx, component.Statistics, maxSize)
	if err != nil {
		return nil, err
	}
	parts, err := split(b, path, set.Version)
	if err != nil {
		return nil, err
	}
	s := &Statistics{}
	for _, required := range []int32{validation, header} {
		if _, ok := parts[required]; !ok {
			return nil, fault.Corruptf(path, -1, "no component of type %d", required)
		}
	}
	r := primitive.NewReader(parts[validation].bytes)
	s.Partitioner = string(r.Bytes16())
	if r.Float64(); r.Err() != nil || r.Len() > 0 {
		return nil, fault.Corruptf(path, parts[validation].offset, "malformed component VALIDATION")
	}
	h := parts[header]
	at, err := s.Header.read(h.bytes)
	if errors.Is(err, cqltype.ErrUnsupportedType) {
		return nil, fault.Unsupportedf(path, "%w", err)
	}
	if err != nil {
		return nil, fault.Corruptf(path, h.offset+int64(at), "component HEADER: %w", err)
	}
	if p, ok := parts[stats]; ok {
		s.Stats = readStats(p.bytes, set.Version)
	}
	return s, nil
}

// part is the place and the bytes of one component.
type part struct {
	offset int64
	bytes  []byte
}

// split cuts the file along its table and verifies the checksums.
func split(b []byte, path string, version component.Version) (map[int32]part, error) {
	sum := 0
	if version.HasMetadataChecksum() {
		sum = 4
	}
	corrupt := func(offset int, format string, args ...any) (map[int32]part, error) {
		return nil, fault.Corruptf(path, int64(offset), format, args...)
	}
	// verify compares the checksum that stands at end.
	verify := func(start, end int) bool {
		return sum == 0 || crc32.ChecksumIEEE(b[start:end]) == binary.BigEndian.Uint32(b[end:])
	}
	r := primitive.NewReader(b)
	count := int(r.Int32())
	r.Bytes(sum)
	const known = 4
	if r.Err() != nil || count < 0 || count > known || !verify(0, 4) {
		return corrupt(0, "malformed count of components")
	}
	type entry struct {
		typ    int32
		offset int
	}
	entries := make([]entry, count)
	for i := range entries {
		entries[i] = entry{r.Int32(), int(r.Int32())}
	}
	end := r.Offset()
	r.Bytes(sum)
	if r.Err() != nil {
		return corrupt(end, "the table of components: %w", r.Err())
	}
	if sum > 0 {
		// This checksum goes on from the count's and leaves that one's bytes out.
		if crc := crc32.Update(crc32.ChecksumIEEE(b[:4]), crc32.IEEETable, b[4+sum:end]); crc != binary.BigEndian.Uint32(b[end:]) {
			return corrupt(end, "the checksum of the table of components does not match")
		}
	}
	parts := map[int32]part{}
	for i, e := range entries {
		limit := len(b)
		if i+1 < count {
			limit = entries[i+1].offset
		}
		from := r.Offset()
		if i > 0 {
			from = entries[i-1].offset
		}
		if e.offset < from || limit > len(b) || e.offset+sum > limit {
			return corrupt(4+sum+8*i, "component %d is from %d to %d in a file of %d bytes", e.typ, e.offset, limit, len(b))
		}
		if !verify(e.offset, limit-sum) {
			return corrupt(e.offset, "the checksum of component %d does not match", e.typ)
		}
		if _, twice := parts[e.typ]; twice || e.typ < validation || e.typ > header {
			return corrupt(4+sum+8*i, "unexpected component of type %d", e.typ)
		}
		parts[e.typ] = part{int64(e.offset), b[e.offset : limit-sum]}
	}
	return parts, nil
}
