package export

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"manifest/export/internal/parquetfile"
)

func groupsOf(rows ...int64) []groupRef {
	var groups []groupRef
	for i, n := range rows {
		groups = append(groups, groupRef{part: i, RowGroupInfo: parquetfile.RowGroupInfo{Rows: n, Bytes: n * 100, Compressed: n * 50}})
	}
	return groups
}

// shapeOf tells files by the rows of each run of each row group, with a minus for
// those that are copied.
func shapeOf(files [][][]rowRun) [][][]int64 {
	var out [][][]int64
	for _, f := range files {
		var file [][]int64
		for _, g := range f {
			var group []int64
			for _, r := range g {
				n := r.rows()
				if r.whole() && len(g) == 1 {
					n = -n
				}
				group = append(group, n)
			}
			file = append(file, group)
		}
		out = append(out, file)
	}
	return out
}

func TestPlanFiles(t *testing.T) {
	limits := parquetfile.Options{RowGroupRows: 800, RowGroupBytes: 1 << 20}
	for _, tt := range []struct {
		name   string
		groups []groupRef
		shards int
		bytes  int64
		want   [][][]int64
	}{
		{"one group", groupsOf(800), 1, 1, [][][]int64{{{-800}}}},
		{"files end with groups", groupsOf(800, 800, 800, 700), 2, 1, [][][]int64{{{-800}, {-800}}, {{-800}, {-700}}}},
		{"groups are cut for more files than groups", groupsOf(800), 4, 1, [][][]int64{{{200}}, {{200}}, {{200}}, {{200}}}},
		{"small groups are packed", groupsOf(90, 90, 90, 800, 90), 1, 1, [][][]int64{{{90, 90, 90}, {-800}, {-90}}}},
		{"a pack is not fuller than a group", groupsOf(99, 99, 99, 99, 99, 99, 99, 99, 99), 1, 1,
			[][][]int64{{{99, 99, 99, 99, 99, 99, 99, 99}, {-99}}}},
		{"by size", groupsOf(800, 800, 800, 800), 0, 80_000, [][][]int64{{{-800}, {-800}}, {{-800}, {-800}}}},
		{"not more files than rows", groupsOf(2), 9, 1, [][][]int64{{{1}}, {{1}}}},
		{"empty groups do not count", groupsOf(0, 800, 0), 1, 1, [][][]int64{{{-800}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shapeOf(planFiles(tt.groups, tt.shards, tt.bytes, limits))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every row is in exactly one file, in order; no file is empty; files are of
// nearly the same size; row groups keep their limits.
func TestPlanFilesKeepsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := parquetfile.Options{RowGroupRows: rapid.IntRange(1, 100).Draw(t, "rows"), RowGroupBytes: rapid.Int64Range(100, 20_000).Draw(t, "bytes")}
		groups := groupsOf(rapid.SliceOfN(rapid.Int64Range(1, int64(limits.RowGroupRows)), 1, 40).Draw(t, "groups")...)
		shards := rapid.IntRange(0, 12).Draw(t, "shards")
		files := planFiles(groups, shards, rapid.Int64Range(1, 10_000).Draw(t, "shard bytes"), limits)

		part, row := 0, int64(0)
		var total int64
		for _, g := range groups {
			total += g.Rows
		}
		if want := min(int64(shards), total); shards > 0 && int64(len(files)) != want {
			t.Fatalf("%d files, want %d", len(files), want)
		}
		for _, f := range files {
			var inFile int64
			for _, g := range f {
				var inGroup int64
				for _, r := range g {
					if r.part != part || r.from != row || r.to <= r.from {
						t.Fatalf("run %+v, want part %d from row %d", r, part, row)
					}
					inGroup += r.rows()
					if row = r.to; row == r.Rows {
						part, row = part+1, 0
					}
				}
				if inGroup > int64(limits.RowGroupRows) || len(g) > packRuns {
					t.Fatalf("a row group of %d rows from %d runs", inGroup, len(g))
				}
				inFile += inGroup
			}
			if share := total / int64(len(files)); inFile == 0 || inFile > share+share/2+1 || inFile < share-share/2-1 {
				t.Fatalf("a file of %d rows, its share is %d", inFile, share)
			}
		}
		if part != len(groups) {
			t.Fatalf("the plan ends in part %d of %d", part, len(groups))
		}
	})
}
