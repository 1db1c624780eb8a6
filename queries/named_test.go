package queries

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"manifest/queries/internal/accumulate"
)

// The models of named statistics: result rows by table.

func deviceDayModel(rs rows) map[string][]string {
	captured := of("capture_time")
	return map[string][]string{"device-day": model(rs, make([]int, len(rs)), []expression{
		{"day", startOf("day_bucket", func(t time.Time) any { return dayOf(t) })}, {"device_id", of("device_id")},
	}, []aggregate{{"images", nil, countModel}, {"content_hashes", of("content_hash"), distinctModel}, {"first", captured, minModel}, {"last", captured, maxModel}}, false)}
}

func captureDay(r map[string]any) any {
	return startOf("capture_time", func(t time.Time) any { return dayOf(t) })(r)
}

func regionDayModel(rs rows) map[string][]string {
	return map[string][]string{"region-day": model(rs, make([]int, len(rs)), []expression{
		{"day", captureDay}, {"region", mapAt("attributes", "region")},
	}, []aggregate{{"images", nil, countModel}}, false)}
}

func tagsModel(rs rows) map[string][]string {
	return map[string][]string{"tags": model(rs, make([]int, len(rs)), []expression{
		{"day", startOf("day_bucket", func(t time.Time) any { return dayOf(t) })}, {"tag", of("tag")},
	}, []aggregate{{"images", nil, countModel}, {"devices", of("device_id"), distinctModel}}, false)}
}

// pairsModel counts all pairs in maps and sorts them.
func pairsModel(top int) func(rs rows) map[string][]string {
	return func(rs rows) map[string][]string {
		tagsOf := map[string]map[string]map[string]bool{} // by day, image, tag
		for _, r := range rs {
			d, image := string(dayOf(r["day_bucket"].(time.Time))), string(r["image_id"].([]byte))
			if tagsOf[d] == nil {
				tagsOf[d] = map[string]map[string]bool{}
			}
			if tagsOf[d][image] == nil {
				tagsOf[d][image] = map[string]bool{}
			}
			tagsOf[d][image][r["tag"].(string)] = true
		}
		out := map[string][]string{}
		for _, d := range slices.Sorted(maps.Keys(tagsOf)) {
			counts := map[[2]string]int{}
			for _, tags := range tagsOf[d] {
				for a := range tags {
					for b := range tags {
						if a < b {
							counts[[2]string{a, b}]++
						}
					}
				}
			}
			pairs := slices.Collect(maps.Keys(counts))
			slices.SortFunc(pairs, func(a, b [2]string) int {
				if c := counts[b] - counts[a]; c != 0 {
					return c
				}
				return slices.Compare(a[:], b[:])
			})
			for i, p := range pairs[:min(top, len(pairs))] {
				out["tag-pairs"] = append(out["tag-pairs"], fmt.Sprintf("%s | %d | '%s' | '%s' | %d | %d", d, i+1, p[0], p[1], counts[p], len(pairs)))
			}
		}
		return out
	}
}

// histogram counts values by bucket, in order, those without one first.
func histogram(day string, values []any, bounds []float64, line func(lo, hi any, images int) string) []string {
	counts := make([]int, len(bounds)+2)
	for _, v := range values {
		at := 0
		if v != nil {
			for at = 1; at <= len(bounds) && v.(float64) >= bounds[at-1]; at++ {
			}
		}
		counts[at]++
	}
	edge := func(i int) any {
		if i < 0 || i >= len(bounds) {
			return nil
		}
		return bounds[i]
	}
	var lines []string
	for at, n := range counts {
		switch {
		case n == 0:
		case at == 0:
			lines = append(lines, day+" | "+line(nil, nil, n))
		default:
			lines = append(lines, day+" | "+line(edge(at-2), edge(at-1), n))
		}
	}
	return lines
}

// byCaptureDay are the rows of every day in order, NULL first.
func byCaptureDay(rs rows) (days []any, of map[any]rows) {
	of = map[any]rows{}
	for _, r := range rs {
		of[captureDay(r)] = append(of[captureDay(r)], r)
	}
	days = slices.Collect(maps.Keys(of))
	slices.SortFunc(days, compareModel)
	return days, of
}

func known(values []any) []any {
	return slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
}

func sizesModel(rs rows) map[string][]string {
	out := map[string][]string{}
	days, rowsOf := byCaptureDay(rs)
	for _, d := range days {
		values := map[string][]any{}
		for _, r := range rowsOf[d] {
			w, okW := r["width"].(int64)
			h, okH := r["height"].(int64)
			values["width"], values["height"] = append(values["width"], r["width"]), append(values["height"], r["height"])
			var megapixels, aspect any
			if okW && okH && w > 0 && h > 0 {
				megapixels, aspect = float64(w*h)/1e6, float64(w)/float64(h)
			}
			values["megapixels"], values["aspect"] = append(values["megapixels"], megapixels), append(values["aspect"], aspect)
		}
		for _, dimension := range []string{"megapixels", "aspect", "width", "height"} {
			of := values[dimension]
			line := func(lo, hi any, images int) string {
				return fmt.Sprintf("'%s' | %s | %s | %d", dimension, modelCell(lo), modelCell(hi), images)
			}
			quantile := func(p float64) any { return quantileModel(p)(known(of)) }
			switch dimension {
			case "megapixels":
				out["image-sizes"] = append(out["image-sizes"], histogram(modelCell(d), of, megapixelBounds, line)...)
			case "aspect":
				out["image-sizes"] = append(out["image-sizes"], histogram(modelCell(d), of, aspectBounds, line)...)
			default:
				slices.SortFunc(of, compareModel)
				for i := 0; i < len(of); {
					n := i
					for n < len(of) && of[n] == of[i] {
						n++
					}
					if of[i] == nil {
						out["image-sizes"] = append(out["image-sizes"], modelCell(d)+" | "+line(nil, nil, n-i))
					} else {
						out["image-sizes"] = append(out["image-sizes"], modelCell(d)+" | "+line(of[i], of[i].(int64)+1, n-i))
					}
					i = n
				}
				quantile = func(p float64) any {
					sorted := known(of)
					return sorted[int(p*float64(len(sorted)-1))]
				}
			}
			if n := len(known(of)); n > 0 {
				for _, p := range accumulate.DefaultQuantiles {
					out["image-size-quantiles"] = append(out["image-size-quantiles"],
						fmt.Sprintf("%s | '%s' | %v | %s | %d", modelCell(d), dimension, p, modelCell(quantile(p)), n))
				}
			}
		}
	}
	return out
}

func uploadsModel(rs rows) map[string][]string {
	out := map[string][]string{}
	days, rowsOf := byCaptureDay(rs)
	for _, d := range days {
		var delays []any
		for _, r := range rowsOf[d] {
			captured, okC := r["capture_time"].(time.Time)
			uploaded, okU := r["upload_time"].(time.Time)
			if okC && okU {
				delays = append(delays, float64(uploaded.Sub(captured).Milliseconds()))
			} else {
				delays = append(delays, nil)
			}
		}
		out["uploads"] = append(out["uploads"], histogram(modelCell(d), delays, delayBounds, func(lo, hi any, images int) string {
			kind, cells := "delay", [2]string{"NULL", "NULL"}
			if lo == nil {
				kind = "missing"
				if hi != nil {
					kind = "negative"
				}
			}
			for i, bound := range []any{lo, hi} {
				if bound != nil {
					cells[i] = fmt.Sprint(int64(bound.(float64)))
				}
			}
			return fmt.Sprintf("'%s' | %s | %s | %d", kind, cells[0], cells[1], images)
		})...)
		if n := len(known(delays)); n > 0 {
			for _, p := range accumulate.DefaultQuantiles {
				out["upload-quantiles"] = append(out["upload-quantiles"], fmt.Sprintf("%s | %v | %s | %d", modelCell(d), p, modelCell(quantileModel(p)(known(delays))), n))
			}
		}
	}
	return out
}

// imageID is the n-th timeuuid.
func imageID(n int) []byte {
	return []byte{byte(n), 0, 0, 1, 0x4a, 0x10, 0x11, 0xf0, 0x80, 0, 0, 0, 0, 0, 0, byte(n)}
}

// metadataRows are partitions of one row each.
func metadataRows(t *rapid.T) (rs rows, partitionOf []int) {
	size := rapid.OneOf(rapid.SampledFrom([]int64{-1, 0, 1, 480, 640, 3000, 4000}), rapid.Int64Range(1, 9000))
	for i := range rapid.IntRange(0, 40).Draw(t, "images") {
		row := map[string]any{
			"image_id": imageID(i), "width": maybe(t, "width", size), "height": maybe(t, "height", size),
			"capture_time": maybe(t, "capture", timeGen), "upload_time": maybe(t, "upload", timeGen),
		}
		if captured, ok := row["capture_time"].(time.Time); ok && rapid.Bool().Draw(t, "soon") {
			row["upload_time"] = captured.Add(time.Duration(rapid.Int64Range(-2, 100_000).Draw(t, "delay")) * time.Millisecond)
		}
		if rapid.Bool().Draw(t, "has attributes") {
			row["attributes"] = map[string]any{"region": maybe(t, "region", textGen)}
		}
		rs, partitionOf = append(rs, row), append(partitionOf, i)
	}
	return rs, partitionOf
}

// dayRows are rows of tables by something and day.
func dayRows(key, other string) func(t *rapid.T) (rs rows, partitionOf []int) {
	return func(t *rapid.T) (rs rows, partitionOf []int) {
		for p := range rapid.IntRange(0, 12).Draw(t, "partitions") {
			day := time.Date(2024, 2, 28+p%3, 0, 0, 0, 0, time.UTC)
			for range rapid.IntRange(1, 6).Draw(t, "rows") {
				rs = append(rs, map[string]any{
					key: []string{"b", "", "a", "ü"}[p/3], "day_bucket": day, "image_id": imageID(rapid.IntRange(0, 5).Draw(t, "image")),
					"capture_time": maybe(t, "capture", timeGen), other: maybe(t, other, textGen),
				})
				partitionOf = append(partitionOf, p)
			}
		}
		return rs, partitionOf
	}
}

// Every named statistic, over any plan, gives the result of its model, and the same bytes.
func TestStatisticsAgreeWithModels(t *testing.T) {
	for _, tc := range []struct {
		name  string
		table Table
		rows  func(t *rapid.T) (rows, []int)
		model func(rows) map[string][]string
	}{
		{"device-day", deviceTable(t), dayRows("device_id", "content_hash"), deviceDayModel},
		{"region-day", metadataTable(t), metadataRows, regionDayModel},
		{"tags", tagTable(t), dayRows("tag", "device_id"), tagsModel},
		{"tag-pairs", tagTable(t), dayRows("tag", "device_id"), pairsModel(3)},
		{"image-sizes", metadataTable(t), metadataRows, sizesModel},
		{"uploads", metadataTable(t), metadataRows, uploadsModel},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := Lookup(tc.name)
			if err != nil {
				t.Fatal(err)
			}
			q, err := s.Compile(tc.table, NamedOptions{TopPairs: 3})
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(rt *rapid.T) {
				rs, partitionOf := tc.rows(rt)
				want := tc.model(rs)
				a, err := randomPlan(rt, rs, partitionOf, true).run(t, q, tc.table)
				if err != nil {
					rt.Fatal(err)
				}
				b, err := randomPlan(rt, rs, partitionOf, true).run(t, q, tc.table)
				if err != nil {
					rt.Fatal(err)
				}
				for _, result := range q.Tables() {
					if got := a.tables[result.Name]; !slices.Equal(got, want[result.Name]) {
						rt.Fatalf("%s is\n%s\nwant\n%s", result.Name, strings.Join(got, "\n"), strings.Join(want[result.Name], "\n"))
					}
				}
				if !bytes.Equal(a.bytes, b.bytes) {
					rt.Fatal("two plans give different bytes")
				}
			})
		})
	}
}

func TestMapping(t *testing.T) {
	table := tableOf(t, "ks.pictures", "ID | timeuuid | partition_key", "Taken | timestamp | regular", "w | smallint | regular", "size | frozen<tuple<int, bigint>> | regular",
		"place | map<text, text> | regular", "sent | timestamp | regular")
	m := Mapping{Metadata: MetadataMapping{CaptureTime: `"Taken"`, UploadTime: "sent", Width: "w", Height: "size.1", Region: "place['country']"}}
	for name, want := range map[string]string{
		"region-day":  "Taken, place",
		"image-sizes": "Taken, w, size",
		"uploads":     "Taken, sent",
	} {
		s, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		q, err := s.Compile(table, NamedOptions{Mapping: m})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(q.Columns(), ", "); got != want {
			t.Errorf("%s reads %s, want %s", name, got, want)
		}
		_, err = s.Compile(table, NamedOptions{})
		var missing *ColumnError
		if !errors.As(err, &missing) || missing.Column != "capture_time" || missing.Table != "ks.pictures" {
			t.Errorf("%s without the mapping: error %v", name, err)
		}
	}
	for _, tc := range []struct {
		name    string
		mapping MetadataMapping
		want    error
	}{
		{"uploads", MetadataMapping{CaptureTime: `"Taken"`, UploadTime: "w"}, ErrType},
		{"region-day", MetadataMapping{CaptureTime: "w"}, ErrType},
		{"image-sizes", MetadataMapping{CaptureTime: "sent", Width: "place['w']", Height: "w"}, ErrType},
	} {
		s, _ := Lookup(tc.name)
		if _, err := s.Compile(table, NamedOptions{Mapping: Mapping{Metadata: tc.mapping}}); !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.name) {
			t.Errorf("%s of %+v: error %v", tc.name, tc.mapping, err)
		}
	}
	s, _ := Lookup("region-day")
	for _, text := range []string{"a, b", "day("} {
		var syntax *SyntaxError
		if _, err := s.Compile(table, NamedOptions{Mapping: Mapping{Metadata: MetadataMapping{CaptureTime: "sent", Region: text}}}); !errors.As(err, &syntax) || syntax.Text != text {
			t.Errorf("region %q: error %v", text, err)
		}
	}
	if _, err := s.Compile(table, NamedOptions{TopPairs: -1}); err == nil {
		t.Error("a list of -1 pairs")
	}
}

func TestRolesAndNames(t *testing.T) {
	if _, err := Lookup("imags"); !errors.Is(err, ErrUnknownQuery) || !strings.Contains(err.Error(), `"imags"`) {
		t.Errorf("unknown name: error %v", err)
	}
	tables := Tables{DeviceDaily: "per_device"}
	for _, s := range Statistics() {
		if s.Doc == "" || strings.Contains(s.Doc, "\n") {
			t.Errorf("%s has the doc %q", s.Name, s.Doc)
		}
		want := string(s.Role)
		if s.Role == DeviceDaily {
			want = "per_device"
		}
		if got := tables.Of(s.Role); got != want {
			t.Errorf("%s takes table %s, want %s", s.Name, got, want)
		}
	}
}
