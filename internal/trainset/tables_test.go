package trainset

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export"
	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/tokensort"
	"manifest/tokenrange"
)

// image is one of the model's images.
type image struct {
	id         [16]byte
	store, key string
	hash       string // empty: NULL
	width      int32
	capture    int64 // milliseconds
	device     string
	weather    string
	tags       []string
	status     string // empty: no row
	noMetadata bool
}

func (im image) name() string { return string(cqltype.AppendUUID(nil, im.id[:])) }
func (im image) day() int32   { return int32(im.capture / 86_400_000) }

// someTags are tags that are hard to write, too.
var someTags = []string{"leaf_spot", "rust", "blurry", "ß spot", "leaf_curl"}

func makeImages(seed uint64, n int) []image {
	r := rand.New(rand.NewPCG(seed, 1))
	images := make([]image, n)
	for i := range images {
		im := &images[i]
		binary.BigEndian.PutUint64(im.id[:], r.Uint64())
		binary.BigEndian.PutUint64(im.id[8:], r.Uint64())
		im.store, im.key = "bucket", fmt.Sprintf("a/%d.jpg", i)
		if r.IntN(10) > 0 {
			im.hash = fmt.Sprintf("%08x", r.IntN(n*2/3+1))
		}
		im.width = int32(r.IntN(4) * 640)
		im.capture = 20_240*86_400_000 + r.Int64N(5*86_400_000)
		im.device = fmt.Sprintf("dev-%d", r.IntN(12))
		im.weather = []string{"", "rain", "sun"}[r.IntN(3)]
		for _, tag := range someTags {
			if r.IntN(3) == 0 {
				im.tags = append(im.tags, tag)
			}
		}
		slices.Sort(im.tags)
		im.status = []string{"approved", "approved", "pending", "rejected", "deleted", ""}[r.IntN(6)]
		im.noMetadata = r.IntN(15) == 0
	}
	return images
}

func column(t testing.TB, name, typ string, kind schema.Kind) schema.Column {
	parsed, err := cqltype.Parse(typ, nil)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Column{Name: name, Kind: kind, Type: parsed}
}

func imageTables(t testing.TB) Tables {
	p, c, r := schema.PartitionKey, schema.Clustering, schema.Regular
	return Tables{
		Metadata: {Keyspace: "k", Name: "image_metadata", Columns: []schema.Column{
			column(t, "image_id", "timeuuid", p), column(t, "attributes", "map<text, text>", r), column(t, "capture_time", "timestamp", r),
			column(t, "content_hash", "text", r), column(t, "object_key", "text", r), column(t, "object_store", "text", r), column(t, "width", "int", r),
		}},
		Devices: {Keyspace: "k", Name: "device_daily_images", Columns: []schema.Column{
			column(t, "device_id", "text", p), column(t, "day_bucket", "date", p), column(t, "capture_time", "timestamp", c),
			column(t, "image_id", "timeuuid", c), column(t, "content_hash", "text", r), column(t, "object_key", "text", r), column(t, "object_store", "text", r), column(t, "width", "int", r),
		}},
		Tags: {Keyspace: "k", Name: "tag_image_index", Columns: []schema.Column{
			column(t, "tag", "text", p), column(t, "day_bucket", "date", p), column(t, "capture_time", "timestamp", c),
			column(t, "image_id", "timeuuid", c), column(t, "device_id", "text", r), column(t, "object_key", "text", r), column(t, "object_store", "text", r),
		}},
		Reviews: {Keyspace: "k", Name: "image_review_status", Columns: []schema.Column{
			column(t, "image_id", "timeuuid", p), column(t, "reviewed_at", "timestamp", r), column(t, "status", "text", r),
		}},
	}
}

// tableRow is a row of a table: its token, and its values by column.
type tableRow struct {
	token  tokenrange.Token
	values map[string]any
}

func text(s string) []byte { return []byte(s) }

func day(d int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(d)+1<<31) }

// rowsOf are the rows of a table in the order of tokens.
func rowsOf(r Role, images []image) []tableRow {
	var rows []tableRow
	add := func(values map[string]any, key ...[]byte) {
		rows = append(rows, tableRow{tokenrange.Murmur3.Token(tokenrange.PartitionKey(key...)), values})
	}
	for _, im := range images {
		all := map[string]any{
			"image_id": im.id[:], "object_store": im.store, "object_key": im.key, "width": im.width, "capture_time": im.capture,
			"device_id": im.device, "day_bucket": im.day(),
		}
		if im.hash != "" {
			all["content_hash"] = im.hash
		}
		switch r {
		case Metadata:
			all["attributes"] = im.weather
			if !im.noMetadata {
				add(all, im.id[:])
			}
		case Reviews:
			if im.status != "" {
				add(map[string]any{"image_id": im.id[:], "status": im.status, "reviewed_at": im.capture + 5}, im.id[:])
			}
		case Devices:
			add(all, text(im.device), day(im.day()))
		case Tags:
			for _, tag := range im.tags {
				of := map[string]any{"tag": tag}
				for k, v := range all {
					of[k] = v
				}
				add(of, text(tag), day(im.day()))
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b tableRow) int { return a.token.Compare(b.token) })
	return rows
}

// record makes a record of rows.
func record(t testing.TB, table *schema.Table, columns []string, rows []tableRow) arrow.Record {
	selected, err := table.Select(columns)
	if err != nil {
		t.Fatal(err)
	}
	arrowSchema, err := table.Arrow(selected)
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrowSchema)
	defer b.Release()
	for _, row := range rows {
		for i, name := range columns {
			v, ok := row.values[name]
			if !ok {
				b.Field(i).AppendNull()
				continue
			}
			switch f := b.Field(i).(type) {
			case *array.StringBuilder:
				f.Append(v.(string))
			case *array.Int32Builder:
				f.Append(v.(int32))
			case *array.TimestampBuilder:
				f.Append(arrow.Timestamp(v.(int64)))
			case *array.Date32Builder:
				f.Append(arrow.Date32(v.(int32)))
			case *array.FixedSizeBinaryBuilder:
				f.Append(v.([]byte))
			case *array.MapBuilder:
				f.Append(true)
				if w := v.(string); w != "" {
					f.KeyBuilder().(*array.StringBuilder).Append("weather")
					f.ItemBuilder().(*array.StringBuilder).Append(w)
				}
			}
		}
	}
	return b.NewRecord()
}

// setup varies what the result must not depend on.
type setup struct {
	splits int // of a scan
	rows   int // in a record
	memory int64
	work   int
}

// gather scans a table as the engine would, splits in any order.
func gather(t testing.TB, p *Plan, read *Read, images []image, s setup, candidates, dir string) *tokensort.Sorter {
	ctx := context.Background()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := p.Gather(read, GatherOptions{Dir: dir, Memory: s.memory, Partitioner: tokenrange.Murmur3, Candidates: candidates})
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(read.Role, images)
	ranges := tokenrange.Murmur3.Ring().Split(s.splits)
	var ids []string
	for _, r := range ranges {
		ids = append(ids, r.ID())
	}
	for _, i := range rand.New(rand.NewPCG(uint64(s.splits), 7)).Perm(len(ranges)) {
		part, err := g.Begin(ctx, tokenrange.NewSplit(ranges[i]))
		if err != nil {
			t.Fatal(err)
		}
		var of []tableRow
		for _, row := range rows {
			if ranges[i].Contains(row.token) {
				of = append(of, row)
			}
		}
		for some := range slices.Chunk(of, s.rows) {
			rec := record(t, read.Table, read.Columns, some)
			if err := part.Write(ctx, rec); err != nil {
				t.Fatal(err)
			}
			rec.Release()
		}
		if err := part.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := g.Runs(ctx, tokensort.Options{Dir: dir, FanIn: 4}, ids)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// build makes a manifest of the images, and gives the directory of its files.
func build(t testing.TB, spec Spec, images []image, s setup, files export.Options, pins func(p *Plan, dir string) *Pins) (string, *Written) {
	ctx := context.Background()
	p, err := NewPlan(spec, imageTables(t))
	if err != nil {
		t.Fatal(err)
	}
	work, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	mkdir := func(name string) string {
		dir := filepath.Join(work, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	b, err := p.NewBuilder(Options{Dir: mkdir("work"), Memory: s.memory, Parallelism: s.work})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(mkdir("work")); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	}()
	gathered := Gathered{}
	for i, read := range p.Reads() {
		runs := gather(t, p, read, images, s, b.Candidates(), mkdir(string(read.Role)))
		defer runs.Close()
		gathered[read.Role] = runs
		if i == 0 {
			if err := b.Select(ctx, runs); err != nil {
				t.Fatal(err)
			}
		}
	}
	var of *Pins
	if pins != nil {
		of = pins(p, mkdir("pins"))
	}
	files.NoSync = true
	written, err := b.Make(ctx, gathered, of, WriteOptions{Dir: mkdir("out"), PartsDir: mkdir("parts"), Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return mkdir("out"), written
}
