package sstable

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/index"
	"manifest/internal/sstable/statistics"
	"manifest/tokenrange"
)

// Reader is one open SSTable. It may be used by many goroutines.
type Reader struct {
	set         *component.Set
	statistics  *statistics.Statistics
	partitioner tokenrange.Partitioner
	file        *chunk.File
	index       index.Index // nil if there is none that helps
	seams       seams

	// tokens are those to read, where restricted.
	tokens     tokenrange.IntervalSet
	restricted bool
}

// Open opens an SSTable: it reads its metadata and leaves its data alone.
func Open(ctx context.Context, set *component.Set) (*Reader, error) {
	stats, err := statistics.Read(ctx, set)
	if err != nil {
		return nil, err
	}
	p, err := tokenrange.PartitionerByName(stats.Partitioner)
	if err != nil {
		return nil, fault.Unsupportedf(set.Path(component.Statistics), "%w", err)
	}
	r := &Reader{set: set, statistics: stats, partitioner: p}
	if r.index, err = index.Open(ctx, set, p); err != nil {
		return nil, err
	}
	if r.file, err = chunk.Open(ctx, set); err != nil {
		if r.index != nil {
			err = errors.Join(err, r.index.Close())
		}
		return nil, err
	}
	return r, nil
}

// OpenAll opens the SSTables of a folder.
func OpenAll(ctx context.Context, s component.Storage) ([]*Reader, error) {
	readers, errs := OpenEach(ctx, s)
	if len(errs) > 0 {
		return nil, errors.Join(append(errs, CloseAll(readers))...)
	}
	return readers, nil
}

// OpenEach opens the SSTables of a folder, and gives those that it could open
// together with an error for each of the others.
func OpenEach(ctx context.Context, s component.Storage) ([]*Reader, []error) {
	sets, errs := component.FindEach(ctx, s)
	var readers []*Reader
	for _, set := range sets {
		r, err := Open(ctx, set)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		readers = append(readers, r)
	}
	return readers, errs
}

// CloseAll closes readers.
func CloseAll(readers []*Reader) error {
	var errs []error
	for _, r := range readers {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Close closes the files. No scan may be running.
func (r *Reader) Close() error {
	err := r.file.Close()
	if r.index != nil {
		err = errors.Join(err, r.index.Close())
	}
	return err
}

// Descriptor identifies the SSTable within its folder.
func (r *Reader) Descriptor() component.Descriptor { return r.set.Descriptor }

// Path is that of Data.db.
func (r *Reader) Path() string { return r.file.Path() }

// Header has the types of the SSTable's columns.
func (r *Reader) Header() *statistics.Header { return &r.statistics.Header }

// Stats are figures about the SSTable; nil where it has none that are
// understood.
func (r *Reader) Stats() *statistics.Stats { return r.statistics.Stats }

// Partitioner computed the SSTable's tokens.
func (r *Reader) Partitioner() tokenrange.Partitioner { return r.partitioner }

// Fingerprint tells the SSTable's content from that of others: its name, its
// size, and the checksum that was made when it was written.
func (r *Reader) Fingerprint(ctx context.Context) (string, error) {
	digest := "-"
	if r.set.Has(component.Digest) {
		text, err := r.set.Read(ctx, component.Digest, maxDigest)
		if err != nil {
			return "", err
		}
		digest = strings.TrimSpace(string(text))
	}
	return fmt.Sprintf("%s %d %s", r.set.Descriptor, r.StoredSize(), digest), nil
}

// Bounds are the first and the last partition key; nil where neither an index
// nor the figures have them.
func (r *Reader) Bounds() (first, last []byte) {
	switch {
	case r.index != nil:
		return r.index.Bounds()
	case r.statistics.Stats != nil:
		return r.statistics.Stats.FirstKey, r.statistics.Stats.LastKey
	}
	return nil, nil
}

// Size is the length of the uncompressed data in bytes.
func (r *Reader) Size() int64 { return r.file.Size() }

// StoredSize is the length of Data.db in bytes.
func (r *Reader) StoredSize() int64 { return r.file.StoredSize() }
