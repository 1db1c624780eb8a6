package queries

import (
	"fmt"
	"os"
	"testing"

	"github.com/zeebo/xxh3"
)

// What a part says of its file is what the file is, also where the groups went through runs on the disk.
func TestAPartNamesItsFile(t *testing.T) {
	for name, memory := range map[string]int64{"in memory": 1 << 20, "spilled": 1} {
		for _, q := range []*Query{widths(t), devices(t)} {
			f := newFixture(t, q, memory)
			p := f.part(t, 1, deviceRows("a", 500), deviceRows("b", 100))
			if err := p.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			files := 0
			p.Files(func(path string, bytes int64, digest string) {
				files++
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				sum := xxh3.Hash128(data).Bytes()
				if want := fmt.Sprintf("%x", sum[:]); bytes != int64(len(data)) || digest != want {
					t.Errorf("%s of %s: %d bytes of %s, want %d of %s", name, q.Name(), bytes, digest, len(data), want)
				}
			})
			if files != 1 {
				t.Errorf("%s: %d files", name, files)
			}
		}
	}
}
