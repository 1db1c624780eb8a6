package trainset

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"

	"manifest/internal/rowform"
	"manifest/internal/tokensort"
)

// images brings rows together that are in the order of their images.
type images struct {
	in     tokensort.Stream
	tagged bool  // each row has a tag, behind the image in its key
	rows   int64 // that were read

	key  []byte   // of the image at hand
	row  []byte   // the first of its rows
	tags []string // of its rows, ascending

	begun, ended bool
	texts        map[string]string // tags that were met
}

// maxTexts bounds the tags that are kept as texts.
const maxTexts = 10_000

// next goes to the next image, and returns io.EOF behind the last one.
func (m *images) next() error {
	if !m.begun {
		m.begun = true
		if err := m.advance(); err != nil {
			return err
		}
	}
	if m.ended {
		return io.EOF
	}
	n, err := tokensort.KeyLen(m.in.Key())
	if err != nil {
		return err
	}
	m.key, m.row, m.tags = append(m.key[:0], m.in.Key()[:n]...), append(m.row[:0], m.in.Value()...), m.tags[:0]
	for !m.ended && len(m.in.Key()) >= n && string(m.in.Key()[:n]) == string(m.key) {
		if m.tagged {
			if err := m.addTag(m.in.Key()[n:]); err != nil {
				return err
			}
		}
		m.rows++
		if err := m.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (m *images) addTag(suffix []byte) error {
	var buf [64]byte
	tag, _, err := tokensort.TakeText(buf[:0], suffix)
	if err != nil {
		return err
	}
	if len(m.tags) > 0 && m.tags[len(m.tags)-1] == string(tag) {
		return nil
	}
	text, ok := m.texts[string(tag)]
	if !ok {
		if m.texts == nil || len(m.texts) >= maxTexts {
			m.texts = map[string]string{}
		}
		text = string(tag)
		m.texts[text] = text
	}
	m.tags = append(m.tags, text)
	return nil
}

func (m *images) advance() error {
	err := m.in.Next()
	if errors.Is(err, io.EOF) {
		m.ended = true
		return nil
	}
	return err
}

// candidates is a stream of the images that the index chooses: their tags, and the cells of the first of their rows.
type candidates struct {
	images
	plan   *Plan
	counts *Counts
	digest *xxh3.Hasher // of the keys of all candidates; nil where nobody asks for it
	value  []byte
}

// makeCandidates makes the candidates of the gathered rows of the base.
func (b *Builder) makeCandidates() (*candidates, error) {
	in, err := b.base.Open()
	if err != nil {
		return nil, err
	}
	return &candidates{images: images{in: in, tagged: b.plan.base == Tags}, plan: b.plan, counts: &b.counts}, nil
}

func (c *candidates) Next() error {
	for {
		err := c.next()
		c.counts.IndexRows = c.rows
		if err != nil {
			return err
		}
		c.counts.Images++
		if c.plan.base == Tags && !c.plan.spec.Tags.Matches(c.tags) {
			continue
		}
		c.counts.Candidates++
		c.value = append(appendTags(c.value[:0], c.tags), c.row...)
		if c.digest != nil {
			_, err = c.digest.Write(c.key)
		}
		return err
	}
}

func (c *candidates) Key() []byte   { return c.key }
func (c *candidates) Value() []byte { return c.value }
func (c *candidates) Close() error  { return c.in.Close() }

// tagSets is a stream of images whose cells are those of the set of their tags.
type tagSets struct {
	images
	value []byte
}

func (t *tagSets) Next() error {
	if err := t.next(); err != nil {
		return err
	}
	t.value = appendTags(t.value[:0], t.tags)
	return nil
}

func (t *tagSets) Key() []byte   { return t.key }
func (t *tagSets) Value() []byte { return t.value }
func (t *tagSets) Close() error  { return t.in.Close() }

// appendTags appends the cell of a set of tags, which ascend.
func appendTags(dst []byte, tags []string) []byte {
	var buf [256]byte
	content := buf[:0]
	for _, tag := range tags {
		content = rowform.AppendContent(content, []byte(tag))
	}
	return rowform.AppendContent(dst, content)
}

// tagsOf reads a cell that appendTags made.
func tagsOf(content []byte) (tags []string, err error) {
	cells, err := rowform.Cells(nil, content)
	for _, c := range cells {
		tags = append(tags, string(c))
	}
	if !slices.IsSorted(tags) {
		err = errors.Join(err, fmt.Errorf("%w: tags are out of order", ErrInput))
	}
	return tags, err
}
