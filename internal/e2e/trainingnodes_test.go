package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
)

// The command of the README, on three nodes with three replicas: the same bytes for any number of workers, and from snapshots of the nodes;
// of images that plain SELECTs find too.
func TestTrainingManifestOfThreeNodes(t *testing.T) {
	s := newEmptySite(t, sharedCluster(t), "training_nodes", fmt.Sprintf(simpleReplication, 3))
	session, err := s.cluster.Session("")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	// From two days before June on.
	start := imagegen.DayOf(time.Date(2025, 5, 30, 0, 0, 0, 0, time.UTC))
	set, err := imagegen.New(imagegen.Options{Images: trainingImages, Days: 6, Devices: 25, Start: start})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range imagegen.TableDDL(s.keyspace) {
		if err := session.Query(statement).WithContext(t.Context()).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := casstest.Load(t.Context(), session, set, casstest.LoadOptions{Keyspace: s.keyspace}); err != nil {
		t.Fatal(err)
	}
	accepted := s.selectAccepted(t, session)

	dir := scratch(t)
	files := s.fromSnapshots(t)
	chosen := []string{"--tags", "leaf_spot AND NOT blurry", "--from", "2025-06-01", "--status", "approved"}
	made := []string{"--limit", "100", "--balance", "device", "--split", "train=0.8,validation=0.1,test=0.1", "--group-by", "device"}
	export := func(from *site, name string, flags ...string) string {
		t.Helper()
		out := filepath.Join(dir, name)
		if o := from.command(slices.Concat([]string{"export", "--keyspace", s.keyspace, "--out", out}, chosen, flags)...).run(t); o.code != exitDone {
			t.Fatalf("%s", o)
		}
		return out
	}

	want := dataFiles(t, export(s, "one", slices.Concat(made, []string{"--workers", "1"})...))
	if len(want) != 3 {
		t.Fatalf("the files %v", slices.Sorted(maps.Keys(want)))
	}
	if !maps.Equal(dataFiles(t, export(s, "seven", slices.Concat(made, []string{"--workers", "7", "--splits", "29"})...)), want) {
		t.Error("seven workers write other bytes than one")
	}
	snapshot := export(files, "snapshot", made...)
	if !maps.Equal(dataFiles(t, snapshot), want) {
		t.Error("snapshots give other bytes than live nodes")
	}
	if m := readTrainingRecord(t, snapshot); m.Source.Replicas != "owned" || m.count("accepted") != int64(len(accepted)) {
		t.Errorf("of the snapshots was read %+v, %d images were accepted, want %d", m.Source, m.count("accepted"), len(accepted))
	}

	all := map[string]bool{}
	for _, row := range readLines(t, filepath.Join(export(s, "all", "--dedupe", "none", "--format", "jsonl"), "data")) {
		all[row["image_id"].(string)] = true
	}
	if !maps.Equal(all, accepted) {
		t.Errorf("%d images are accepted, by SELECTs %d", len(all), len(accepted))
	}
	hashes, splits, rows := map[string]bool{}, map[string]string{}, 0
	for _, row := range readLines(t, filepath.Join(export(s, "lines", slices.Concat(made, []string{"--format", "jsonl"})...), "data")) {
		rows++
		id, split := row["image_id"].(string), row["split"].(string)
		if hash, _ := row["content_hash"].(string); hash != "" && hashes[hash] {
			t.Errorf("%s is there twice", hash)
		} else {
			hashes[hash] = true
		}
		if !accepted[id] {
			t.Errorf("%s should not be there", id)
		}
		device, ok := row["device_id"].(string)
		if !ok {
			continue // of no device, and so in no other's group
		}
		if before, ok := splits[device]; ok && before != split {
			t.Errorf("device %s is in %s and %s", device, before, split)
		}
		splits[device] = split
	}
	if rows != 100 {
		t.Errorf("%d rows", rows)
	}
}

// selectAccepted computes from plain SELECTs which images the command's selection is to accept.
func (s *site) selectAccepted(t *testing.T, session *gocql.Session) map[string]bool {
	t.Helper()
	each := func(statement string, row func(iter *gocql.Iter) bool) {
		t.Helper()
		iter := session.Query(statement).Consistency(gocql.All).WithContext(t.Context()).Iter()
		for row(iter) {
		}
		if err := iter.Close(); err != nil {
			t.Fatal(err)
		}
	}
	june := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	leaf, blurry, described, approved := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	earlier := 0
	each("SELECT tag, day_bucket, image_id FROM "+s.full("tag_image_index"), func(iter *gocql.Iter) bool {
		var tag string
		var day time.Time
		var id gocql.UUID
		if !iter.Scan(&tag, &day, &id) {
			return false
		}
		switch {
		case day.Before(june):
			earlier++
		case tag == "leaf_spot":
			leaf[id.String()] = true
		case tag == "blurry":
			blurry[id.String()] = true
		}
		return true
	})
	each("SELECT image_id FROM "+s.full("image_metadata"), func(iter *gocql.Iter) bool {
		var id gocql.UUID
		ok := iter.Scan(&id)
		described[id.String()] = true
		return ok
	})
	each("SELECT image_id, status FROM "+s.full("image_review_status"), func(iter *gocql.Iter) bool {
		var id gocql.UUID
		var status string
		ok := iter.Scan(&id, &status)
		approved[id.String()] = status == "approved"
		return ok
	})
	accepted := map[string]bool{}
	for id := range leaf {
		if !blurry[id] && described[id] && approved[id] {
			accepted[id] = true
		}
	}
	if earlier == 0 || len(accepted) < 150 || len(accepted) == len(leaf) {
		t.Fatalf("%d of %d images accepted, %d rows of May: that tests little", len(accepted), len(leaf), earlier)
	}
	return accepted
}

// trainingRecord is what the test needs of a manifest.json.
type trainingRecord struct {
	Source struct {
		Replicas string
		Why      []string `json:"replicas_why"`
	}
	Counts []struct {
		Stage string
		Rows  int64
	}
}

func (r trainingRecord) count(stage string) int64 {
	for _, c := range r.Counts {
		if c.Stage == stage {
			return c.Rows
		}
	}
	return -1
}

func readTrainingRecord(t *testing.T, dir string) trainingRecord {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r trainingRecord
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}
