package trainset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/selection"
	"manifest/internal/tokensort"
	"manifest/tokenrange"
)

// PathKind is a way to reach the rows of a table.
type PathKind string

// The access paths.
const (
	FullScan      PathKind = "full-scan"
	PartitionList PathKind = "partition-list"
	// DistinctThenRead reads the partition keys alone, and then the partitions whose key is wanted.
	DistinctThenRead PathKind = "distinct-then-read"
)

// Path is how the rows of a read are reached, and why so.
type Path struct {
	Kind PathKind
	Why  string
	// Ranges of a partition list: each is the token of a partition.
	Ranges []tokenrange.Range
}

// PathOptions are what a path is chosen by.
type PathOptions struct {
	// Forced is asked for; empty leaves the choice.
	Forced      PathKind
	Partitioner tokenrange.Partitioner
	// Partitions is an estimate of those of the table; 0 if there is none.
	Partitions int64
	// Distinct tells that the source can read partition keys alone.
	Distinct bool
}

const (
	// maxList bounds a list of partitions: each is a unit of work and a line of the ledger.
	maxList = 20_000
	// minList partitions are read one by one even if they are most of a table.
	minList = 100
	// maxPoints bounds the images whose rows are read one by one.
	maxPoints = 500
)

// Path chooses how a read reaches its rows. candidates is the run of the candidates, for a read of theirs.
func (p *Plan) Path(read *Read, opts PathOptions, candidates string) (Path, error) {
	list, why, err := p.listPartitions(read, opts, candidates)
	if err != nil {
		return Path{}, err
	}
	switch {
	case opts.Forced == PartitionList && list == nil:
		return Path{}, fmt.Errorf("%w: a partition list of %s is not possible: %s", ErrSpec, read.Table, why)
	case opts.Forced == DistinctThenRead && !opts.Distinct:
		return Path{}, fmt.Errorf("%w: partition keys of %s can't be read alone here", ErrSpec, read.Table)
	case opts.Forced == FullScan:
		return Path{Kind: FullScan, Why: "asked for"}, nil
	case opts.Forced == PartitionList:
		return Path{Kind: PartitionList, Why: "asked for: " + why, Ranges: list}, nil
	case opts.Forced == DistinctThenRead:
		return Path{Kind: DistinctThenRead, Why: "asked for"}, nil
	case list != nil && (opts.Partitions == 0 || int64(len(list)) < opts.Partitions):
		return Path{Kind: PartitionList, Why: why, Ranges: list}, nil
	case list != nil:
		return Path{Kind: FullScan, Why: fmt.Sprintf("%d partitions are wanted, and the table has about %d", len(list), opts.Partitions)}, nil
	case opts.Distinct && read.keys != nil:
		return Path{Kind: DistinctThenRead, Why: why + ", but its partition keys tell which are wanted"}, nil
	}
	return Path{Kind: FullScan, Why: why}, nil
}

// Narrow is the path when the partition keys have been read: those of ranges are wanted, of all that there are.
func (p Path) Narrow(ranges []tokenrange.Range, all int64, partitioner tokenrange.Partitioner) Path {
	switch {
	case len(ranges) > maxList:
		return Path{Kind: FullScan, Why: fmt.Sprintf("%d of %d partitions are wanted, and more than %d are not read one by one", len(ranges), all, maxList)}
	case int64(len(ranges))*2 > all && all > 2*minList:
		return Path{Kind: FullScan, Why: fmt.Sprintf("%d of %d partitions are wanted", len(ranges), all)}
	case len(ranges) == 0:
		// Nothing is wanted: any one token tells that it is not there.
		ranges = []tokenrange.Range{tokenrange.RangeOf(partitioner.Ring().End)}
	}
	p.Ranges = ranges
	return p
}

// listPartitions gives the tokens of all partitions that can hold wanted rows, or nil; and the reason for either.
func (p *Plan) listPartitions(read *Read, opts PathOptions, candidates string) ([]tokenrange.Range, string, error) {
	if !opts.Partitioner.Hashes() {
		return nil, "tokens of this partitioner can't be computed", nil
	}
	if read.OfCandidates {
		return listCandidates(candidates, opts.Partitioner)
	}
	s := p.spec
	var names []string
	what := "tags"
	switch read.Role {
	case Tags:
		for _, tag := range s.Tags.Mentioned() {
			if tag.Glob {
				return nil, "a pattern of tags leaves the partitions open", nil
			}
			names = append(names, tag.Text)
		}
	case Devices:
		what = "devices"
		for _, device := range s.Devices {
			d := selection.ParsePattern(device)
			if d.Glob {
				return nil, "a pattern of devices leaves the partitions open", nil
			}
			names = append(names, d.Text)
		}
	}
	switch {
	case len(names) == 0:
		return nil, "nothing that is asked for names partitions", nil
	case s.From == nil || s.To == nil:
		return nil, "days without a first or a last one leave the partitions open", nil
	}
	days := int64(*s.To) - int64(*s.From) + 1
	if days <= 0 || days > maxList || int64(len(names))*days > maxList {
		return nil, fmt.Sprintf("%d %s on %d days are too many partitions to list", len(names), what, days), nil
	}
	column := map[Role]string{Tags: "tag", Devices: "device_id"}[read.Role]
	order, ok := p.keyOrder(read, s.column(read.Role, column), s.column(read.Role, "day_bucket"))
	if !ok {
		return nil, fmt.Sprintf("the partition key of %s is not its %s and day", read.Table, column), nil
	}
	var tokens []tokenrange.Token
	for _, name := range names {
		for d := *s.From; d <= *s.To; d++ {
			parts := [][]byte{[]byte(name), binary.BigEndian.AppendUint32(nil, uint32(int32(d))+1<<31)}
			key := tokenrange.PartitionKey(parts[order[0]], parts[order[1]])
			tokens = append(tokens, opts.Partitioner.Token(key))
		}
	}
	return rangesOf(tokens), fmt.Sprintf("%d %s on %d days name every partition", len(names), what, days), nil
}

// keyOrder tells the order of a name and a day in the partition key.
func (p *Plan) keyOrder(read *Read, name, day string) (order [2]int, ok bool) {
	keys := read.Table.OfKind(schema.PartitionKey)
	if len(keys) != 2 {
		return order, false
	}
	for i, k := range keys {
		switch {
		case k.Name == name && (k.Type.Kind == cqltype.Text || k.Type.Kind == cqltype.Ascii):
			order[i] = 0
		case k.Name == day && k.Type.Kind == cqltype.Date:
			order[i] = 1
		default:
			return order, false
		}
	}
	return order, keys[0].Name != keys[1].Name
}

// rangesOf gives a range for each token, in order.
func rangesOf(tokens []tokenrange.Token) []tokenrange.Range {
	slices.SortFunc(tokens, tokenrange.Token.Compare)
	var ranges []tokenrange.Range
	for _, t := range slices.Compact(tokens) {
		ranges = append(ranges, tokenrange.RangeOf(t))
	}
	return ranges
}

// listCandidates lists the tokens of candidates, if they are few.
func listCandidates(path string, partitioner tokenrange.Partitioner) (ranges []tokenrange.Range, why string, err error) {
	if path == "" {
		return nil, fmt.Sprintf("rows of the chosen images, which are not known yet: up to %d are read by their tokens", maxPoints), nil
	}
	r, err := tokensort.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Rows() == 0 {
		// Any one token tells that nothing is wanted.
		return []tokenrange.Range{tokenrange.RangeOf(partitioner.Ring().End)}, "no image was chosen", nil
	}
	if r.Rows() > maxPoints {
		return nil, fmt.Sprintf("rows of %d images: more than %d are merged with a scan", r.Rows(), maxPoints), nil
	}
	var tokens []tokenrange.Token
	for {
		if err := r.Next(); errors.Is(err, io.EOF) {
			return rangesOf(tokens), fmt.Sprintf("rows of %d images alone", len(tokens)), nil
		} else if err != nil {
			return nil, "", err
		}
		t, err := tokensort.TokenOf(r.Key())
		if err != nil {
			return nil, "", err
		}
		tokens = append(tokens, t)
	}
}

// KeyGatherer keeps the tokens of the partitions whose key is wanted, for DistinctThenRead.
type KeyGatherer struct {
	read *Read
	opts GatherOptions
	keys []schema.Column
}

// GatherKeys makes a gatherer of the partition keys of a read.
func (p *Plan) GatherKeys(read *Read, opts GatherOptions) (*KeyGatherer, error) {
	if read.keys == nil {
		return nil, fmt.Errorf("%w: no condition is about the partition key of %s alone", ErrSpec, read.Table)
	}
	return &KeyGatherer{read, opts, read.Table.OfKind(schema.PartitionKey)}, nil
}

// Columns to read.
func (g *KeyGatherer) Columns() []string {
	var names []string
	for _, k := range g.keys {
		names = append(names, k.Name)
	}
	return names
}

// Begin starts the part of a split. Exactly one of the part's Commit and Abort must be called.
func (g *KeyGatherer) Begin(ctx context.Context, split tokenrange.Split) (*KeyPart, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	part, err := newRunPart(g.opts, split.ID)
	return &KeyPart{runPart: part, gatherer: g}, err
}

// Ranges gives the ranges of all partitions that are wanted.
func (g *KeyGatherer) Ranges(ctx context.Context, opts tokensort.Options, splits []string) ([]tokenrange.Range, error) {
	s, err := mergeParts(ctx, g.opts, opts, splits)
	if err != nil {
		return nil, err
	}
	in, err := s.Open()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	var tokens []tokenrange.Token
	err = tokensort.Each(ctx, in, func(key, _ []byte) error {
		t, err := tokensort.TokenOf(key)
		tokens = append(tokens, t)
		return err
	})
	return rangesOf(tokens), errors.Join(err, s.Close())
}

// KeyPart keeps the tokens of one split. It is used by one goroutine.
type KeyPart struct {
	runPart
	gatherer *KeyGatherer
	mask     []bool
}

// Write keeps the tokens of the keys that are wanted.
func (p *KeyPart) Write(ctx context.Context, rec arrow.Record) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	places, err := placesOf(rec.Schema(), p.gatherer.Columns())
	if err != nil {
		return err
	}
	if p.mask, err = p.gatherer.read.keys.Mask(p.mask[:0], rec); err != nil {
		return err
	}
	for i, wanted := range p.mask {
		if !wanted {
			continue
		}
		var parts [][]byte
		for _, at := range places {
			part, err := keyPart(rec.Column(at), i)
			if err != nil {
				return err
			}
			parts = append(parts, part)
		}
		token := p.gatherer.opts.Partitioner.Token(tokenrange.PartitionKey(parts...))
		if err := p.sorter.Add(token.AppendBytes(nil), nil); err != nil {
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
	}
	return nil, fmt.Errorf("%w: a partition key of type %s", ErrInput, arr.DataType())
}

// Commit makes the tokens last.
func (p *KeyPart) Commit(ctx context.Context) error {
	return errors.Join(p.commit(ctx), p.sorter.Close())
}

// Abort removes what was kept.
func (p *KeyPart) Abort() { _ = p.sorter.Close() }
