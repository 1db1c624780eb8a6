package export

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/zeebo/xxh3"

	"manifest/tokenrange"
)

// What a part says of its files is what they are: no more and no fewer than lie
// in the work directory.
func TestAPartNamesItsFiles(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64, Metadata: arrow.NewMetadata([]string{"cql"}, []string{"bigint"})}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range int64(3000) {
		b.Field(0).(*array.Int64Builder).Append(i * i)
	}
	rec := b.NewRecord()
	defer rec.Release()
	for _, format := range []Format{Parquet, Arrow, CSV, JSONLines} {
		dir := t.TempDir()
		d := newDataset(t, schema, Options{WorkDir: dir, Format: format})
		p, err := d.Begin(t.Context(), tokenrange.Split{ID: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if err := p.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		var named []string
		p.Files(func(path string, bytes int64, digest string) {
			named = append(named, path)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sum := xxh3.Hash128(data).Bytes()
			if want := fmt.Sprintf("%x", sum[:]); bytes != int64(len(data)) || digest != want {
				t.Errorf("%s: %s: %d bytes of %s, want %d of %s", format, path, bytes, digest, len(data), want)
			}
		})
		there, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		if slices.Sort(named); !slices.Equal(named, there) {
			t.Errorf("%s: named %v, and there are %v", format, named, there)
		}
	}
}
