package snapshot

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/array"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/tokenrange"
)

// chooser tells which partitions of a split are wanted. It belongs to the
// goroutine that reads the split.
type chooser struct {
	filter    PartitionFilter
	builder   *array.RecordBuilder
	appenders []cqltype.Appender
	parts     [][]byte
	mask      []bool

	keys, matching int64 // by the indexes
	err            error // of wanted
}

// lookedAt is how many keys are shown to the filter at once.
const lookedAt = 1024

// choose looks at the keys that the indexes have in a range.
func (s *Source) choose(ctx context.Context, tokens tokenrange.Range) (_ *chooser, err error) {
	t := s.table.Schema().Table
	key := t.OfKind(schema.PartitionKey)
	selected := make([]schema.Selected, len(key))
	for i, c := range key {
		selected[i] = schema.Selected{Name: c.Name, Column: c, Type: c.Type}
	}
	arrowSchema, err := t.Arrow(selected)
	if err != nil {
		return nil, err
	}
	c := &chooser{filter: s.opts.Partitions, builder: array.NewRecordBuilder(s.opts.Allocator, arrowSchema)}
	defer func() {
		if err != nil {
			c.release()
		}
	}()
	for i, k := range key {
		a, err := cqltype.NewAppender(k.Type, c.builder.Field(i))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", k.Name, err)
		}
		c.appenders = append(c.appenders, a)
	}
	n := 0
	err = s.table.Keys(ctx, tokens, func(key []byte) error {
		if err := c.append(key); err != nil {
			return err
		}
		if n++; n < lookedAt {
			return nil
		}
		n = 0
		return c.count()
	})
	if err == nil && n > 0 {
		err = c.count()
	}
	return c, err
}

func (c *chooser) release() { c.builder.Release() }

// few tells whether jumping to the wanted partitions reads less than reading on
// through all of them: each jump costs some chunks.
func (c *chooser) few() bool { return c.matching*4 <= c.keys }

// append adds a key to the record.
func (c *chooser) append(key []byte) error {
	var err error
	if c.parts, err = tokenrange.SplitPartitionKey(c.parts[:0], key, len(c.appenders)); err != nil {
		return err
	}
	for i, a := range c.appenders {
		if err := a.Append(c.parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// look shows the record to the filter.
func (c *chooser) look() error {
	rec := c.builder.NewRecord()
	defer rec.Release()
	var err error
	c.mask, err = c.filter.Mask(c.mask[:0], rec)
	return err
}

// count counts the wanted keys of the record.
func (c *chooser) count() error {
	if err := c.look(); err != nil {
		return err
	}
	c.keys += int64(len(c.mask))
	for _, wanted := range c.mask {
		if wanted {
			c.matching++
		}
	}
	return nil
}

// wanted tells whether a partition is. Where that can't be told, it is left out
// and err says why, so that the read fails.
func (c *chooser) wanted(key []byte) bool {
	if c.err == nil {
		c.err = c.append(key)
	}
	if c.err == nil {
		c.err = c.look()
	}
	return c.err == nil && c.mask[0]
}
