package trainset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"manifest/internal/rowform"
	"manifest/internal/tokensort"
	"manifest/tokenrange"
)

// GatherOptions of a Gatherer.
type GatherOptions struct {
	// Dir is an existing directory, which keeps the run of each committed split.
	Dir string
	// Memory is about the most that a part holds. Default as in tokensort.
	Memory int64
	// Partitioner gives images their tokens.
	Partitioner tokenrange.Partitioner
	// Candidates is the run of the candidates, for a Read of their rows alone.
	Candidates string
}

// Gatherer keeps the rows of a table that are of use, sorted by the key of their image: a run for each split. Begin may be called
// concurrently.
type Gatherer struct {
	plan *Plan
	read *Read
	opts GatherOptions
}

// Gather makes a gatherer of one of the plan's reads.
func (p *Plan) Gather(read *Read, opts GatherOptions) (*Gatherer, error) {
	if !opts.Partitioner.Hashes() {
		return nil, fmt.Errorf("%w: images of a partitioner whose tokens can't be computed can't be sorted by them", ErrSpec)
	}
	if read.OfCandidates && opts.Candidates == "" {
		return nil, fmt.Errorf("%w: no candidates to gather the rows of", ErrSpec)
	}
	return &Gatherer{p, read, opts}, nil
}

// Begin starts the part of a split. Exactly one of the part's Commit and Abort must be called.
func (g *Gatherer) Begin(ctx context.Context, split tokenrange.Split) (*GatherPart, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &GatherPart{gatherer: g}
	var err error
	if p.Part, err = tokensort.NewPart(tokensort.Options{Dir: g.opts.Dir, Memory: g.opts.Memory}, split.ID); err != nil {
		return nil, err
	}
	if g.read.OfCandidates {
		if p.candidates, err = tokensort.Open(g.opts.Candidates); err != nil {
			return nil, err
		}
		// Rows come in the order of the candidates. The first token of a split is behind its start.
		if err := p.candidates.Seek(split.Range.Start.AppendBytes(nil)); err != nil {
			return nil, errors.Join(err, p.candidates.Close())
		}
	}
	return p, nil
}

// Runs gives the sorted rows of committed splits; of equal keys, those of the split of lower tokens come first. The caller closes the
// result.
func (g *Gatherer) Runs(ctx context.Context, opts tokensort.Options, splits []string) (*tokensort.Sorter, error) {
	return tokensort.MergeParts(ctx, g.opts.Dir, opts, splits)
}

// GatherPart keeps the rows of one split. It is used by one goroutine.
type GatherPart struct {
	*tokensort.Part
	gatherer   *Gatherer
	candidates *tokensort.Reader
	begun      bool // candidates stands on a row
	ended      bool // candidates has no more rows

	mask           []bool
	id, key, value []byte
}

// Write keeps the rows of a record that are of use.
func (p *GatherPart) Write(ctx context.Context, rec arrow.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	read := p.gatherer.read
	places, err := placesOf(rec.Schema(), read.Columns)
	if err != nil {
		return err
	}
	if p.mask, err = read.filter.Mask(p.mask[:0], rec); err != nil {
		return err
	}
	id := rec.Column(places[read.key])
	for i, wanted := range p.mask {
		if !wanted {
			continue
		}
		if p.id, err = appendID(p.id[:0], id, i); err != nil {
			return err
		}
		if p.key, err = p.gatherer.plan.appendKey(p.key[:0], p.gatherer.opts.Partitioner, p.id); err != nil {
			return err
		}
		if p.candidates != nil {
			if ok, err := p.isCandidate(); err != nil || !ok {
				if err != nil {
					return err
				}
				continue
			}
		}
		if read.tag >= 0 {
			tags, ok := rec.Column(places[read.tag]).(*array.String)
			if !ok {
				return fmt.Errorf("%w: tags that are no text", ErrInput)
			}
			p.key = tokensort.AppendText(p.key, []byte(tags.Value(i)))
		}
		p.value = p.value[:0]
		for _, c := range read.cells {
			if p.value, err = rowform.AppendCell(p.value, rec.Column(places[c]), i); err != nil {
				return err
			}
		}
		if err := p.Add(p.key, p.value); err != nil {
			return err
		}
	}
	return nil
}

// placesOf finds columns in a record.
func placesOf(schema *arrow.Schema, columns []string) ([]int, error) {
	places := make([]int, len(columns))
	for i, name := range columns {
		found := schema.FieldIndices(name)
		if len(found) != 1 {
			return nil, fmt.Errorf("%w: column %q is there %d times", ErrInput, name, len(found))
		}
		places[i] = found[0]
	}
	return places, nil
}

// appendID appends the bytes of an image's id, as the server serializes it.
func appendID(dst []byte, arr arrow.Array, i int) ([]byte, error) {
	if arr.IsNull(i) {
		return dst, fmt.Errorf("%w: an image without an id", ErrInput)
	}
	switch a := arr.(type) {
	case *array.FixedSizeBinary:
		return append(dst, a.Value(i)...), nil
	case *array.String:
		return append(dst, a.Value(i)...), nil
	}
	return dst, fmt.Errorf("%w: an id of type %s", ErrInput, arr.DataType())
}

// isCandidate tells whether the image of p.key is one.
func (p *GatherPart) isCandidate() (bool, error) {
	for !p.ended {
		if p.begun {
			if c := bytes.Compare(p.candidates.Key(), p.key); c >= 0 {
				return c == 0, nil
			}
		}
		p.begun = true
		if err := p.candidates.Next(); errors.Is(err, io.EOF) {
			p.ended = true
		} else if err != nil {
			return false, err
		}
	}
	return false, nil
}

// Commit makes the run of the split last, in place of an earlier one.
func (p *GatherPart) Commit(ctx context.Context) error {
	return errors.Join(p.Part.Commit(ctx), p.close())
}

// Abort removes what was kept.
func (p *GatherPart) Abort() {
	p.Part.Abort()
	_ = p.close()
}

func (p *GatherPart) close() (err error) {
	if p.candidates != nil {
		err = p.candidates.Close()
		p.candidates = nil
	}
	return err
}
