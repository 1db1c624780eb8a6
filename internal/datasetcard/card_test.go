package datasetcard

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/export"
)

// manifestOf gives a manifest with files of so many rows each.
func manifestOf(files ...export.File) export.Manifest {
	m := export.Manifest{
		RunID: "r1", ToolVersion: "v1", Format: export.Parquet, CreatedAt: time.Date(2025, 6, 2, 3, 4, 5, 0, time.UTC),
		Source: export.Source{Keyspace: "k", Table: "t"}, Coverage: export.Coverage{Complete: true}, Files: files,
	}
	for _, f := range files {
		m.Rows, m.Bytes = m.Rows+f.Rows, m.Bytes+f.Bytes
	}
	return m
}

func TestSplitsComeFromTheNamesOfFiles(t *testing.T) {
	m := manifestOf(
		export.File{Path: "data/train-00000-of-00002.parquet", Rows: 10, Bytes: 100},
		export.File{Path: "data/train-00001-of-00002.parquet", Rows: 11, Bytes: 101},
		export.File{Path: "data/hold-out-00000-of-00001.parquet", Rows: 5, Bytes: 50},
	)
	want := []split{
		{"train", "data/train-*.parquet", 21, 201, 2},
		{"hold-out", "data/hold-out-*.parquet", 5, 50, 1},
	}
	got := splitsOf(m)
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("splits %+v, want %+v", got, want)
	}
	whole := splitsOf(manifestOf(export.File{Path: "data/part-00000-of-00001.csv", Rows: 3, Bytes: 9}))
	if len(whole) != 1 || whole[0] != (split{"train", "data/part-*.csv", 3, 9, 1}) {
		t.Errorf("without splits %+v", whole)
	}
}

func TestSizeCategories(t *testing.T) {
	for rows, want := range map[int64]string{
		0: "n<1K", 999: "n<1K", 1000: "1K<n<10K", 9_999: "1K<n<10K", 10_000: "10K<n<100K", 500_000: "100K<n<1M",
		50_000_000: "10M<n<100M", 999_999_999_999: "100B<n<1T", 5_000_000_000_000: "100B<n<1T",
	} {
		if got := sizeCategory(rows); got != want {
			t.Errorf("%d rows: %s, want %s", rows, got, want)
		}
	}
}

func TestATextCanNotLeaveItsPlace(t *testing.T) {
	m := manifestOf(export.File{Path: "data/part-00000-of-00001.parquet", Rows: 1, Bytes: 1})
	m.Query.Text = "export --where \"a = '```\n---\nlicense: mit'\""
	m.Columns = []export.Column{{Name: "a|b\n`c`", CQL: "text", Type: "utf8"}}
	card := string(Card(m, Info{Name: "x\"\n---\nlicense: mit"}))
	lines := strings.Split(card, "\n")
	ends := 0
	for _, line := range lines {
		if line == "---" {
			ends++
		}
		if strings.HasPrefix(line, "license:") {
			t.Errorf("a text became a key of the head: %s", line)
		}
	}
	if ends != 2 {
		t.Errorf("%d lines end the head, want 2:\n%s", ends, card)
	}
	if !strings.Contains(card, "| `` a\\|b `c` `` | `text` | `utf8` | no |") {
		t.Errorf("no row of the column in\n%s", card)
	}
}

func TestATrainingManifestSaysHowItWasMade(t *testing.T) {
	m := manifestOf(export.File{Path: "data/train-00000-of-00001.parquet", Rows: 8, Bytes: 1}, export.File{Path: "data/test-00000-of-00001.parquet", Rows: 2, Bytes: 1})
	m.Training = &export.Training{
		Tags: "leaf_spot AND NOT blurry", Statuses: []string{"approved"}, Salt: "s", GroupBy: []string{"device_id"}, Limit: 10,
		Rejected: []export.StageCount{{Stage: "duplicate", Rows: 4}},
		Proof:    export.TrainingProof{Groups: 3, ContentHashes: 10, HashesKnown: true},
	}
	card := string(Card(m, Info{Name: "leaf"}))
	for _, want := range []string{
		"- tags: `leaf_spot AND NOT blurry`\n", "- review status: `approved`\n", "- at most: `10 images`\n", "- left out as `duplicate`: 4 images\n",
		"0 of 3 groups are in more than one split, and 0 of 10 content hashes.", "| `train` | 8 | 1 | 1 |", "| `test` | 2 | 1 | 1 |",
		"  - split: \"test\"\n    path: \"data/test-*.parquet\"\n", "  - name: \"test\"\n    num_examples: 2\n",
	} {
		if !strings.Contains(card, want) {
			t.Errorf("no %q in\n%s", want, card)
		}
	}
	data, err := Croissant(m, arrow.NewSchema([]arrow.Field{{Name: "split", Type: arrow.BinaryTypes.String}}, nil), Info{Name: "leaf"})
	if err != nil {
		t.Fatal(err)
	}
	var croissant struct {
		RecordSet []struct {
			Field []struct {
				ID     string `json:"@id"`
				Source struct {
					Extract struct{ Column string }
				}
			}
		}
	}
	if err := json.Unmarshal(data, &croissant); err != nil {
		t.Fatal(err)
	}
	// The column tells the split, so that no field has to be made of the file's name.
	if f := croissant.RecordSet[1].Field; len(f) != 1 || f[0].ID != "rows/split" || f[0].Source.Extract.Column != "split" {
		t.Errorf("fields %+v, want the column alone", f)
	}
}
