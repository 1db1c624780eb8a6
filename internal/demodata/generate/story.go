package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"manifest/internal/demodata"
	"manifest/internal/imagegen"
)

// action is what a step does.
type action uint8

const (
	execute action = iota
	flush
	compact
)

// step is a step of the story.
type step struct {
	do   action
	cql  string // a statement, or a table to compact
	at   int64  // seconds since 1970
	seen int    // by which nodes, a bit for each
}

const (
	node1, node2, truth = 1, 2, 4
	everybody           = node1 | node2 | truth
)

const images = 4000

// teller writes the story down. Every write is a millisecond after the one before.
type teller struct {
	steps []step
	clock time.Time
}

func (t *teller) write(seen int, format string, args ...any) {
	t.clock = t.clock.Add(time.Millisecond)
	// A literal can hold anything, so the time is put in by its own mark.
	cql := strings.ReplaceAll(fmt.Sprintf(format, args...), "{time}", fmt.Sprintf("TIMESTAMP %d", t.clock.UnixMicro()))
	t.steps = append(t.steps, step{execute, cql, t.clock.Unix(), seen | truth})
}

func (t *teller) flush() { t.steps = append(t.steps, step{do: flush, seen: everybody}) }

// story makes the steps.
func story() ([]step, error) {
	t := &teller{clock: time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)}
	t.steps = append(t.steps, step{execute, imagegen.KeyspaceDDL(demodata.Keyspace, 2), t.clock.Unix(), everybody})
	for i, ddl := range imagegen.TableDDL(demodata.Keyspace) {
		option := " WITH"
		if strings.Contains(ddl, " WITH ") {
			option = " AND"
		}
		// Compactions go by the clock of the day on which the set is made, and must not
		// drop the tombstones that the other node has missed.
		option += fmt.Sprintf(" gc_grace_seconds = %d AND ID = %s", 2*decade, tables[i].id)
		t.steps = append(t.steps, step{execute, ddl + option, t.clock.Unix(), everybody})
	}
	set, err := imagegen.New(imagegen.Options{Images: images, Days: 14, Devices: 24, Seed: 5})
	if err != nil {
		return nil, err
	}
	for half := range 2 {
		if err := t.load(set, half); err != nil {
			return nil, err
		}
		t.flush()
	}
	t.later(set)
	t.flush()
	for _, table := range []string{imagegen.DeviceTable, imagegen.ReviewTable} {
		t.steps = append(t.steps, step{do: compact, cql: table, seen: node2})
	}
	return t.steps, nil
}

// missing drops each of the two nodes now and then, never both.
func missing(n int) int {
	switch {
	case n%7 == 3:
		return node2
	case n%11 == 5:
		return node1
	}
	return node1 | node2
}

// load writes one half of each table's rows.
func (t *teller) load(set *imagegen.Set, half int) error {
	n := 0
	write := func(table string, of int, row map[string]any) error {
		if n++; n*2 <= of != (half == 0) {
			return nil
		}
		text, err := json.Marshal(row)
		if err != nil {
			return err
		}
		t.write(missing(n), "INSERT INTO %s.%s JSON '%s' DEFAULT UNSET USING {time}", demodata.Keyspace, table, strings.ReplaceAll(string(text), "'", "''"))
		return nil
	}
	counts := set.Counts()
	for r := range set.Metadata() {
		if err := write(imagegen.MetadataTable, counts.Metadata, fields(
			"image_id", r.ImageID.String(), "object_store", r.ObjectStore, "object_key", r.ObjectKey, "content_hash", r.ContentHash,
			"width", r.Width, "height", r.Height, "capture_time", r.CaptureTime, "upload_time", r.UploadTime, "attributes", r.Attributes)); err != nil {
			return err
		}
	}
	n = 0
	for r := range set.DeviceImages() {
		if err := write(imagegen.DeviceTable, counts.DeviceImages, fields(
			"device_id", r.DeviceID, "day_bucket", r.Day, "capture_time", &r.CaptureTime, "image_id", r.ImageID.String(), "object_store", r.ObjectStore,
			"object_key", r.ObjectKey, "width", r.Width, "height", r.Height, "content_hash", r.ContentHash)); err != nil {
			return err
		}
	}
	n = 0
	for r := range set.TagImages() {
		if err := write(imagegen.TagTable, counts.TagImages, fields(
			"tag", r.Tag, "day_bucket", r.Day, "capture_time", &r.CaptureTime, "image_id", r.ImageID.String(), "object_store", r.ObjectStore,
			"object_key", r.ObjectKey, "device_id", r.DeviceID)); err != nil {
			return err
		}
	}
	n = 0
	for r := range set.Reviews() {
		if err := write(imagegen.ReviewTable, counts.Reviews, fields(
			"image_id", r.ImageID.String(), "status", r.Status, "reviewed_at", r.ReviewedAt, "reviewer", r.Reviewer)); err != nil {
			return err
		}
	}
	return nil
}

// fields makes a row of names and values, without those that are nil.
func fields(pairs ...any) map[string]any {
	row := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		switch v := pairs[i+1].(type) {
		case *string:
			if v != nil {
				row[name] = *v
			}
		case *int32:
			if v != nil {
				row[name] = *v
			}
		case *time.Time:
			if v != nil {
				row[name] = v.UnixMilli()
			}
		case map[string]string:
			if v != nil {
				row[name] = v
			}
		case imagegen.Day:
			row[name] = time.Unix(int64(v)*86400, 0).UTC().Format(time.DateOnly)
		default:
			row[name] = v
		}
	}
	return row
}

const (
	hour   = 60 * 60
	decade = 10 * 365 * 24 * hour // in seconds; some formats end in 2038
)

// later changes, deletes and lets expire some of what is there.
func (t *teller) later(set *imagegen.Set) {
	table := func(name string) string { return demodata.Keyspace + "." + name }
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	n := 0
	for r := range set.Metadata() {
		id := r.ImageID.String()
		switch n++; n % 40 {
		case 1: // of these deletions each node has missed some
			t.write(missing(n/40), "DELETE FROM %s USING {time} WHERE image_id = %s", table(imagegen.MetadataTable), id)
		case 2:
			t.write(missing(n/40), "UPDATE %s USING {time} SET width = 4032, height = 3024 WHERE image_id = %s", table(imagegen.MetadataTable), id)
		case 3:
			t.write(missing(n/40), "DELETE attributes['weather'], upload_time FROM %s USING {time} WHERE image_id = %s", table(imagegen.MetadataTable), id)
		case 4:
			t.write(missing(n/40), "UPDATE %s USING {time} SET attributes['checked'] = 'да ✓' WHERE image_id = %s", table(imagegen.MetadataTable), id)
		case 5: // back in an hour: long gone at demodata.Now
			t.write(missing(n/40), "UPDATE %s USING TTL %d AND {time} SET attributes = {'region': 'nowhere'} WHERE image_id = %s", table(imagegen.MetadataTable), hour, id)
		case 6:
			t.write(missing(n/40), "UPDATE %s USING TTL %d AND {time} SET object_store = 's3://archive' WHERE image_id = %s", table(imagegen.MetadataTable), decade, id)
		}
	}
	n = 0
	for r := range set.Reviews() {
		id := r.ImageID.String()
		switch n++; n % 25 {
		case 1:
			t.write(missing(n/25), "DELETE FROM %s USING {time} WHERE image_id = %s", table(imagegen.ReviewTable), id)
		case 2:
			t.write(missing(n/25), "INSERT INTO %s (image_id, status, reviewer) VALUES (%s, 'approved', 'Zoë') USING TTL %d AND {time}", table(imagegen.ReviewTable), id, decade)
		case 3: // expired by demodata.Now, and with it the row of before: what it wrote over is gone
			t.write(missing(n/25), "INSERT INTO %s (image_id, status, reviewer) VALUES (%s, 'rejected', 'night shift') USING TTL %d AND {time}", table(imagegen.ReviewTable), id, hour)
		}
	}
	partitions := map[string]bool{}
	for r := range set.TagImages() {
		day := time.Unix(int64(r.Day)*86400, 0).UTC().Format(time.DateOnly)
		key := fmt.Sprintf("tag = %s AND day_bucket = '%s'", quoted(r.Tag), day)
		if partitions[key] {
			continue
		}
		partitions[key] = true
		switch n := len(partitions); {
		case n%30 == 1: // whole partitions
			t.write(missing(n/30), "DELETE FROM %s USING {time} WHERE %s", table(imagegen.TagTable), key)
		case n%30 == 2: // what was taken in the morning
			t.write(missing(n/30), "DELETE FROM %s USING {time} WHERE %s AND capture_time < '%s 12:00:00Z'", table(imagegen.TagTable), key, day)
		case n%10 == 3: // one row, and then another one in its place that stays for long
			row := fmt.Sprintf("%s AND capture_time = %d AND image_id = %s", key, r.CaptureTime.UnixMilli(), r.ImageID)
			t.write(missing(n/10), "DELETE FROM %s USING {time} WHERE %s", table(imagegen.TagTable), row)
			if n%20 == 3 {
				t.write(missing(n/20), "INSERT INTO %s (tag, day_bucket, capture_time, image_id, object_store) VALUES (%s, '%s', %d, %s, 's3://again') USING TTL %d AND {time}",
					table(imagegen.TagTable), quoted(r.Tag), day, r.CaptureTime.UnixMilli(), r.ImageID, decade)
			}
		}
	}
	devices := map[string]bool{}
	for r := range set.DeviceImages() {
		day := time.Unix(int64(r.Day)*86400, 0).UTC().Format(time.DateOnly)
		key := fmt.Sprintf("device_id = %s AND day_bucket = '%s'", quoted(r.DeviceID), day)
		if devices[key] {
			continue
		}
		devices[key] = true
		if n := len(devices); n%40 == 1 {
			t.write(missing(n/40), "DELETE FROM %s USING {time} WHERE %s AND capture_time >= '%s 06:00:00Z' AND capture_time < '%s 07:00:00Z'", table(imagegen.DeviceTable), key, day, day)
		}
	}
}
