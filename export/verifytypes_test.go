package export

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func openSchema(t *testing.T, path string) *parquet.Schema {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return p.Schema()
}

func TestTypesOfParquetAreThoseOfTheManifest(t *testing.T) {
	dir := published(t, Parquet)
	m, err := readManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	schema := openSchema(t, filepath.Join(dir, filepath.FromSlash(m.Files[0].Path)))
	if differ := checkParquetTypes(schema, m.Columns); differ != nil {
		t.Errorf("a whole file differs: %q", differ)
	}
	for i, c := range m.Columns {
		columns := slices.Clone(m.Columns)
		columns[i].Nullable = !c.Nullable
		if differ := checkParquetTypes(schema, columns); len(differ) != 1 {
			t.Errorf("%s: nullability changed: %q", c.Name, differ)
		}
		columns[i] = c
		columns[i].Type = "float64"
		if differ := checkParquetTypes(schema, columns); len(differ) != 1 {
			t.Errorf("%s: type changed from %s: %q", c.Name, c.Type, differ)
		}
	}
}

// Every type that can be written is known, in each shape.
func TestNoTypeIsTakenForAnother(t *testing.T) {
	rec, _ := everyType(t)
	defer rec.Release()
	for _, shape := range []ShapeOptions{{}, {UUID: "binary", Map: "map", Time: "nanos", NoZone: true}, {Map: "json", Time: "micros"}} {
		dir := t.TempDir()
		d := newDataset(t, rec.Schema(), Options{WorkDir: t.TempDir(), Shape: shape})
		writePart(t, t.Context(), d, "0", rec)
		res, err := d.Finish(t.Context(), []string{"0"}, dir)
		if err != nil {
			t.Fatal(err)
		}
		schema := openSchema(t, filepath.Join(dir, filepath.FromSlash(res.Files[0].Path)))
		if differ := checkParquetTypes(schema, describeColumns(d.Schema())); differ != nil {
			t.Errorf("%+v: %q", shape, differ)
		}
	}
}
