package sstable

import (
	"bytes"
	"context"

	"manifest/internal/sstable/chunk"
	"manifest/internal/sstable/data"
	"manifest/tokenrange"
)

// Keys gives the serialized partition keys that some SSTable of the table has in
// a token range, each once, in token order; whether anything of the partition is
// visible only a scan tells. It reads indexes and leaves the data alone, but for
// short partitions of the bti format, whose indexes do not have the keys. No
// checksum covers an index: to be sure of all keys, scan with Query.Keys. A key is
// valid until emit returns.
func (t *Table) Keys(ctx context.Context, tokens tokenrange.Range, emit func(key []byte) error) error {
	if tokens == (tokenrange.Range{}) {
		tokens = t.partitioner.Ring()
	}
	var sources []*keys
	for _, b := range t.bindings {
		layout := data.NewLayout(b.header, b.reader.set.Version, t.partitioner, b.static, b.regular)
		cursor := layout.NewCursor(b.reader.file.NewWindow(chunk.WindowOptions{Step: seekBytes}))
		defer cursor.Close()
		k, err := newKeys(b.reader, cursor, tokens)
		if err != nil {
			return err
		}
		ok, err := k.next()
		if err != nil {
			return err
		}
		if ok {
			sources = append(sources, k)
		}
	}
	var key []byte
	for n := 0; len(sources) > 0; n++ {
		if n&0x3ff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		first := sources[0]
		for _, k := range sources[1:] {
			if c := k.token.Compare(first.token); c < 0 || c == 0 && bytes.Compare(k.key, first.key) < 0 {
				first = k
			}
		}
		key = append(key[:0], first.key...)
		if err := emit(key); err != nil {
			return err
		}
		rest := sources[:0]
		for _, k := range sources {
			ok := true
			if bytes.Equal(k.key, key) {
				var err error
				if ok, err = k.next(); err != nil {
					return err
				}
			}
			if ok {
				rest = append(rest, k)
			}
		}
		sources = rest
	}
	return nil
}

// seekBytes is what is read at once where partitions are jumped to.
const seekBytes = 16 << 10
