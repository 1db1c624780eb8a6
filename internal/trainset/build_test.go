package trainset

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"manifest/export"
	"manifest/internal/sampling"
	"manifest/internal/selection"
	"manifest/tokenrange"
)

func parseTags(t testing.TB, text string) *selection.TagExpr {
	e, err := selection.ParseTags(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func where(t testing.TB, text string) selection.Condition {
	c, err := selection.ParseWhere(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func splits(t testing.TB, text string) []sampling.Split {
	s, err := sampling.ParseSplits(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines reads all objects of the JSON lines below a directory.
func lines(t testing.TB, dir, sub string) []map[string]any {
	var all []map[string]any
	paths, err := filepath.Glob(filepath.Join(dir, sub, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			row := map[string]any{}
			d := json.NewDecoder(strings.NewReader(s.Text()))
			d.UseNumber()
			if err := d.Decode(&row); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			row["file"] = filepath.Base(path)
			all = append(all, row)
		}
	}
	return all
}

// model is what the paragraph "approved pictures of leaf_spot or rust and not blurry, no duplicates" means, by hand.
func model(images []image, wanted func(image) bool) (kept map[string]image, rejected map[string]string) {
	kept, rejected = map[string]image{}, map[string]string{}
	first := map[string]image{}
	for _, im := range images {
		switch {
		case !wanted(im):
		case im.noMetadata:
			rejected[im.name()] = "no_metadata "
		case im.width < 640 || im.weather != "rain":
		case im.status != "approved":
			rejected[im.name()] = "status_" + cmp.Or(im.status, "none") + " "
		default:
			kept[im.name()] = im
			if o, ok := first[im.hash]; im.hash != "" && (!ok || im.capture < o.capture || im.capture == o.capture && im.name() < o.name()) {
				first[im.hash] = im
			}
		}
	}
	for name, im := range kept {
		if im.hash != "" && first[im.hash].id != im.id {
			rejected[name] = "duplicate " + first[im.hash].name()
			delete(kept, name)
		}
	}
	return kept, rejected
}

func theSpec(t testing.TB) Spec {
	return Spec{
		Tags: parseTags(t, `(leaf_* OR "ß spot") AND NOT blurry`), Where: where(t, "width >= 640 AND attributes['weather'] = 'rain'"),
		Statuses: []string{"approved"}, Splits: splits(t, "train=0.6,validation=0.2,test=0.2"), GroupBy: []string{"device", "day"},
	}
}

func wantedByTags(im image) bool {
	has := func(tag string) bool { return slices.Contains(im.tags, tag) }
	return (has("leaf_spot") || has("leaf_curl") || has("ß spot")) && !has("blurry")
}

func TestManifestIsThatOfTheModel(t *testing.T) {
	images := makeImages(1, 1500)
	dir, written := build(t, theSpec(t), images, setup{splits: 3, rows: 17, memory: 1 << 28, work: 2}, export.Options{Format: export.JSONLines}, nil)
	kept, rejected := model(images, wantedByTags)
	if len(kept) < 30 || len(rejected) < 30 {
		t.Fatalf("%d kept and %d rejected test little", len(kept), len(rejected))
	}
	groups := map[string]string{}
	rows := lines(t, dir, "data")
	if len(rows) != len(kept) {
		t.Errorf("%d rows, want %d", len(rows), len(kept))
	}
	last := map[string]int64{}
	for _, row := range rows {
		name := row["image_id"].(string)
		im, ok := kept[name]
		if !ok {
			t.Fatalf("%s should not be there", name)
		}
		delete(kept, name)
		split := row["split"].(string)
		if !strings.HasPrefix(row["file"].(string), split+"-0") {
			t.Errorf("%s of %s is in %s", name, split, row["file"])
		}
		group, _ := sampling.GroupKey(nil, []byte(im.device), []byte(row["capture_day"].(string)))
		if got := row["group_id"].(json.Number).String(); got != fmt.Sprint(sampling.GroupID(group)) {
			t.Errorf("%s has the group %s", name, got)
		}
		if s, ok := groups[string(group)]; ok && s != split {
			t.Errorf("group %s is in %s and %s", group, s, split)
		}
		groups[string(group)] = split
		hash, _ := row["sample_hash"].(json.Number).Int64()
		if hash != sampling.SampleHash("", []byte(name)) || hash < last[split] {
			t.Errorf("%s has the sample hash %d behind %d", name, hash, last[split])
		}
		last[split] = hash
		var tags []string
		for _, tag := range row["tags"].([]any) {
			tags = append(tags, tag.(string))
		}
		var mentioned []string
		for _, tag := range im.tags {
			if tag != "rust" {
				mentioned = append(mentioned, tag)
			}
		}
		if !slices.Equal(tags, mentioned) {
			t.Errorf("%s has the tags %q, want %q", name, tags, mentioned)
		}
		for column, want := range map[string]string{
			"uri": "s3://bucket/" + im.key, "object_key": im.key, "width": fmt.Sprint(im.width), "device_id": im.device, "review_status": "approved", "weight": "1",
		} {
			if got := fmt.Sprint(row[column]); got != want {
				t.Errorf("%s has the %s %s, want %s", name, column, got, want)
			}
		}
	}
	if len(kept) > 0 {
		t.Errorf("missing: %v", slices.Sorted(maps.Keys(kept)))
	}
	for _, row := range lines(t, dir, "rejects") {
		name := row["image_id"].(string)
		of, _ := row["duplicate_of"].(string)
		if got := row["reason"].(string) + " " + of; rejected[name] != got {
			t.Errorf("%s is rejected as %s, want %s", name, got, rejected[name])
		}
		delete(rejected, name)
	}
	if len(rejected) > 0 {
		t.Errorf("not rejected: %v", rejected)
	}
	c := written.Counts
	var candidates int64
	for _, im := range images {
		if wantedByTags(im) {
			candidates++
		}
	}
	if c.Candidates != candidates || c.Kept != int64(len(rows)) || c.Unique != c.Kept || !written.Proof.Holds() || written.Proof.Rows != c.Kept {
		t.Errorf("%d candidates, counts %+v, proof %+v", candidates, c, written.Proof)
	}
}

// files reads all files below a directory.
func files(t testing.TB, dir string) map[string]string {
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Same rows, same bytes: whatever the splits, records, memory and workers.
func TestBytesDependOnRowsAlone(t *testing.T) {
	images := makeImages(2, 400)
	balanced := theSpec(t)
	balanced.Limit, balanced.Balance, balanced.Caps, balanced.Salt = 40, []string{"tag", "device"}, []Cap{{"device", 6}}, "s"
	byTime := Spec{Order: ByTime, NoDedupe: true, Splits: splits(t, "train=0.5,test=0.5"), Tags: parseTags(t, "NOT blurry")}
	for name, spec := range map[string]Spec{"tags": theSpec(t), "balanced": balanced, "by time": byTime} {
		t.Run(name, func(t *testing.T) {
			var want map[string]string
			for _, s := range []setup{{1, 1000, 1 << 30, 4}, {5, 7, 1, 1}, {16, 3, 1 << 14, 2}} {
				shuffled := slices.Clone(images)
				if s.splits > 1 {
					slices.SortFunc(shuffled, func(a, b image) int { return cmp.Compare(a.key, b.key) })
				}
				dir, _ := build(t, spec, shuffled, s, export.Options{}, nil)
				got := files(t, dir)
				if want == nil {
					want = got
					continue
				}
				if !maps.Equal(got, want) {
					t.Errorf("%+v: other files than with one split: %v and %v", s, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
				}
			}
			if len(want) < 3 {
				t.Errorf("only the files %v", slices.Sorted(maps.Keys(want)))
			}
		})
	}
}

// decidesAtOnce tells which way a manifest goes.
func decidesAtOnce(t *testing.T, spec Spec) bool {
	p, err := NewPlan(spec, imageTables(t))
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{plan: p, opts: Options{Dir: t.TempDir()}.withDefaults()}
	chosen, err := b.newSampler(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, ok := chosen.(*atOnce)
	return ok
}

// A manifest of the index table alone is decided about row by row. A cap that never binds makes the sampling look at all rows together:
// the files are the same, and so are they whatever the splits, records, memory and workers.
func TestDecidedAtOnceOrTogether(t *testing.T) {
	images := makeImages(4, 500)
	plain := Spec{Tags: parseTags(t, "leaf_spot OR rust"), AnyStatus: true, NoDedupe: true, Salt: "s", Columns: []string{"image_id", "tags", "device_id", "sample_hash", "group_id"}}
	fraction, err := sampling.ParseShare("0.4")
	if err != nil {
		t.Fatal(err)
	}
	weighted := slices.Concat(plain.Columns, []string{"weight"})
	for name, change := range map[string]func(*Spec){
		"all":                                   func(*Spec) {},
		"limit":                                 func(s *Spec) { s.Limit = 50 },
		"limit, with weights":                   func(s *Spec) { s.Limit, s.Columns = 50, weighted },
		"limit of more than there are, weights": func(s *Spec) { s.Limit, s.Columns = 5000, weighted },
		"fraction, with weights":                func(s *Spec) { s.Fraction, s.Columns = fraction, weighted },
		"fraction, limit, group, weights":       func(s *Spec) { s.Fraction, s.Limit, s.GroupBy, s.Columns = fraction, 60, []string{"device"}, weighted },
		"condition":                             func(s *Spec) { s.Where = where(t, "device_id != 'device-3'") },
		"one split":                             func(s *Spec) { s.Splits = splits(t, "train=1") },
	} {
		t.Run(name, func(t *testing.T) {
			spec := plain
			change(&spec)
			together := spec
			together.Caps = []Cap{{"device", 1_000_000}}
			if decidesAtOnce(t, together) || !decidesAtOnce(t, spec) {
				t.Fatal("both are decided in the same way, which compares nothing")
			}
			dir, of := build(t, together, images, setup{4, 10, 1 << 20, 2}, export.Options{}, nil)
			want := files(t, dir)
			for _, s := range []setup{{1, 1000, 1 << 30, 4}, {5, 7, 1, 1}, {16, 3, 1 << 14, 2}} {
				shuffled := slices.Clone(images)
				slices.SortFunc(shuffled, func(a, b image) int { return cmp.Compare(a.key, b.key) })
				dir, written := build(t, spec, shuffled, s, export.Options{}, nil)
				if got := files(t, dir); !maps.Equal(got, want) {
					t.Errorf("%+v: other files than of a sampling that looks at all images: %v and %v", s, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
				}
				counts := of.Counts
				counts.Sampled = slices.DeleteFunc(slices.Clone(counts.Sampled), func(s Stage) bool { return s.Name == "max-per device" })
				if got := fmt.Sprintf("%+v", written.Counts); got != fmt.Sprintf("%+v", counts) {
					t.Errorf("%+v: counts are %s, not %+v", s, got, counts)
				}
			}
			if of.Counts.Kept == 0 || of.Counts.Kept == of.Counts.Candidates && (spec.Limit == 50 || spec.Fraction.IsSet()) {
				t.Errorf("%+v shows nothing", of.Counts)
			}
		})
	}
}

// Images that have none of the tags are found in the device index.
func TestTagsThatOnlyExclude(t *testing.T) {
	images := makeImages(3, 200)
	spec := Spec{Tags: parseTags(t, "NOT blurry AND NOT rust"), AnyStatus: true, NoDedupe: true, Columns: []string{"image_id", "tags", "device_id"}}
	dir, written := build(t, spec, images, setup{splits: 4, rows: 10, memory: 1 << 20, work: 1}, export.Options{Format: export.JSONLines}, nil)
	want := map[string]bool{}
	for _, im := range images {
		if !slices.Contains(im.tags, "blurry") && !slices.Contains(im.tags, "rust") {
			want[im.name()] = true
		}
	}
	for _, row := range lines(t, dir, "data") {
		if !want[row["image_id"].(string)] {
			t.Errorf("%s should not be there", row["image_id"])
		}
		delete(want, row["image_id"].(string))
	}
	if len(want) > 0 || written.Counts.Candidates != written.Counts.Kept || written.HashesKnown {
		t.Errorf("missing %v, counts %+v", want, written.Counts)
	}
}

// What is not asked for is not read: the reference manifest needs the tag index alone.
func TestOnlyWhatIsNeededIsRead(t *testing.T) {
	from := selection.Day(20_241)
	spec := Spec{
		Tags: parseTags(t, "leaf_spot"), From: &from, AnyStatus: true, NoDedupe: true, Limit: 10,
		Columns: []string{"image_id", "object_key", "device_id", "capture_time"},
	}
	p, err := NewPlan(spec, imageTables(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Reads()) != 1 || p.Base() != Tags {
		t.Fatalf("reads %v", p.Reads())
	}
	read := p.Reads()[0]
	if got := strings.Join(read.Columns, " "); got != "image_id tag capture_time device_id object_key day_bucket" {
		t.Errorf("columns %s", got)
	}
	if got := read.Rows.String(); got != "day(day_bucket) >= '2025-06-02' AND tag IN ('leaf_spot')" {
		t.Errorf("rows %s", got)
	}
	images := makeImages(4, 100)
	dir, written := build(t, spec, images, setup{splits: 2, rows: 10, memory: 1 << 20, work: 1}, export.Options{Format: export.JSONLines}, nil)
	rows := lines(t, dir, "data")
	if len(rows) != 10 || written.Counts.Kept != 10 || len(rows[0]) != 5 {
		t.Errorf("%d rows of %v, %+v", len(rows), rows[0], written.Counts)
	}
}

func TestSpecsThatMakeNoSense(t *testing.T) {
	for name, c := range map[string]struct {
		spec   Spec
		tables func(Tables)
		want   string
	}{
		"unknown column":    {spec: Spec{Columns: []string{"image_id", "colour"}}, want: "colour"},
		"column twice":      {spec: Spec{Columns: []string{"image_id", "image_id"}}, want: "twice"},
		"unknown condition": {spec: Spec{Where: where(t, "colour = 'red'")}, want: "colour"},
		"group by a map":    {spec: Spec{GroupBy: []string{"attributes"}}, want: "attributes"},
		"bad template":      {spec: Spec{URI: "s3://{"}, want: "template"},
		"no tag index":      {spec: Spec{Tags: parseTags(t, "a")}, tables: func(t Tables) { delete(t, Tags) }, want: "tag index"},
		"no status":         {spec: Spec{Statuses: []string{"approved"}}, tables: func(t Tables) { delete(t, Reviews) }, want: "status"},
	} {
		t.Run(name, func(t *testing.T) {
			tables := imageTables(t)
			if c.tables != nil {
				c.tables(tables)
			}
			_, err := NewPlan(c.spec, tables)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	p, err := NewPlan(Spec{}, imageTables(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Gather(p.Reads()[0], GatherOptions{Partitioner: tokenrange.ExplicitPartitioner("x")}); err == nil {
		t.Error("an unknown partitioner is taken")
	}
}

// Tables and columns may have other names in a cluster; requests and files have those of the documents.
func TestNamesOfColumnsAreMapped(t *testing.T) {
	tables := imageTables(t)
	rename := func(r Role, from, to string) {
		for i := range tables[r].Columns {
			if tables[r].Columns[i].Name == from {
				tables[r].Columns[i].Name = to
			}
		}
	}
	rename(Metadata, "attributes", "properties")
	rename(Metadata, "width", "w")
	rename(Tags, "tag", "label")
	rename(Reviews, "status", "state")
	spec := Spec{
		Tags: parseTags(t, "rust"), Regions: []string{"north*"}, Where: where(t, "width > 1 AND attributes['weather'] = 'rain'"), GroupBy: []string{"region"},
		Names: map[string]string{
			"image_metadata.attributes": "properties", "image_metadata.width": "w", "tag_image_index.tag": "label", "image_review_status.status": "state",
			"image_metadata.region": "properties['area']",
		},
	}
	p, err := NewPlan(spec, tables)
	if err != nil {
		t.Fatal(err)
	}
	got := map[Role]string{}
	for _, r := range p.Reads() {
		got[r.Role] = strings.Join(r.Columns, " ")
	}
	for role, want := range map[Role]string{
		Tags: "image_id label capture_time device_id object_key object_store", Metadata: "image_id properties content_hash w", Reviews: "image_id reviewed_at state",
	} {
		if got[role] != want {
			t.Errorf("of %s are read %q, want %q", role, got[role], want)
		}
	}
	if names := p.Schema().String(); !strings.Contains(names, "width") || !strings.Contains(names, "attributes") || strings.Contains(names, "properties") {
		t.Errorf("columns %s", names)
	}
	if a := p.groupBy[0]; !a.ofMap || a.key != "area" || p.joined[a.cell].name != "attributes" {
		t.Errorf("regions are %+v", a)
	}
}

func TestURIs(t *testing.T) {
	images := makeImages(7, 3)
	for i, store := range []string{"bucket", "gs://bucket", "bucket"} {
		images[i].store, images[i].tags, images[i].status, images[i].noMetadata = store, []string{"rust"}, "approved", false
		images[i].hash = fmt.Sprint(i)
	}
	for _, c := range []struct{ template, first, second string }{
		{"", "s3://bucket/a/0.jpg", "gs://bucket/a/1.jpg"},
		{"https://cdn/{device_id}/{object_key}?w={width}", "https://cdn/" + images[0].device + "/a/0.jpg?w=" + fmt.Sprint(images[0].width), "https://cdn/" + images[1].device + "/a/1.jpg?w=" + fmt.Sprint(images[1].width)},
	} {
		spec := Spec{Tags: parseTags(t, "rust"), URI: c.template, Columns: []string{"image_id", "uri"}}
		dir, _ := build(t, spec, images, setup{splits: 1, rows: 10, memory: 1 << 20, work: 1}, export.Options{Format: export.JSONLines}, nil)
		want := map[string]string{images[0].name(): c.first, images[1].name(): c.second}
		for _, row := range lines(t, dir, "data") {
			if w, ok := want[row["image_id"].(string)]; ok && row["uri"] != w {
				t.Errorf("template %q gave %s, want %s", c.template, row["uri"], w)
			}
		}
	}
}
