package trainset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"manifest/export"
	"manifest/internal/sampling"
)

// Explanation says why an image is in a training manifest, or not.
type Explanation struct {
	Image string `json:"image_id"`
	// Kept images are in File, in a split; Rejected ones in rejects/, for a reason. Others are in neither.
	Kept        bool   `json:"kept"`
	Split       string `json:"split,omitempty"`
	File        string `json:"file,omitempty"`
	Rejected    bool   `json:"rejected"`
	Reason      string `json:"reason,omitempty"`
	DuplicateOf string `json:"duplicate_of,omitempty"`
	SampleHash  int64  `json:"sample_hash"`
	// Values are those of the columns of a kept image that are not nested.
	Values map[string]string `json:"values,omitempty"`
	// Because are the rules that decided, in words; of an image in neither place, those that may have.
	Because []string `json:"because"`
}

// errFound ends the reading of a file.
var errFound = errors.New("found")

// Explain finds an image, by its id as text.
func Explain(ctx context.Context, dir, image string) (Explanation, error) {
	m, err := export.ReadManifest(dir)
	if err != nil {
		return Explanation{}, err
	}
	if m.Training == nil {
		return Explanation{}, fmt.Errorf("%s is no training manifest: %w", dir, export.ErrNotDataset)
	}
	e := Explanation{Image: image, SampleHash: sampling.SampleHash(m.Training.Salt, []byte(image))}
	largest, err := e.findKept(ctx, dir, m)
	if err != nil || e.Kept {
		return e, err
	}
	if err := e.findRejected(ctx, dir, m); err != nil || e.Rejected {
		return e, err
	}
	e.Because = absent(m.Training, e.SampleHash, largest)
	return e, nil
}

// flatColumns are those that ReadRows gives.
func flatColumns(m export.Manifest) []string {
	var names []string
	for _, c := range m.Columns {
		nested := slices.ContainsFunc([]string{"list<", "map<", "struct<", "fixed_size_list<"}, func(p string) bool { return strings.HasPrefix(c.Type, p) })
		if !nested {
			names = append(names, c.Name)
		}
	}
	return names
}

// findKept looks through the data files, and gives the largest sample hash in them.
func (e *Explanation) findKept(ctx context.Context, dir string, m export.Manifest) (largest int64, err error) {
	columns := flatColumns(m)
	id, hash := slices.Index(columns, "image_id"), slices.Index(columns, "sample_hash")
	if id < 0 {
		return 0, errors.New("the manifest has no column image_id to find an image by")
	}
	largest = -1
	for _, f := range m.Files {
		err := export.ReadRows(ctx, dir, f, m.Format, columns, func(row []export.Value) error {
			if hash >= 0 {
				if h, err := strconv.ParseInt(row[hash].Text, 10, 64); err == nil {
					largest = max(largest, h)
				}
			}
			if row[id].Text != e.Image {
				return nil
			}
			e.Kept, e.File, e.Split, e.Values = true, f.Path, splitOfFile(f.Path), map[string]string{}
			for i, name := range columns {
				if !row[i].Null {
					e.Values[name] = forPeople(m, name, row[i].Text)
				}
			}
			e.Because = []string{"it was chosen, accepted, and sampled"}
			return errFound
		})
		if errors.Is(err, errFound) {
			return largest, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return largest, nil
}

// forPeople gives days and times, which files have as numbers, as people write
// them.
func forPeople(m export.Manifest, column, text string) string {
	i := slices.IndexFunc(m.Columns, func(c export.Column) bool { return c.Name == column })
	n, err := strconv.ParseInt(text, 10, 64)
	if i < 0 || err != nil {
		return text
	}
	switch {
	case strings.HasPrefix(m.Columns[i].Type, "timestamp[us"):
		return time.UnixMicro(n).UTC().Format(time.RFC3339Nano)
	case m.Columns[i].Type == "date32":
		return time.Unix(n*24*60*60, 0).UTC().Format(time.DateOnly)
	default:
		return text
	}
}

// findRejected looks through the rejects.
func (e *Explanation) findRejected(ctx context.Context, dir string, m export.Manifest) error {
	for _, f := range m.Training.Rejects {
		err := export.ReadRows(ctx, dir, f, m.Format, []string{"image_id", "reason", "duplicate_of"}, func(row []export.Value) error {
			if row[0].Text != e.Image {
				return nil
			}
			e.Rejected, e.File, e.Reason, e.DuplicateOf = true, f.Path, row[1].Text, row[2].Text
			e.Because = []string{"it was chosen, and rejected: " + e.Reason}
			return errFound
		})
		if errors.Is(err, errFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// absent says what may have left out an image that is in neither place.
func absent(t *export.Training, hash, largest int64) []string {
	if t.Fraction != "" {
		if share, err := sampling.ParseShare(t.Fraction); err == nil && !share.Keeps(hash) {
			return []string{fmt.Sprintf("its sample hash %d is outside of the fraction %s", hash, t.Fraction)}
		}
	}
	var because []string
	if t.Limit > 0 && len(t.Balance) == 0 && largest >= 0 && hash > largest {
		because = append(because, fmt.Sprintf("its sample hash %d is above the largest of the %d that the limit keeps, %d", hash, t.Limit, largest))
	} else if t.Limit > 0 && len(t.Balance) > 0 {
		because = append(because, "its stratum may have given all that it had to")
	}
	if len(t.MaxPer) > 0 {
		because = append(because, "others with its value of a column that --max-per names have smaller sample hashes")
	}
	return append(because, "or it was not chosen: by its tags, its day, its device, or the condition on its columns; or it was not there when the tables were read")
}
