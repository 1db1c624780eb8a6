package trainset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"manifest/export"
	"manifest/internal/cqltype"
	"manifest/internal/rowform"
	"manifest/internal/schema"
	"manifest/internal/selection"
	"manifest/internal/tokensort"
	"manifest/tokenrange"
)

// NewReviewPlan plans the reading of the review status of images that are known, as the one of its reads.
func NewReviewPlan(reviews *schema.Table, names map[string]string) (*Plan, error) {
	spec := Spec{Names: names}
	id, ok := reviews.Column(spec.column(Reviews, "image_id"))
	if !ok {
		return nil, fmt.Errorf("%w: %s has no column image_id", ErrSpec, reviews)
	}
	status, ok := reviews.Column(spec.column(Reviews, "status"))
	if !ok || status.Type.Kind != cqltype.Text && status.Type.Kind != cqltype.Ascii {
		return nil, fmt.Errorf("%w: %s has no text column status", ErrSpec, reviews)
	}
	p := &Plan{spec: spec, joined: []joinedColumn{{name: "image_id", typ: id.Type}}}
	b := &planner{plan: p, tables: Tables{Reviews: reviews}}
	read, err := b.newRead(Reviews, []string{status.Name}, selection.Condition{}, true)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	p.reads = []*Read{read}
	return p, nil
}

// WriteImages makes the run of the images of a dataset, for GatherOptions.Candidates, and gives their number.
func (p *Plan) WriteImages(ctx context.Context, dir string, m export.Manifest, partitioner tokenrange.Partitioner, run string, opts tokensort.Options) (n int64, err error) {
	sorter, err := tokensort.NewSorter(opts)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sorter.Close()) }()
	var key []byte
	for _, f := range m.Files {
		split := []byte(splitOfFile(f.Path))
		err := export.ReadRows(ctx, dir, f, m.Format, []string{"image_id"}, func(row []export.Value) (err error) {
			if key, err = p.ImageKey(key[:0], partitioner, row[0].Text); err != nil {
				return err
			}
			return sorter.Add(key, split)
		})
		if err != nil {
			return 0, fmt.Errorf("%s: %w", dir, err)
		}
	}
	if err := sorter.Sort(ctx); err != nil {
		return 0, err
	}
	in, err := sorter.Open()
	if err != nil {
		return 0, err
	}
	return sorter.Rows(), tokensort.WriteRun(run, func(w *tokensort.Writer) error { return tokensort.Each(ctx, in, w.Add) })
}

// Revocation is an image of a dataset that has been rejected or deleted.
type Revocation struct {
	Image  string `json:"image_id"`
	Split  string `json:"split"`
	Status string `json:"status"`
}

// Revoked calls f for each image of the run whose gathered status is now one that nobody wants: rejected or deleted.
func (p *Plan) Revoked(ctx context.Context, run string, statuses *tokensort.Sorter, f func(Revocation) error) error {
	images, err := tokensort.Open(run)
	if err != nil {
		return err
	}
	right, err := statuses.Open()
	if err != nil {
		return errors.Join(err, images.Close())
	}
	join := tokensort.NewJoin(images, nil, right)
	return tokensort.Each(ctx, join, func(key, split []byte) error {
		row, ok := join.Right(0)
		if !ok {
			return nil
		}
		cells, err := rowform.Cells(nil, row)
		if err != nil {
			return err
		}
		if len(cells) != 1 || !slices.Contains(unwanted, string(cells[0])) {
			return nil
		}
		id, err := tokensort.PartitionKey(nil, key)
		if err != nil {
			return err
		}
		name, err := p.nameOf(nil, id)
		if err != nil {
			return err
		}
		return f(Revocation{string(name), string(split), string(cells[0])})
	})
}
