package sstable

import (
	"context"
	"hash/crc32"
	"strconv"
	"strings"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
)

// maxDigest is more than the digits of a Digest.crc32.
const maxDigest = 64

// Verify reads the whole Data.db as it is stored and compares its checksum with
// Digest.crc32. Scans do not need it, for they verify each chunk that they read;
// it is a quick proof that a copy of an SSTable is whole.
func (r *Reader) Verify(ctx context.Context) error {
	text, err := r.set.Read(ctx, component.Digest, maxDigest)
	if err != nil {
		return err
	}
	want, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return fault.Corruptf(r.set.Path(component.Digest), 0, "%w", err)
	}
	f, err := r.set.Open(ctx, component.Data)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := uint32(0)
	buf := make([]byte, 1<<20)
	for at := int64(0); at < f.Size(); at += int64(len(buf)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		buf = buf[:min(int64(len(buf)), f.Size()-at)]
		if err := component.ReadAt(f, r.Path(), buf, at); err != nil {
			return err
		}
		sum = crc32.Update(sum, crc32.IEEETable, buf)
	}
	if uint64(sum) != want {
		return fault.Corruptf(r.Path(), -1, "the checksum of the file is %d, in Digest.crc32 %d", sum, want)
	}
	return nil
}
