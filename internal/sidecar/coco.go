package sidecar

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"manifest/export"
)

// cocoImage is an image as COCO lists it. What is NULL is left out.
type cocoImage struct {
	ID       int64  `json:"id"`
	FileName string `json:"file_name"`
	Width    *int64 `json:"width,omitempty"`
	Height   *int64 `json:"height,omitempty"`
	Captured string `json:"date_captured,omitempty"`
	URL      string `json:"coco_url,omitempty"`
	ImageID  string `json:"image_id,omitempty"` // the UUID, beyond COCO
}

// cocoColumns are those that images are made of. The first is needed.
var cocoColumns = []string{"object_key", "width", "height", "capture_time", "uri", "image_id"}

// shardName is the name of a data file: split, number, count, format.
var shardName = regexp.MustCompile(`^(.+)-[0-9]{5}-of-[0-9]{5}\.[a-z]+$`)

// WriteCOCO writes coco/SPLIT.json for each split, with the list of its images in
// the order of the rows, and no annotations. Ids of images count from 1 over all
// splits. file_name is the column object_key; rows without one are left out, and
// their ids too.
func WriteCOCO(ctx context.Context, dir string, m export.Manifest) error {
	var columns []string
	for _, name := range cocoColumns {
		if slices.ContainsFunc(m.Columns, func(c export.Column) bool { return c.Name == name }) {
			columns = append(columns, name)
		}
	}
	if !slices.Contains(columns, cocoColumns[0]) {
		return fmt.Errorf("coco: no column %s, which is the name of the file: %w", cocoColumns[0], ErrColumn)
	}
	var id int64
	for from := 0; from < len(m.Files); {
		split := splitOf(m.Files[from].Path)
		to := from + 1
		for to < len(m.Files) && splitOf(m.Files[to].Path) == split {
			to++
		}
		err := create(dir, "coco/"+split+".json", func(w *bufio.Writer) error {
			return writeSplit(ctx, w, dir, m, m.Files[from:to], columns, &id)
		})
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// splitOf is the split of a data file.
func splitOf(file string) string {
	if parts := shardName.FindStringSubmatch(path.Base(file)); parts != nil {
		return parts[1]
	}
	return "part"
}

func writeSplit(ctx context.Context, w *bufio.Writer, dir string, m export.Manifest, files []export.File, columns []string, id *int64) error {
	info, err := json.Marshal(map[string]string{
		"description": m.Source.Keyspace + "." + m.Source.Table, "version": m.RunID, "date_created": m.CreatedAt.UTC().Format(time.RFC3339),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "{\"info\":%s,\"licenses\":[],\"images\":[", info)
	separator := "\n"
	for _, f := range files {
		err := export.ReadRows(ctx, dir, f, m.Format, columns, func(row []export.Value) error {
			*id++
			image, ok, err := imageOf(*id, columns, row)
			if err != nil || !ok {
				return err
			}
			data, err := json.Marshal(image)
			if err != nil {
				return err
			}
			_, _ = w.WriteString(separator) // its error comes again with the next
			separator = ",\n"
			_, err = w.Write(data)
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err = w.WriteString("\n],\"annotations\":[],\"categories\":[]}\n")
	return err
}

func imageOf(id int64, columns []string, row []export.Value) (image cocoImage, ok bool, err error) {
	image.ID = id
	for i, v := range row {
		if v.Null {
			continue
		}
		switch columns[i] {
		case "object_key":
			image.FileName, ok = v.Text, true
		case "width":
			image.Width, err = number(v.Text)
		case "height":
			image.Height, err = number(v.Text)
		case "capture_time":
			image.Captured = instant(v.Text)
		case "uri":
			image.URL = v.Text
		case "image_id":
			u, bad := uuidOf(v)
			if bad != nil {
				return image, false, bad
			}
			image.ImageID = fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
		}
		if err != nil {
			return image, false, fmt.Errorf("column %s: %w", columns[i], err)
		}
	}
	return image, ok, nil
}

func number(text string) (*int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	return &n, err
}

// instant is a time in ISO 8601. Parquet has microseconds, Arrow a space.
func instant(text string) string {
	if micros, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05.999999Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	return strings.Replace(text, " ", "T", 1)
}
