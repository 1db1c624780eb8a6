package trainset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"manifest/export"
	"manifest/internal/tokensort"
)

// Change is what differs about an image between two training manifests.
type Change struct {
	Image string
	// Kind is added, removed, moved (to another split) or status.
	Kind string
	// From and To are splits, or statuses; empty where the image is in one alone.
	From, To string
}

// The kinds of changes, in the order in which they are told of one image.
const (
	Added         = "added"
	Removed       = "removed"
	Moved         = "moved"
	StatusChanged = "status"
)

// Diff calls f for each change from one dataset to another, in the order of the ids as text.
func Diff(ctx context.Context, from, to string, opts tokensort.Options, f func(Change) error) (err error) {
	sorter, err := tokensort.NewSorter(opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sorter.Close()) }()
	var statuses [2]bool
	for side, dir := range []string{from, to} {
		if statuses[side], err = addSide(ctx, sorter, dir, byte(side)); err != nil {
			return err
		}
	}
	if err := sorter.Sort(ctx); err != nil {
		return err
	}
	in, err := sorter.Open()
	if err != nil {
		return err
	}
	d := &differ{emit: f, statuses: statuses[0] && statuses[1]}
	if err := tokensort.Each(ctx, in, d.row); err != nil {
		return err
	}
	return d.end()
}

// addSide adds the images of a dataset, and tells whether it has their statuses.
func addSide(ctx context.Context, sorter *tokensort.Sorter, dir string, side byte) (statuses bool, err error) {
	m, err := export.ReadManifest(dir)
	if err != nil {
		return false, err
	}
	if m.Training == nil {
		return false, fmt.Errorf("%s is no training manifest: %w", dir, export.ErrNotDataset)
	}
	columns := []string{"image_id"}
	statuses = slices.ContainsFunc(m.Columns, func(c export.Column) bool { return c.Name == "review_status" })
	if statuses {
		columns = append(columns, "review_status")
	}
	for _, f := range m.Files {
		split := splitOfFile(f.Path)
		err := export.ReadRows(ctx, dir, f, m.Format, columns, func(row []export.Value) error {
			status := StatusNone
			if statuses && !row[1].Null {
				status = row[1].Text
			}
			value := tokensort.AppendText([]byte{side}, []byte(split))
			return sorter.Add([]byte(row[0].Text), append(value, status...))
		})
		if err != nil {
			return false, fmt.Errorf("%s: %w", dir, err)
		}
	}
	return statuses, nil
}

// differ brings both sides of an image together.
type differ struct {
	emit     func(Change) error
	statuses bool
	image    string
	have     [2]bool
	split    [2]string
	status   [2]string
}

func (d *differ) row(key, value []byte) error {
	if d.image != string(key) {
		if err := d.end(); err != nil {
			return err
		}
		d.image = string(key)
	}
	side := value[0]
	split, status, err := tokensort.TakeText(nil, value[1:])
	if err != nil {
		return err
	}
	d.have[side], d.split[side], d.status[side] = true, string(split), string(status)
	return nil
}

func (d *differ) end() error {
	have := d.have
	d.have = [2]bool{}
	switch {
	case !have[0] && !have[1]:
		return nil
	case !have[0]:
		return d.emit(Change{Image: d.image, Kind: Added, To: d.split[1]})
	case !have[1]:
		return d.emit(Change{Image: d.image, Kind: Removed, From: d.split[0]})
	}
	if d.split[0] != d.split[1] {
		if err := d.emit(Change{d.image, Moved, d.split[0], d.split[1]}); err != nil {
			return err
		}
	}
	if d.statuses && d.status[0] != d.status[1] {
		return d.emit(Change{d.image, StatusChanged, d.status[0], d.status[1]})
	}
	return nil
}
