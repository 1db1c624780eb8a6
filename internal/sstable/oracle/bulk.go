package oracle

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed Bulk.java
var bulk []byte

// WriteImages writes one SSTable of a table of image metadata, of rows with
// random content that is the same each time, into a folder with its schema.cql.
// version is oa or da: this writer knows no older ones. A million rows take about
// ten seconds.
func WriteImages(ctx context.Context, version string, rows int, dir string) error {
	return writeBulk(ctx, version, "images", rows, rows, dir, imagesSchema)
}

// WriteTagIndex writes one SSTable of the tag index of the same images, with so
// many rows: eleven tags, skewed, on sixty days from 2025-05-01. A sixteenth of
// the rows has the tag leaf_spot and is of 2025-06-01 or later.
func WriteTagIndex(ctx context.Context, version string, images, rows int, dir string) error {
	return writeBulk(ctx, version, "tags", images, rows, dir, tagsSchema)
}

func writeBulk(ctx context.Context, version, table string, images, rows int, dir, schema string) error {
	format, ok := map[string]string{"oa": "big", "da": "bti"}[version]
	if !ok {
		return fmt.Errorf("write %s: no version %q", table, version)
	}
	home, err := os.MkdirTemp("", "bulk")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	program := filepath.Join(home, "Bulk.java")
	if err := os.WriteFile(program, bulk, 0o600); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cmd, err := java(ctx, "", home, "2g", program, table, fmt.Sprint(images), fmt.Sprint(rows), dir, format)
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("write %s: %w\n%s", table, err, out[max(0, len(out)-4000):])
	}
	return os.WriteFile(filepath.Join(dir, "schema.cql"), []byte(schema), 0o644)
}

const imagesSchema = `CREATE TABLE ks.image_metadata (image_id timeuuid PRIMARY KEY, object_store text, object_key text, content_hash text,
    width int, height int, capture_time timestamp, upload_time timestamp, attributes map<text, text>);
`

const tagsSchema = `CREATE TABLE ks.tag_image_index (tag text, day_bucket date, capture_time timestamp, image_id timeuuid, object_store text,
    object_key text, device_id text, PRIMARY KEY ((tag, day_bucket), capture_time, image_id))
    WITH CLUSTERING ORDER BY (capture_time DESC, image_id DESC);
`
