package queries

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// sizeRows are images of so many different days, widths and heights, some of them missing.
func sizeRows(n, different int) rows {
	var rs rows
	for i := range n {
		v := mix(uint64(i)) % uint64(different)
		row := map[string]any{
			"capture_time": time.Date(2025, 6, 1+int(v%7), 12, 0, 0, 0, time.UTC), "width": int64(v%300) - 2, "height": int64(v / 300),
		}
		if v%11 < 3 {
			row[[]string{"capture_time", "width", "height"}[v%11]] = nil
		}
		rs = append(rs, row)
	}
	return rs
}

// The file of a part is the same whether rows are counted first or not: few different rows, more than are counted at a time, so many that
// counting ends, and with little memory.
func TestCountingFirstChangesNothing(t *testing.T) {
	table := metadataTable(t)
	s, err := Lookup("image-sizes")
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Compile(table, NamedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	direct := *q
	direct.counted = nil
	for _, tc := range []struct {
		rows, different int
		memory          int64
	}{
		{20_000, 500, 0}, {100_000, 1_000_000, 0}, {200_000, 90_000, 0}, {20_000, 5_000, 1 << 20}, {20_000, 1_000_000, 1 << 18},
	} {
		t.Run(fmt.Sprint(tc), func(t *testing.T) {
			rec := sizeRows(tc.rows, tc.different).record(t, memory.DefaultAllocator, schemaOf(t, table, q.Columns()))
			defer rec.Release()
			var files [][]byte
			for _, q := range []*Query{q, &direct} {
				dir := t.TempDir()
				a, err := New(q, Options{Dir: dir, TempDir: t.TempDir(), Memory: tc.memory})
				if err != nil {
					t.Fatal(err)
				}
				part, err := a.Begin(t.Context(), splitOf(0))
				if err != nil {
					t.Fatal(err)
				}
				for at := int64(0); at < rec.NumRows(); at += 5000 {
					slice := rec.NewSlice(at, min(at+5000, rec.NumRows()))
					err := part.Write(t.Context(), slice)
					slice.Release()
					if err != nil {
						t.Fatal(err)
					}
				}
				if err := part.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				file, err := os.ReadFile(filepath.Join(dir, splitOf(0).ID+".part"))
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
			if !bytes.Equal(files[0], files[1]) {
				t.Errorf("files of %d and %d bytes differ", len(files[0]), len(files[1]))
			}
		})
	}
}
