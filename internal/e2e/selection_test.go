package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// selectionCases are rows and columns that are asked for, and in Python which they are: r holds the row's cells, times as milliseconds and
// dates as days since 1970. In the set of images 2025-05-01 is the first day.
var selectionCases = []struct {
	table   string
	flags   []string
	columns []string
	where   string
}{
	{table: "image_metadata", columns: []string{"image_id"}},
	{table: "image_metadata", columns: []string{"height", "image_id", "attributes", "width"}},
	{table: "readings", columns: []string{"value"}},
	{table: "statics", columns: []string{"s", "tags"}},
	{table: `"Select"`, columns: []string{"a b", "列", "ID", "id"}},
	{table: "image_metadata", flags: []string{"--where", "width >= 1920 AND height < 2160"},
		where: "r['width'] is not None and r['height'] is not None and r['width'] >= 1920 and r['height'] < 2160"},
	{table: "image_metadata", flags: []string{"--where", "width IS NULL OR object_key = ''"}, where: "r['width'] is None or r['object_key'] == ''"},
	{table: "image_metadata", flags: []string{"--where", "object_store != 's3://img-prod'"},
		where: "r['object_store'] not in (None, 's3://img-prod')"},
	{table: "image_metadata", flags: []string{"--where", "attributes['weather'] = '雪'"}, columns: []string{"image_id", "object_key"},
		where: "['weather', '雪'] in (r['attributes'] or [])"},
	{table: "image_metadata", flags: []string{"--where", "attributes['weather'] IS NULL AND width = 0"},
		where: "r['width'] == 0 and all(k != 'weather' for k, v in r['attributes'] or [])"},
	{table: "image_metadata", flags: []string{"--where", "content_hash IN ('', 'x') OR width = 12000"},
		where: "r['content_hash'] in ('', 'x') or r['width'] == 12000"},
	{table: "image_metadata", flags: []string{"--from", "2025-05-02", "--to", "2025-05-03"},
		where: "r['capture_time'] is not None and 20210 <= r['capture_time'] // 86400000 <= 20211"},
	{table: "image_metadata", flags: []string{"--region", "region-*,منطقة"},
		where: "any(k == 'region' and (v.startswith('region-') or v == 'منطقة') for k, v in r['attributes'] or [])"},
	{table: "image_metadata", flags: []string{"--where", "width > 100000"}, where: "False"},
	{table: "device_daily_images", flags: []string{"--day", "2025-05-04"}, where: "r['day_bucket'] == 20212"},
	{table: "device_daily_images", flags: []string{"--to", "2025-05-02", "--device", "设备-3,CAM-0012"},
		where: "r['day_bucket'] <= 20210 and r['device_id'] in ('设备-3', 'CAM-0012')"},
	{table: "tag_image_index", flags: []string{"--tags", "leaf_spot,rust"}, where: "r['tag'] in ('leaf_spot', 'rust')"},
	{table: "tag_image_index", flags: []string{"--tags", `caf?,"one, two; three"`}, columns: []string{"image_id", "tag"},
		where: "r['tag'] in ('caf\u00e9', 'one, two; three')"},
	{table: "tag_image_index", flags: []string{"--where", "tag = ''"}, where: "r['tag'] == ''"},
	{table: "scalars", flags: []string{"--where", "id < 3 AND NOT (bo)"}, where: "r['id'] < 3 and r['bo'] is False"},
	{table: "scalars", flags: []string{"--where", "de = 1.1"}, where: "r['de'] == '1.10'"},
	{table: "edges", flags: []string{"--where", "wanted = 9223372036854775807"}, where: "r['wanted'] == 9223372036854775807"},
}

func (s *site) checkSelections(t *testing.T, d draws) {
	for _, c := range selectionCases {
		t.Run(c.table+" "+strings.Join(append(c.flags, c.columns...), " "), func(t *testing.T) {
			e := exported{
				table: c.table, format: pick(d, "jsonl", "parquet", "csv"), dirs: []string{filepath.Join(scratch(t), "out")},
				columns: c.columns, where: c.where,
			}
			flags := append(d.reading(s.rows[c.table]), c.flags...)
			if len(c.columns) > 0 {
				flags = append(flags, "--columns", strings.Join(c.columns, ","))
			}
			e.commands = []string{s.export(t, e, e.dirs[0], flags...)}
			s.compare(t, e)
		})
	}
}
