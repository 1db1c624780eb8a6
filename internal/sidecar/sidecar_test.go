package sidecar

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"go.uber.org/goleak"

	"manifest/export"
	"manifest/internal/cqltype"
	"manifest/tokenrange"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// images makes the files of a dataset of some images, and gives its manifest.
func images(t *testing.T, opts export.Options, lines string) (dir string, m export.Manifest) {
	t.Helper()
	var fields []arrow.Field
	for _, c := range []struct{ name, cql string }{{"image_id", "timeuuid"}, {"object_key", "text"}, {"width", "int"}, {"height", "int"}, {"capture_time", "timestamp"}} {
		ct, err := cqltype.Parse(c.cql, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ct.Field(c.name, c.name != "image_id")
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, f)
	}
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(lines), array.WithMultipleDocs())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	opts.WorkDir, opts.NoSync = t.TempDir(), true
	d, err := export.New(rec.Schema(), opts)
	if err != nil {
		t.Fatal(err)
	}
	part, err := d.Begin(t.Context(), tokenrange.Split{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(part.Write(t.Context(), rec), part.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	res, err := d.Finish(t.Context(), []string{"a"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	d.Describe(&m, res)
	return dir, m
}

// The same in all formats: the second id is smaller than the first in its upper
// half, and the others differ in the lower half alone.
const (
	ids = `{"image_id":"/wAAAAAAEQCAAAAAAAAAAA==","object_key":"b/ü.jpg","width":0,"height":7,"capture_time":"2025-06-01 12:34:56.789"}
{"image_id":"AQAAAAAAEQCAAAAAAAAAAg==","object_key":"a.jpg","width":null,"height":null,"capture_time":null}
{"image_id":"AQAAAAAAEQCAAAAAAAAAAQ==","object_key":null,"width":1,"height":1,"capture_time":null}
{"image_id":"AQAAAAAAEQB/AAAAAAAAAA==","object_key":"c.jpg","width":5,"height":6,"capture_time":"1969-12-31 23:59:59.999"}`
	wantIDs = "01000000000011007f00000000000000" + "01000000000011008000000000000001" + "01000000000011008000000000000002" + "ff000000000011008000000000000000"
)

var formats = map[string]export.Options{
	"parquet": {}, "binary": {Shape: export.ShapeOptions{UUID: "binary"}}, "shards": {Shards: 3}, "arrow": {Format: export.Arrow}, "csv": {Format: export.CSV}, "jsonl": {Format: export.JSONLines},
}

func TestUIDsAreSortedPairs(t *testing.T) {
	for name, opts := range formats {
		dir, m := images(t, opts, ids)
		if err := WriteUIDs(t.Context(), dir, m, "image_id", t.TempDir(), 1<<20); err != nil {
			t.Fatal(name, err)
		}
		data, err := os.ReadFile(filepath.Join(dir, UIDsFile))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < 64 || len(data)%64 != 0 || !bytes.HasPrefix(data, []byte("\x93NUMPY\x01\x00")) {
			t.Fatalf("%s: %d bytes, %q", name, len(data), data[:min(len(data), 10)])
		}
		end := 10 + int(binary.LittleEndian.Uint16(data[8:]))
		if header := string(data[10:end]); !strings.HasPrefix(header, "{'descr': [('f0', '<u8'), ('f1', '<u8')], 'fortran_order': False, 'shape': (4,), }") || !strings.HasSuffix(header, "\n") || end%64 != 0 {
			t.Errorf("%s: header %q of %d bytes", name, header, end)
		}
		var got []byte
		for item := range slices.Chunk(data[end:], 8) {
			got = binary.BigEndian.AppendUint64(got, binary.LittleEndian.Uint64(item))
		}
		if hex.EncodeToString(got) != wantIDs {
			t.Errorf("%s: ids %x, want %s", name, got, wantIDs)
		}
	}
}

func TestMoreUIDsThanMemoryHolds(t *testing.T) {
	var lines strings.Builder
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&lines, "{\"image_id\":%s}\n", func() []byte { // in the order of their reversed bits
			id := make([]byte, 16)
			binary.LittleEndian.PutUint32(id, uint32(i)*2654435761)
			binary.LittleEndian.PutUint32(id[12:], uint32(i))
			text, _ := json.Marshal(id)
			return text
		}())
	}
	dir, m := images(t, export.Options{}, lines.String())
	work := t.TempDir()
	if err := WriteUIDs(t.Context(), dir, m, "image_id", work, 64<<10); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, UIDsFile))
	if err != nil {
		t.Fatal(err)
	}
	data = data[10+int(binary.LittleEndian.Uint16(data[8:])):]
	if len(data) != 16*n {
		t.Fatalf("%d bytes of ids, want %d", len(data), 16*n)
	}
	var last [2]uint64
	for i := range n {
		id := [2]uint64{binary.LittleEndian.Uint64(data[16*i:]), binary.LittleEndian.Uint64(data[16*i+8:])}
		if i > 0 && slices.Compare(id[:], last[:]) <= 0 {
			t.Fatalf("id %d does not follow the one before", i)
		}
		last = id
	}
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestCOCOListsImages(t *testing.T) {
	for name, opts := range formats {
		dir, m := images(t, opts, ids)
		if err := WriteCOCO(t.Context(), dir, m); err != nil {
			t.Fatal(name, err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "coco", "part.json"))
		if err != nil {
			t.Fatal(err)
		}
		var coco struct {
			Info                  map[string]string
			Licenses, Annotations []any
			Categories            []any
			Images                []json.RawMessage
		}
		if err := json.Unmarshal(data, &coco); err != nil {
			t.Fatalf("%s: %v in %s", name, err, data)
		}
		want := []string{
			`{"id":1,"file_name":"b/ü.jpg","width":0,"height":7,"date_captured":"2025-06-01T12:34:56.789Z","image_id":"ff000000-0000-1100-8000-000000000000"}`,
			`{"id":2,"file_name":"a.jpg","image_id":"01000000-0000-1100-8000-000000000002"}`,
			`{"id":4,"file_name":"c.jpg","width":5,"height":6,"date_captured":"1969-12-31T23:59:59.999Z","image_id":"01000000-0000-1100-7f00-000000000000"}`,
		}
		if len(coco.Images) != len(want) || coco.Annotations == nil || coco.Categories == nil || coco.Licenses == nil {
			t.Fatalf("%s: %s", name, data)
		}
		for i, image := range coco.Images {
			if string(image) != want[i] {
				t.Errorf("%s: image %d\n got %s\nwant %s", name, i, image, want[i])
			}
		}
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	dir, m := images(t, export.Options{Columns: []string{"width"}}, ids)
	if err := WriteCOCO(t.Context(), dir, m); !errors.Is(err, ErrColumn) {
		t.Errorf("COCO without names of files: %v", err)
	}
	dir, m = images(t, export.Options{}, ids)
	if err := WriteUIDs(t.Context(), dir, m, "object_key", t.TempDir(), 1<<20); !errors.Is(err, ErrColumn) || !strings.Contains(err.Error(), "object_key") {
		t.Errorf("ids that are none: %v", err)
	}
}
