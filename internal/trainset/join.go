package trainset

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"manifest/internal/rowform"
	"manifest/internal/tokensort"
)

// Gathered are the rows of the reads of candidates, by role.
type Gathered map[Role]*tokensort.Sorter

// join joins the candidates with what else was gathered, leaves out those that the condition or the tags don't choose, and rejects those
// without metadata or with another status. What is left goes to take, in the order of the keys. pins may be nil.
//
//	one goroutine                      another
//	candidates, right rows ──> joined batch ──> condition, status ──> take
func (b *Builder) join(ctx context.Context, gathered Gathered, pins *Pins, take func(acceptedRow) error) (err error) {
	j := &joining{plan: b.plan, counts: &b.counts, free: make(chan *joinedBatch, joinBatches)}
	for range joinBatches {
		j.free <- new(joinedBatch)
	}
	if j.join, err = b.openJoin(gathered, pins, &j.roles); err != nil {
		return err
	}
	full := make(chan *joinedBatch, joinBatches)
	stages, ctx := errgroup.WithContext(ctx)
	stages.Go(func() error {
		defer close(full)
		return j.all(ctx, full)
	})
	stages.Go(func() error {
		a := newAccepting(b, take)
		defer a.builders.Release()
		for batch := range full {
			if err := a.decide(batch); err != nil {
				return err
			}
			batch.clear()
			j.free <- batch
		}
		return nil
	})
	if err := stages.Wait(); err != nil {
		return fmt.Errorf("join images: %w", err)
	}
	return nil
}

// openJoin joins the candidates with rows of roles, and behind these with the images of pins.
func (b *Builder) openJoin(gathered Gathered, pins *Pins, roles *[]Role) (*tokensort.Join, error) {
	left, err := b.openCandidates()
	if err != nil {
		return nil, err
	}
	var rights []tokensort.Stream
	for _, r := range []Role{Metadata, Reviews, Tags} {
		s := gathered[r]
		if s == nil || r == b.plan.base {
			continue
		}
		in, err := s.Open()
		if err != nil {
			return nil, errors.Join(err, tokensort.NewJoin(left, nil, rights...).Close())
		}
		if r == Tags {
			in = &tagSets{images: images{in: in, tagged: true}}
		}
		*roles = append(*roles, r)
		rights = append(rights, in)
	}
	if pins != nil {
		in, err := pins.Images.Open()
		if err != nil {
			return nil, errors.Join(err, tokensort.NewJoin(left, nil, rights...).Close())
		}
		rights = append(rights, in)
	}
	return tokensort.NewJoin(left, nil, rights...), nil
}

// joinedBatch is joined rows that wait together, so that the condition looks at columns.
type joinedBatch struct {
	bytes []byte // of keys and rows
	rows  []joinedRow
}

// joinedRow is an image and what is known of it.
type joinedRow struct {
	key, end int  // where the key and the row end; each begins where the one before ends
	missing  bool // it has no row of metadata
	pinned   bool
}

const (
	joinBatchRows = 4096
	joinBatches   = 3 // at a time
)

func (b *joinedBatch) clear() { b.bytes, b.rows = b.bytes[:0], b.rows[:0] }

// each calls f for the rows.
func (b *joinedBatch) each(f func(i int, r joinedRow, key, row []byte) error) error {
	from := 0
	for i, r := range b.rows {
		if err := f(i, r, b.bytes[from:r.key], b.bytes[r.key:r.end]); err != nil {
			return err
		}
		from = r.end
	}
	return nil
}

// joining makes joined rows.
type joining struct {
	plan   *Plan
	counts *Counts // of candidates alone
	join   *tokensort.Join
	roles  []Role // of the right streams; a further one are the pinned images
	free   chan *joinedBatch

	base  [][]byte
	right [][][]byte
	id    []byte
}

// all fills batches until nothing is left to join.
func (j *joining) all(ctx context.Context, full chan<- *joinedBatch) error {
	var batch *joinedBatch
	err := tokensort.Each(ctx, j.join, func(key, value []byte) error {
		if batch == nil {
			select {
			case batch = <-j.free:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := j.row(batch, key, value); err != nil {
			return err
		}
		if len(batch.rows) == joinBatchRows {
			full <- batch
			batch = nil
		}
		return nil
	})
	if err == nil && batch != nil {
		full <- batch
	}
	return err
}

// row joins a row into the batch.
func (j *joining) row(batch *joinedBatch, key, value []byte) (err error) {
	p := j.plan
	if len(j.roles) == 0 { // the cells of the base are those of the joined row, behind the id
		return j.copyRow(batch, key, value)
	}
	if j.base, err = rowform.Cells(j.base[:0], value); err != nil {
		return err
	}
	if j.id, err = tokensort.PartitionKey(j.id[:0], key); err != nil {
		return err
	}
	tags := j.base[0]
	missing := false
	for len(j.right) < len(j.roles) {
		j.right = append(j.right, nil)
	}
	for i, r := range j.roles {
		value, ok := j.join.Right(i)
		if j.right[i], err = rowform.Cells(j.right[i][:0], value); err != nil {
			return err
		}
		if r == Metadata && !ok {
			missing = true
		}
		if r == Tags && ok {
			tags = j.right[i][0]
		}
	}
	if p.spec.Tags != nil && p.base != Tags {
		names, err := tagsOf(tags)
		if err != nil {
			return err
		}
		if !p.spec.Tags.Matches(names) {
			j.counts.Candidates--
			return nil
		}
	}
	row := joinedRow{missing: missing, pinned: j.join.Has(len(j.roles))}
	batch.bytes = append(batch.bytes, key...)
	row.key = len(batch.bytes)
	batch.bytes = rowform.AppendContent(batch.bytes, j.id)
	batch.bytes = rowform.AppendContent(batch.bytes, tags)
	for _, c := range p.joined[2:] {
		batch.bytes = appendCell(batch.bytes, j.cell(c))
	}
	row.end = len(batch.bytes)
	batch.rows = append(batch.rows, row)
	return nil
}

// copyRow takes a candidate as it is.
func (j *joining) copyRow(batch *joinedBatch, key, value []byte) (err error) {
	if j.id, err = tokensort.PartitionKey(j.id[:0], key); err != nil {
		return err
	}
	row := joinedRow{pinned: j.join.Has(0)}
	batch.bytes = append(batch.bytes, key...)
	row.key = len(batch.bytes)
	batch.bytes = append(rowform.AppendContent(batch.bytes, j.id), value...)
	row.end = len(batch.bytes)
	batch.rows = append(batch.rows, row)
	return nil
}

// cell is that of a joined column in the rows at hand; nil where there is no row.
func (j *joining) cell(c joinedColumn) []byte {
	if c.role == j.plan.base {
		return j.base[1+c.from]
	}
	for i, r := range j.roles {
		if r == c.role && c.from < len(j.right[i]) {
			return j.right[i][c.from]
		}
	}
	return nil
}

func appendCell(dst, content []byte) []byte {
	if content == nil {
		return append(dst, rowform.Null...)
	}
	return rowform.AppendContent(dst, content)
}
