package demodata

import (
	"archive/tar"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"
)

var (
	//go:embed set.tar.zst
	set []byte
	//go:embed figures.json
	figures []byte
)

// Keyspace is that of the tables.
const Keyspace = "image_keyspace"

// Now is the moment as of which the set is to be read.
var Now = time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)

// Figures are what Cassandra answered about the set, all writes and deletions
// considered.
type Figures struct {
	// Rows counts the rows of each table.
	Rows map[string]int64 `json:"rows"`
	// Tags counts the rows of tag_image_index by tag, Devices those of
	// device_daily_images by device, Statuses those of image_review_status by
	// status, Regions those of image_metadata by attributes['region']. What is null
	// is not counted.
	Tags     map[string]int64 `json:"tags"`
	Devices  map[string]int64 `json:"devices"`
	Statuses map[string]int64 `json:"statuses"`
	Regions  map[string]int64 `json:"regions"`
	// Width is the sum of the widths in image_metadata.
	Width int64 `json:"width"`
}

// ReadFigures gives the figures.
func ReadFigures() (Figures, error) {
	var f Figures
	err := json.Unmarshal(figures, &f)
	return f, err
}

// Unpack writes the set into a folder, which has a folder for each node then.
func Unpack(dir string) error {
	z, err := zstd.NewReader(bytes.NewReader(set), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("unpack demo: %w", err)
	}
	defer z.Close()
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack demo: %w", err)
		}
		if !filepath.IsLocal(filepath.FromSlash(h.Name)) {
			return fmt.Errorf("unpack demo: file %q", h.Name)
		}
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(h.Name)), t); err != nil {
			return fmt.Errorf("unpack demo: %w", err)
		}
	}
}

func writeFile(path string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
