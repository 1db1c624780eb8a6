package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Rows of image_metadata as each tool writes them, brought to the same columns. OUT
// stands for the place of the results.
const (
	ourImages = `SELECT CAST(image_id AS VARCHAR) AS id, object_store, object_key, content_hash, width, height, epoch_ms(capture_time) AS captured,
		epoch_ms(upload_time) AS uploaded, list_filter(attributes, lambda a: a.key = 'device_id')[1].value AS device, len(attributes) AS attributes
		FROM read_parquet('OUT/data/*.parquet')`
	imagesWithMaps = `SELECT CAST(image_id AS VARCHAR) AS id, object_store, object_key, content_hash, width, height, epoch_ms(capture_time) AS captured,
		epoch_ms(upload_time) AS uploaded, attributes['device_id'] AS device, cardinality(attributes) AS attributes
		FROM read_parquet('OUT/*.parquet')`
	imagesOfCSV = `SELECT image_id AS id, object_store, object_key, content_hash, width, height, epoch_ms(CAST(capture_time AS TIMESTAMPTZ)) AS captured,
		epoch_ms(CAST(upload_time AS TIMESTAMPTZ)) AS uploaded, json_extract_string(attributes, '$.device_id') AS device,
		len(json_keys(attributes)) AS attributes
		FROM read_csv('OUT/*.csv', header = true, all_varchar = true, escape = '\')`
)

// tableAnswer tells how many rows there are, and a sum over the values of all.
func tableAnswer(rows string) func(out string) string {
	return func(out string) string {
		return `SELECT concat(count(*), ' rows, ', count(DISTINCT id), ' images, fingerprint ', bit_xor(hash(concat_ws('|', id, object_store, object_key,
			content_hash, width, height, captured, uploaded, device, attributes)))) FROM (` + strings.ReplaceAll(rows, "OUT", out) + `)`
	}
}

// manifestAnswer is the same for a training manifest. One that is cut off at the
// limit may hold any of the wanted rows.
func manifestAnswer(files string) func(out string) string {
	return func(out string) string {
		return fmt.Sprintf(`SELECT concat(count(*), ' rows, ', count(DISTINCT image_id), ' images, fingerprint ', CASE WHEN count(*) < %d THEN
			CAST(bit_xor(hash(concat_ws('|', image_id, object_key, device_id, epoch_ms(capture_time)))) AS VARCHAR) ELSE 'none, cut off' END)
			FROM read_parquet('%s')`, limit, out+files)
	}
}

// How many images have each width and each height.
const (
	ourSizes = `SELECT dimension, CAST(lo AS INTEGER) AS size, sum(images) AS images FROM read_parquet('OUT/image-sizes/*/*.parquet')
		WHERE dimension IN ('width', 'height') GROUP BY dimension, lo`
	sparkSizes = `SELECT 'width' AS dimension, width AS size, sum("count") AS images FROM read_parquet('OUT/*.parquet') GROUP BY width
		UNION ALL SELECT 'height', height, sum("count") FROM read_parquet('OUT/*.parquet') GROUP BY height`
)

func sizesAnswer(sizes string) func(out string) string {
	return func(out string) string {
		return `SELECT concat(CAST(sum(CASE WHEN dimension = 'width' THEN images END) AS BIGINT), ' rows: ',
			string_agg(concat(dimension, ' ', size, ' ', images), ', ' ORDER BY dimension, size)) FROM (` + strings.ReplaceAll(sizes, "OUT", out) + `)`
	}
}

// ask has DuckDB answer a query with one value.
func ask(ctx context.Context, python, query string) (string, error) {
	const program = "import duckdb, sys; duckdb.execute('SET enable_progress_bar = false'); print(duckdb.sql(sys.argv[1]).fetchall()[0][0])"
	out, err := exec.CommandContext(ctx, python, "-c", program, query).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("ask DuckDB: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
