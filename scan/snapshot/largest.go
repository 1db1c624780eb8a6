package snapshot

import (
	"fmt"

	"manifest/internal/schema"
	"manifest/internal/sstable"
	"manifest/scan"
	"manifest/tokenrange"
)

// partitions follows a read's partitions: what the first and the last key are,
// and which partitions are the largest. It is told of them in token order.
type partitions struct {
	columns     []schema.Column // of the key
	first, last []byte          // serialized keys; nil before the first partition
	largest     scan.Largest
	err         error
}

func (p *partitions) add(read sstable.Partition) {
	if p.first == nil {
		p.first = append([]byte{}, read.Key...)
	}
	p.last = append(p.last[:0], read.Key...)
	if p.largest.Wants(read.Rows, read.Bytes) {
		p.largest.Add(scan.Partition{Key: p.text(read.Key), Token: read.Token, Rows: read.Rows, Bytes: read.Bytes})
	}
}

// text gives a serialized key as receipts have it.
func (p *partitions) text(key []byte) string {
	values, err := tokenrange.SplitPartitionKey(nil, key, len(p.columns))
	if err != nil {
		p.err = fmt.Errorf("key of a partition: %w", err)
		return ""
	}
	return schema.KeyText(p.columns, values)
}

// describe says what was read.
func (p *partitions) describe(s *scan.ReadStats) error {
	if p.first != nil {
		s.First, s.Last = p.text(p.first), p.text(p.last)
		s.Largest = p.largest.All()
	}
	return p.err
}
