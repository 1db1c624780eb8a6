package main

import (
	"fmt"
	"maps"
	"slices"

	"manifest/internal/schema"
	"manifest/queries"
)

// roles are the tables that the named statistics read.
var roles = []queries.Role{queries.ImageMetadata, queries.DeviceDaily, queries.TagIndex, queries.ReviewStatus}

// imageTables are the names of the tables of all roles in this cluster.
func (n names) imageTables() []string {
	var tables []string
	for _, r := range roles {
		tables = append(tables, n.tables().Of(r))
	}
	return tables
}

// tables gives the mapped tables.
func (n names) tables() queries.Tables {
	return queries.Tables{
		ImageMetadata: n.Tables[string(queries.ImageMetadata)],
		DeviceDaily:   n.Tables[string(queries.DeviceDaily)],
		TagIndex:      n.Tables[string(queries.TagIndex)],
		ReviewStatus:  n.Tables[string(queries.ReviewStatus)],
	}
}

// mapping gives the mapped columns. Their keys are role.column, as in
// image_metadata.capture_time; region is that of a map key.
func (n names) mapping() queries.Mapping {
	c := n.Columns
	return queries.Mapping{
		Metadata: queries.MetadataMapping{
			CaptureTime: c["image_metadata.capture_time"], UploadTime: c["image_metadata.upload_time"],
			Width: c["image_metadata.width"], Height: c["image_metadata.height"], Region: c["image_metadata.region"],
		},
		Device: queries.DeviceMapping{
			Device: c["device_daily_images.device_id"], Day: c["device_daily_images.day_bucket"],
			CaptureTime: c["device_daily_images.capture_time"], ContentHash: c["device_daily_images.content_hash"],
		},
		Tag: queries.TagMapping{
			Tag: c["tag_image_index.tag"], Day: c["tag_image_index.day_bucket"],
			Image: c["tag_image_index.image_id"], Device: c["tag_image_index.device_id"],
		},
	}
}

// mappable are the keys that column-names may have.
var mappable = []string{
	"image_metadata.capture_time", "image_metadata.upload_time", "image_metadata.width", "image_metadata.height", "image_metadata.region",
	"device_daily_images.device_id", "device_daily_images.day_bucket", "device_daily_images.capture_time", "device_daily_images.content_hash",
	"tag_image_index.tag", "tag_image_index.day_bucket", "tag_image_index.image_id", "tag_image_index.device_id",
	// Of training manifests alone.
	"image_metadata.image_id", "image_metadata.object_store", "image_metadata.object_key", "image_metadata.content_hash", "image_metadata.attributes",
	"device_daily_images.image_id", "device_daily_images.object_store", "device_daily_images.object_key", "device_daily_images.width", "device_daily_images.height",
	"tag_image_index.capture_time", "tag_image_index.object_store", "tag_image_index.object_key",
	"image_review_status.image_id", "image_review_status.status", "image_review_status.reviewed_at",
}

// check refuses mapped names that nothing would read.
func (n names) check() error {
	var tables []string
	for _, r := range roles {
		tables = append(tables, string(r))
	}
	for _, m := range []struct {
		setting string
		given   map[string]string
		known   []string
	}{{"table-names", n.Tables, tables}, {"column-names", n.Columns, mappable}} {
		for _, key := range slices.Sorted(maps.Keys(m.given)) {
			if slices.Contains(m.known, key) {
				continue
			}
			if near := schema.Nearest(key, m.known); near != "" {
				return fmt.Errorf("%s: unknown name %q; is %q meant?", m.setting, key, near)
			}
			return fmt.Errorf("%s: unknown name %q; known are %q", m.setting, key, m.known)
		}
	}
	return nil
}
