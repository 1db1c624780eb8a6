package queries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/groups"
	"manifest/queries/internal/ordered"
	"manifest/queries/internal/vector"
)

// tagPairs finds the tags of every image and day in the rows; Finish makes pairs of them (see pairing).
func tagPairs(r *resolver, name string, o NamedOptions) (*Query, error) {
	m := o.Mapping.Tag
	g := grouping{}
	day, err := r.day(m.Day)
	if err != nil {
		return nil, err
	}
	g.addKey("day", day)
	for _, key := range []struct{ name, text string }{{"image", m.Image}, {"tag", m.Tag}} {
		slot, err := r.text(key.text)
		if err != nil {
			return nil, err
		}
		g.addKey(key.name, slot)
	}
	tag := r.program.Kind(g.keys[2])
	fields := []field{
		keyField("day", vector.Date, 0),
		notNull(keyField("rank", vector.Int32, 1)),
		notNull(keyField("tag_a", tag, 2)),
		notNull(keyField("tag_b", tag, 3)),
		notNull(keyField("images", vector.Int64, 4)),
		notNull(keyField("pairs", vector.Int64, 5)),
	}
	t, err := newResultTable(name, true, fields)
	if err != nil {
		return nil, err
	}
	options := fmt.Sprintf("by %s, %s, %s top %d", m.Day, m.Image, m.Tag, o.TopPairs)
	q := newQuery(name, r, options, []ResultTable{t}, []grouping{g})
	q.result = func(a *Aggregation, w *resultWriter) (result, error) { return newPairing(a, w, fields, o.TopPairs) }
	return q, nil
}

// pairing is the result of tag-pairs. The keys that come in are day, image and tag, in this order, so the tags of an image are together
// and so are the images of a day. Each two tags of an image become a row (tag, tag) that is counted in groups, which spill like those of
// a part; at the end of a day the greatest counts are kept.
//
// Tags are handled as the bytes they have in keys, whose order is theirs.
type pairing struct {
	store
	aggregation *Aggregation
	writer      *resultWriter
	fields      []field
	limit       int // pairs of a day that are listed

	image []byte // start of the keys of an image: day and image
	day   int    // length of the day in image
	tags  []byte // of the image, one behind the other
	ends  []int  // of the tags

	a, b  *vector.Vector // pairs that are not in groups yet
	runs  []string
	count accumulate.States // scratch

	top   topPairs
	total int64 // different pairs of the day
	row   row
}

// pairShape is that of the keys of pairs: two byte strings.
var pairShape = groups.Shape{Kinds: []vector.Kind{vector.Blob, vector.Blob}}

var pairStates = []accumulate.Aggregate{{Func: "count", Rows: true}}

func newPairing(a *Aggregation, w *resultWriter, fields []field, limit int) (*pairing, error) {
	p := &pairing{
		store:       store{options: a.options, query: a.query.text, name: "pairs"},
		aggregation: a, writer: w, fields: fields, limit: limit,
		a: &vector.Vector{Kind: vector.Blob}, b: &vector.Vector{Kind: vector.Blob},
		row: row{keys: make([]vector.Value, len(fields))},
	}
	found, err := groups.New(pairShape, pairStates)
	if err != nil {
		return nil, err
	}
	p.sets = []set{{groups: found, keys: []*vector.Vector{p.a, p.b}, arguments: []*vector.Vector{nil}}}
	p.count, err = accumulate.NewStates(pairStates)
	return p, err
}

// add takes a tag of an image. Tags and images that are NULL are in no pair.
func (p *pairing) add(ctx context.Context, key, state []byte) error {
	shape := &p.aggregation.query.groupings[0].shape
	image, err := shape.Prefix(key, 2)
	if err != nil || len(state) > 0 || image == len(key) {
		return fmt.Errorf("%w: key %x", ErrCorrupt, key)
	}
	if !bytes.Equal(key[:image], p.image) {
		if err := p.endImage(); err != nil {
			return err
		}
		day, err := shape.Prefix(key, 1)
		if err != nil {
			return fmt.Errorf("%w: key %x", ErrCorrupt, key)
		}
		if !bytes.Equal(key[:day], p.image[:p.day]) {
			if err := p.enterDay(ctx, key[:day]); err != nil {
				return err
			}
		}
		p.image, p.day = append(p.image[:0], key[:image]...), day
	}
	if key[p.day] == ordered.Null || key[image] == ordered.Null {
		return nil
	}
	p.tags = append(p.tags, key[image:]...)
	p.ends = append(p.ends, len(p.tags))
	if most := max(minTags, p.options.Memory/4); int64(len(p.tags)) > most {
		return fmt.Errorf("group %s: the tags of the image take more than %d bytes: %w", p.aggregation.query.groupName(key), most, ErrOverflow)
	}
	return nil
}

// minTags is how many bytes of tags an image may have whatever the memory.
const minTags = 1 << 20

// endImage counts the pairs of the tags of an image.
func (p *pairing) endImage() error {
	startA := 0
	for i, endA := range p.ends {
		startB := endA
		for _, endB := range p.ends[i+1:] {
			p.a.Append(p.tags[startA:endA])
			p.b.Append(p.tags[startB:endB])
			startB = endB
			if p.a.Len == vector.BlockRows {
				if err := p.countPairs(); err != nil {
					return err
				}
			}
		}
		startA = endA
	}
	p.tags, p.ends = p.tags[:0], p.ends[:0]
	return nil
}

// countPairs counts the pairs that are not in groups.
func (p *pairing) countPairs() error {
	if err := p.sets[0].add(0, p.a.Len); err != nil {
		return err
	}
	p.a.Truncate()
	p.b.Truncate()
	if p.measure(); p.memory <= p.share() {
		return nil
	}
	return p.spill(&p.runs, p.share())
}

// share is the memory of the pairs; the rest is for the files that are being merged.
func (p *pairing) share() int { return int(p.options.Memory / 2) }

// enterDay ends the day before.
func (p *pairing) enterDay(ctx context.Context, day []byte) error {
	if err := p.endDay(ctx); err != nil {
		return err
	}
	value := make([]vector.Value, 1)
	// The mark is behind the day.
	shape := groups.Shape{Kinds: []vector.Kind{vector.Date}, MarkAt: 1}
	if err := shape.Decode(day, value); err != nil {
		return fmt.Errorf("%w: day %x", ErrCorrupt, day)
	}
	return p.writer.enterDay(value[0])
}

// endDay writes the pairs of the day that most images have.
func (p *pairing) endDay(ctx context.Context) error {
	if err := p.countPairs(); err != nil {
		return err
	}
	if len(p.runs) == 0 {
		found := p.sets[0].groups
		for i := range found.Len() {
			p.state = found.AppendState(p.state[:0], i, false)
			if err := p.see(found.Key(i), p.state); err != nil {
				return err
			}
		}
		p.forget(p.share())
	} else {
		if err := p.spill(&p.runs, p.share()); err != nil {
			return err
		}
		if err := p.aggregation.merger(p.share(), p.combine).Merge(ctx, p.runs, p.see); err != nil {
			return err
		}
		p.runs = p.runs[:0]
		if err := p.removeRuns(); err != nil {
			return err
		}
	}
	return p.write()
}

// images returns the count of a pair from its states.
func (p *pairing) images(states ...[]byte) (int64, error) {
	p.count.Reset()
	p.count.Grow(1)
	for _, state := range states {
		if err := p.count.Merge(0, state); err != nil {
			return 0, err
		}
	}
	n, err := p.count[0].Result(0, 0)
	return n.Int, err
}

func (p *pairing) combine(_ []byte, states [][]byte) ([]byte, error) {
	if _, err := p.images(states...); err != nil {
		return nil, err
	}
	p.state = p.count.AppendState(p.state[:0], 0, false)
	return p.state, nil
}

// see takes a pair of the day with its count.
func (p *pairing) see(key, state []byte) error {
	images, err := p.images(state)
	if err != nil {
		return err
	}
	p.total++
	p.top.offer(pair{images, key}, p.limit)
	return nil
}

// write writes the listed pairs of the day and forgets them.
func (p *pairing) write() error {
	slices.SortFunc(p.top, func(a, b pair) int { return -a.compare(b) })
	var tags [2]vector.Value
	keys := p.row.keys
	tag := groups.Shape{Kinds: p.aggregation.query.groupings[0].shape.Kinds[2:], MarkAt: -1}
	for i, listed := range p.top {
		if err := pairShape.Decode(listed.key, tags[:]); err != nil {
			return err
		}
		for at, t := range tags {
			if err := tag.Decode(t.Bytes, keys[2+at:3+at]); err != nil {
				return err
			}
		}
		keys[0], keys[1].Int, keys[4].Int, keys[5].Int = p.writer.dayValue(), int64(i+1), listed.images, p.total
		if err := p.writer.appendRow(0, p.fields, &p.row); err != nil {
			return err
		}
	}
	p.top, p.total = p.top[:0], 0
	return nil
}

func (p *pairing) end(ctx context.Context) error {
	if err := p.endImage(); err != nil {
		return err
	}
	if err := p.endDay(ctx); err != nil {
		return err
	}
	return p.writer.end(ctx)
}

func (p *pairing) release() error { return errors.Join(p.writer.release(), p.removeRuns()) }
