package accesspath

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/selection"
	"manifest/internal/tokensort"
	"manifest/tokenrange"
)

// KeyFilter is what the partition key alone decides of a condition; nil if that is nothing.
func KeyFilter(table *schema.Table, rows selection.Condition) (*selection.Filter, error) {
	var key []selection.Column
	for _, c := range table.OfKind(schema.PartitionKey) {
		key = append(key, selection.Column{Name: c.Name, Type: c.Type})
	}
	var decided []selection.Condition
	for _, c := range rows.Conjuncts() {
		if _, err := selection.Compile(c, key); err == nil {
			decided = append(decided, c)
		}
	}
	if len(decided) == 0 {
		return nil, nil
	}
	return selection.Compile(selection.All(decided...), key)
}

// Hashable tells whether the partition keys of a table are of types whose tokens are computed from records here.
func Hashable(table *schema.Table) bool {
	for _, c := range table.OfKind(schema.PartitionKey) {
		switch c.Type.Kind {
		case cqltype.Text, cqltype.Ascii, cqltype.UUID, cqltype.Timeuuid, cqltype.Date, cqltype.Int, cqltype.Bigint, cqltype.Timestamp:
		default:
			return false
		}
	}
	return true
}

// KeyOptions of a KeyGatherer.
type KeyOptions struct {
	// Dir is an existing directory, which keeps the tokens of each committed split.
	Dir string
	// Memory is about the most that a part holds. Default as in tokensort.
	Memory      int64
	Partitioner tokenrange.Partitioner
}

// KeyGatherer keeps the tokens of the partitions whose key is wanted, for DistinctThenRead. Begin may be called concurrently.
type KeyGatherer struct {
	wanted *selection.Filter
	opts   KeyOptions
	names  []string
}

// NewKeyGatherer makes a gatherer of the partition keys that a filter of them wants.
func NewKeyGatherer(table *schema.Table, wanted *selection.Filter, opts KeyOptions) (*KeyGatherer, error) {
	if wanted == nil || !Hashable(table) {
		return nil, fmt.Errorf("%w: no condition is about the partition key of %s alone", ErrImpossible, table)
	}
	g := &KeyGatherer{wanted: wanted, opts: opts}
	for _, c := range table.OfKind(schema.PartitionKey) {
		g.names = append(g.names, c.Name)
	}
	return g, nil
}

// Columns to read.
func (g *KeyGatherer) Columns() []string { return g.names }

// Begin starts the part of a split. Exactly one of the part's Commit and Abort must be called.
func (g *KeyGatherer) Begin(ctx context.Context, split tokenrange.Split) (*KeyPart, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	part, err := tokensort.NewPart(tokensort.Options{Dir: g.opts.Dir, Memory: g.opts.Memory}, split.ID)
	return &KeyPart{Part: part, gatherer: g}, err
}

// Ranges gives the number of partitions that are wanted, and the ranges of as many of them as may be listed.
func (g *KeyGatherer) Ranges(ctx context.Context, splits []string) (ranges []tokenrange.Range, wanted int64, err error) {
	s, err := tokensort.MergeParts(ctx, g.opts.Dir, tokensort.Options{Dir: g.opts.Dir, Memory: g.opts.Memory}, splits)
	if err != nil {
		return nil, 0, err
	}
	in, err := s.Open()
	if err != nil {
		return nil, 0, errors.Join(err, s.Close())
	}
	var tokens []tokenrange.Token
	err = tokensort.Each(ctx, in, func(key, _ []byte) error {
		wanted++
		if len(tokens) == maxList {
			return nil
		}
		t, err := tokensort.TokenOf(key)
		tokens = append(tokens, t)
		return err
	})
	return RangesOf(tokens), wanted, errors.Join(err, s.Close())
}

// KeyPart keeps the tokens of one split. It is used by one goroutine.
type KeyPart struct {
	*tokensort.Part
	gatherer *KeyGatherer
	mask     []bool
}

// Write keeps the tokens of the keys that are wanted.
func (p *KeyPart) Write(ctx context.Context, rec arrow.Record) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var key []arrow.Array
	for _, name := range p.gatherer.names {
		found := rec.Schema().FieldIndices(name)
		if len(found) != 1 {
			return fmt.Errorf("column %q of a partition key is there %d times", name, len(found))
		}
		key = append(key, rec.Column(found[0]))
	}
	if p.mask, err = p.gatherer.wanted.Mask(p.mask[:0], rec); err != nil {
		return err
	}
	for i, wanted := range p.mask {
		if !wanted {
			continue
		}
		var parts [][]byte
		for _, column := range key {
			part, err := keyPart(column, i)
			if err != nil {
				return err
			}
			parts = append(parts, part)
		}
		token := p.gatherer.opts.Partitioner.Token(tokenrange.PartitionKey(parts...))
		if err := p.Add(token.AppendBytes(nil), nil); err != nil {
			return err
		}
	}
	return nil
}

// keyPart serializes a component of a partition key.
func keyPart(arr arrow.Array, i int) ([]byte, error) {
	switch a := arr.(type) {
	case *array.String:
		return []byte(a.Value(i)), nil
	case *array.FixedSizeBinary:
		return bytes.Clone(a.Value(i)), nil
	case *array.Date32:
		return binary.BigEndian.AppendUint32(nil, uint32(a.Value(i))+1<<31), nil
	case *array.Int32:
		return binary.BigEndian.AppendUint32(nil, uint32(a.Value(i))), nil
	case *array.Int64:
		return binary.BigEndian.AppendUint64(nil, uint64(a.Value(i))), nil
	case *array.Timestamp:
		return binary.BigEndian.AppendUint64(nil, uint64(a.Value(i))), nil
	}
	return nil, fmt.Errorf("a partition key of type %s", arr.DataType())
}
