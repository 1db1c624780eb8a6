package trainset

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/internal/rowform"
	"manifest/internal/tokensort"
)

// Gathered are the rows of the reads of candidates, by role.
type Gathered map[Role]*tokensort.Sorter

// Join joins the candidates with what else was gathered, leaves out those that the condition or the tags don't choose, and rejects those
// without metadata or with another status. What is left is handed to the sampling. pins may be nil.
func (b *Builder) Join(ctx context.Context, gathered Gathered, pins *Pins) (err error) {
	if b.decider, err = b.newDecider(pins); err != nil {
		return err
	}
	j := &joining{builder: b, deciding: deciding{plan: b.plan, decider: b.decider}, builders: array.NewRecordBuilder(memory.DefaultAllocator, b.plan.schema)}
	defer j.builders.Release()
	if j.join, err = b.openJoin(gathered, pins, &j.roles); err != nil {
		return err
	}
	err = tokensort.WriteRun(b.accepted, func(w *tokensort.Writer) error {
		j.to = w
		if err := tokensort.Each(ctx, j.join, j.row); err != nil {
			return err
		}
		return j.flush()
	})
	if err != nil {
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

// joining makes joined rows, a batch at a time, so that conditions look at columns.
type joining struct {
	builder  *Builder
	deciding deciding
	join     *tokensort.Join
	roles    []Role // of the right streams; a further one are the pinned images
	to       *tokensort.Writer

	builders *array.RecordBuilder
	rows     []joinedRow
	used     int // of rows
	mask     []bool
	base     [][]byte
	right    [][][]byte
	id       []byte
}

// joinedRow is an image that waits for the condition.
type joinedRow struct {
	key, row []byte
	missing  bool // it has no row of metadata
	pinned   bool
}

const joinBatch = 4096

func (j *joining) row(key, value []byte) (err error) {
	p := j.builder.plan
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
			j.builder.counts.Candidates--
			return nil
		}
	}
	if j.used == len(j.rows) {
		j.rows = append(j.rows, joinedRow{})
	}
	row := &j.rows[j.used]
	j.used++
	row.key, row.missing, row.pinned = append(row.key[:0], key...), missing, j.join.Has(len(j.roles))
	row.row = rowform.AppendContent(row.row[:0], j.id)
	row.row = rowform.AppendContent(row.row, tags)
	for _, c := range p.joined[2:] {
		row.row = appendCell(row.row, j.cell(c))
	}
	if j.used == joinBatch {
		return j.flush()
	}
	return nil
}

// cell is that of a joined column in the rows at hand; nil where there is no row.
func (j *joining) cell(c joinedColumn) []byte {
	if c.role == j.builder.plan.base {
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

// flush decides about the rows that wait.
func (j *joining) flush() error {
	p := j.builder.plan
	rows := j.rows[:j.used]
	j.used = 0
	if p.where != nil && len(rows) > 0 {
		for _, r := range rows {
			if err := rowform.BuildRow(j.builders, r.row); err != nil {
				return err
			}
		}
		rec := j.builders.NewRecord()
		var err error
		j.mask, err = p.where.Mask(j.mask[:0], rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	for i, r := range rows {
		if r.missing {
			// What the condition says of an image without metadata means nothing.
			if err := j.builder.reject(r.key, r.row, ReasonNoMetadata, nil); err != nil {
				return err
			}
			continue
		}
		if p.where != nil && !j.mask[i] {
			continue
		}
		j.builder.counts.Matching++
		if err := j.accept(r); err != nil {
			return err
		}
	}
	return nil
}

// accept looks at the status of a row that the condition chose.
func (j *joining) accept(r joinedRow) (err error) {
	p := j.builder.plan
	if p.status >= 0 {
		if j.base, err = rowform.Cells(j.base[:0], r.row); err != nil {
			return err
		}
		status := StatusNone
		if s := j.base[p.status]; s != nil {
			status = string(s)
		}
		if !p.spec.accepts(status) {
			return j.builder.reject(r.key, r.row, reasonStatus+status, nil)
		}
	}
	j.builder.counts.Accepted++
	if err := j.to.Add(r.key, r.row); err != nil {
		return err
	}
	return j.deciding.add(r.row, r.pinned)
}
