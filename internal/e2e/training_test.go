package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
)

// trainingImages are those of the training manifests.
const trainingImages = 3000

// knownImage is an image as the tables have it, by the rows that were loaded.
type knownImage struct {
	hash, status       string
	hasHash, hasStatus bool
	hasMetadata        bool
	capture            int64
	day                imagegen.Day
	tags               []string
	width              int32
}

// knownImages reads the set that is loaded.
func knownImages(t *testing.T, set *imagegen.Set) map[string]*knownImage {
	t.Helper()
	images := map[string]*knownImage{}
	at := func(id imagegen.ID) *knownImage {
		if images[id.String()] == nil {
			images[id.String()] = &knownImage{}
		}
		return images[id.String()]
	}
	for r := range set.TagImages() {
		im := at(r.ImageID)
		im.tags, im.day, im.capture = append(im.tags, r.Tag), r.Day, r.CaptureTime.UnixMilli()
	}
	for r := range set.Metadata() {
		im := at(r.ImageID)
		im.hasMetadata = true
		if r.ContentHash != nil {
			im.hash, im.hasHash = *r.ContentHash, true
		}
		if r.Width != nil {
			im.width = *r.Width
		}
	}
	for r := range set.Reviews() {
		if r.Status != nil {
			at(r.ImageID).status, at(r.ImageID).hasStatus = *r.Status, true
		}
	}
	return images
}

// dataFiles reads the files below data/.
func dataFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "data", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(data)
	}
	return files
}

// readLines reads the objects of all JSON lines below a directory.
func readLines(t *testing.T, dir string) []map[string]any {
	t.Helper()
	var rows []map[string]any
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
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
			if err := json.Unmarshal(s.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// One command makes the manifest of the loaded rows, whatever the access path, the splits and the workers; and what verify, diff and
// explain say of it is so.
func TestTrainingManifest(t *testing.T) {
	s, session := newImageSite(t, casstest.Shared(t, casstest.Options{Nodes: 1}), "training", trainingImages)
	set, err := imagegen.New(imagegen.Options{Images: trainingImages, Days: 6, Devices: 25})
	if err != nil {
		t.Fatal(err)
	}
	dir := scratch(t)
	request := []string{
		"--keyspace", s.keyspace, "--tags", "(leaf_spot OR rust) AND NOT blurry", "--from", "2025-05-02", "--to", "2025-05-05",
		"--status", "approved,none", "--where", "width >= 640", "--split", "train=0.6,validation=0.2,test=0.2", "--group-by", "device",
	}
	export := func(t *testing.T, name string, more ...string) string {
		t.Helper()
		out := filepath.Join(dir, name)
		run := s.command(slices.Concat([]string{"export", "--out", out}, request, more)...)
		if slices.Contains(more, "--snapshot") {
			run = invocation{args: slices.Concat([]string{"export", "--out", out}, request, more)}
		}
		if o := run.run(t); o.code != exitDone {
			t.Fatalf("%s", o)
		}
		return out
	}

	t.Run("rows", func(t *testing.T) {
		s.checkTrainingRows(t, knownImages(t, set), export(t, "rows", "--format", "jsonl"))
	})
	t.Run("bytes", func(t *testing.T) {
		want := dataFiles(t, export(t, "list"))
		if len(want) < 3 {
			t.Fatalf("only the files %v", slices.Sorted(maps.Keys(want)))
		}
		for name, flags := range map[string][]string{
			"full":     {"--access-path", "full-scan", "--splits", "7", "--workers", "1"},
			"distinct": {"--access-path", "distinct-then-read", "--page-size", "17"},
			"spilled":  {"--access-path", "full-scan", "--splits", "40", "--memory", "1MiB"},
			"snapshot": s.snapshotFlags(t),
		} {
			if got := dataFiles(t, export(t, name, flags...)); !maps.Equal(got, want) {
				t.Errorf("%s: other bytes than a partition list", name)
			}
		}
	})
	t.Run("random", func(t *testing.T) { s.checkRandomTraining(t, dir) })
	t.Run("resumed", func(t *testing.T) {
		parent := scratch(t)
		out := filepath.Join(parent, "out")
		args := slices.Concat([]string{"export", "--out", out}, request, []string{"--access-path", "full-scan"})
		run := s.launch(t, slices.Concat(args, []string{"--splits", "20", "--workers", "2", "--page-size", "1", "--progress", "none"})...)
		waitFor(t, "a commit in the ledger", func() bool {
			select {
			case <-run.ended:
				t.Fatalf("ended too early: %s", run.outcome())
			default:
			}
			return ledgerLines(t, parent) > 10
		})
		s.checkInterrupted(t, run, os.Interrupt, out)
		if o := s.command(slices.Concat(args, []string{"--resume", "auto"})...).run(t); o.code != exitDone {
			t.Fatalf("the run does not go on: %s", o)
		}
		if !maps.Equal(dataFiles(t, out), dataFiles(t, export(t, "at-once"))) {
			t.Error("other bytes than at once")
		}
		if left := list(t, parent); len(left) != 1 {
			t.Errorf("beside the dataset is left: %q", left)
		}
	})
	t.Run("verify", func(t *testing.T) { s.checkVerifiedTraining(t, export(t, "verified"), dir) })
	t.Run("revoked", func(t *testing.T) { s.checkRevoked(t, session, export(t, "old", "--format", "jsonl"), export) })
}

// snapshotFlags take a snapshot of all nodes, and read it in place of the cluster.
func (s *site) snapshotFlags(t *testing.T) []string {
	t.Helper()
	var flags []string
	tag := fmt.Sprint("training", time.Now().UnixNano()) // an earlier test's tables may still lie there
	for node := range s.cluster.Hosts() {
		if out, err := s.cluster.NodeTool(t.Context(), node, "snapshot", "-t", tag, s.keyspace); err != nil {
			t.Fatalf("snapshot: %v: %s", err, out)
		}
		dir, err := s.cluster.DataDir(node)
		if err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--snapshot", dir)
	}
	return append(flags, "--snapshot-tag", tag)
}

// checkVerifiedTraining verifies a manifest, and what is done to it.
func (s *site) checkVerifiedTraining(t *testing.T, out, scratch string) {
	verify := func(dir string) outcome { return invocation{args: []string{"verify", dir}}.run(t) }
	if o := verify(out); o.code != exitDone || !strings.Contains(o.stdout, "whole") {
		t.Fatalf("%s", o)
	}
	shard := filepath.Join("data", "train-00000-of-00001.parquet")
	for name, do := range map[string]func(dir string) error{
		"flipped byte": func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, shard))
			if err != nil {
				return err
			}
			data[len(data)/2] ^= 1
			return os.WriteFile(filepath.Join(dir, shard), data, 0o666)
		},
		"lost shard": func(dir string) error { return os.Remove(filepath.Join(dir, shard)) },
		"wrong count": func(dir string) error {
			path := filepath.Join(dir, "manifest.json")
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var m map[string]any
			if err := json.Unmarshal(data, &m); err != nil {
				return err
			}
			split := m["training"].(map[string]any)["splits"].([]any)[0].(map[string]any)
			split["rows"] = split["rows"].(float64) + 1
			if data, err = json.Marshal(m); err != nil {
				return err
			}
			return os.WriteFile(path, data, 0o666)
		},
		"lost ledger": func(dir string) error { return os.Remove(filepath.Join(dir, "ledger-image_metadata.jsonl")) },
	} {
		dir := filepath.Join(scratch, strings.ReplaceAll(name, " ", "-"))
		if err := os.CopyFS(dir, os.DirFS(out)); err != nil {
			t.Fatal(err)
		}
		if err := do(dir); err != nil {
			t.Fatal(err)
		}
		if o := verify(dir); o.code != exitDifferences {
			t.Errorf("%s: %s", name, o)
		}
	}
}

// checkRevoked rejects an image of a manifest, and adds older content: images keep their splits by --pin-from.
func (s *site) checkRevoked(t *testing.T, session *gocql.Session, old string, export func(*testing.T, string, ...string) string) {
	split := map[string]string{}
	for _, row := range readLines(t, filepath.Join(old, "data")) {
		split[row["image_id"].(string)] = row["split"].(string)
	}
	revoked := slices.Sorted(maps.Keys(split))[0]
	if o := s.command("verify", old, "--revoked", "--keyspace", s.keyspace).run(t); o.code != exitDone {
		t.Errorf("nothing is revoked yet: %s", o)
	}
	statement := fmt.Sprintf("INSERT INTO %s (image_id, status) VALUES (%s, 'rejected')", s.full("image_review_status"), revoked)
	if err := session.Query(statement).WithContext(t.Context()).Exec(); err != nil {
		t.Fatal(err)
	}
	if o := s.command("verify", old, "--revoked", "--keyspace", s.keyspace).run(t); o.code != exitDifferences || !strings.Contains(o.stdout, revoked+" "+split[revoked]+" rejected") {
		t.Errorf("%s is revoked: %s", revoked, o)
	}
	pinned := export(t, "pinned", "--format", "jsonl", "--salt", "another", "--pin-from", old)
	o := invocation{args: []string{"diff", old, pinned, "--exit-code"}}.run(t)
	if o.code != exitDifferences || !strings.Contains(o.stdout, "- "+revoked+" "+split[revoked]+"\n") || !strings.Contains(o.stdout, " 0 moved to another split") {
		t.Errorf("%s is gone, and none has moved: %s", revoked, o)
	}
	if o := (invocation{args: []string{"explain", pinned, revoked}}).run(t); o.code != exitDone || !strings.Contains(o.stdout, "status_rejected") {
		t.Errorf("%s was rejected: %s", revoked, o)
	}
	moved := invocation{args: []string{"diff", old, export(t, "salted", "--format", "jsonl", "--salt", "another"), "--counts"}}.run(t)
	if moved.code != exitDone || strings.Contains(moved.stdout, " 0 moved to another split") {
		t.Errorf("without pins another salt moves images: %s", moved)
	}
}

// checkTrainingRows compares with the rows that were loaded.
func (s *site) checkTrainingRows(t *testing.T, images map[string]*knownImage, out string) {
	has := func(im *knownImage, tag string) bool { return slices.Contains(im.tags, tag) }
	first, last := imagegen.Day(20210), imagegen.Day(20213)
	kept, rejected := map[string]*knownImage{}, map[string]string{}
	owner := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(images)) {
		im := images[name]
		if im.day < first || im.day > last || !has(im, "leaf_spot") && !has(im, "rust") || has(im, "blurry") {
			continue
		}
		switch {
		case !im.hasMetadata:
			rejected[name] = "no_metadata"
			continue
		case im.width < 640:
			continue
		case im.hasStatus && im.status != "approved":
			rejected[name] = "status_" + im.status
			continue
		}
		kept[name] = im
		if im.hash != "" {
			o, ok := owner[im.hash]
			if !ok || im.capture < images[o].capture { // names ascend
				owner[im.hash] = name
			}
		}
	}
	for name, im := range kept {
		if im.hash != "" && owner[im.hash] != name {
			rejected[name] = "duplicate"
			delete(kept, name)
		}
	}
	if len(kept) < 50 || len(rejected) < 10 {
		t.Fatalf("%d kept and %d rejected test little", len(kept), len(rejected))
	}
	for _, row := range readLines(t, filepath.Join(out, "data")) {
		name := row["image_id"].(string)
		im, ok := kept[name]
		if !ok {
			t.Errorf("%s should not be there", name)
			continue
		}
		delete(kept, name)
		hash, _ := row["content_hash"].(string)
		if hash != im.hash || (row["content_hash"] == nil) == im.hasHash || row["width"] != float64(im.width) {
			t.Errorf("%s has the hash %v and the width %v, want %q and %d", name, row["content_hash"], row["width"], im.hash, im.width)
		}
		if status, _ := row["review_status"].(string); status != im.status {
			t.Errorf("%s has the status %q, want %q", name, status, im.status)
		}
	}
	if len(kept) > 0 {
		t.Errorf("missing: %v", slices.Sorted(maps.Keys(kept)))
	}
	for _, row := range readLines(t, filepath.Join(out, "rejects")) {
		name := row["image_id"].(string)
		if reason := row["reason"]; rejected[name] != reason {
			t.Errorf("%s is rejected as %v, want %s", name, reason, rejected[name])
		}
		delete(rejected, name)
	}
	if len(rejected) > 0 {
		t.Errorf("not rejected: %v", rejected)
	}
	if t.Failed() {
		data, _ := os.ReadFile(filepath.Join(out, "manifest.json"))
		fmt.Println(strings.TrimSpace(string(data)))
	}
}

// checkRandomTraining draws requests: every access path that they allow, and a snapshot, give the same bytes.
func (s *site) checkRandomTraining(t *testing.T, scratch string) {
	d := newDraws(t)
	snapshot := s.snapshotFlags(t)
	images := 0
	for i := range 4 {
		var request []string
		add := func(flag string, values ...string) {
			if v := pick(d, values...); v != "" {
				request = append(request, "--"+flag, v)
			}
		}
		add("tags", "leaf_spot", "leaf_* AND NOT blurry", "NOT blurry", "(rust OR blurry) AND NOT 'one, two; three'", "")
		add("from", "2025-05-02", "")
		add("to", "2025-05-04", "")
		add("device", "CAM-0012", "CAM-*", "", "")
		add("where", "width >= 640", "attributes['weather'] != 'x' OR width > 10", "")
		add("status", "approved", "any", "pending,none", "")
		add("dedupe", "none", "")
		add("split", "train=0.7,test=0.3", "")
		add("group-by", "device", "device,day", "content_hash", "")
		add("max-per", "device=9", "day=40", "")
		add("fraction", "60%", "", "")
		add("order", "time", "")
		add("salt", "x", "")
		if d.IntN(2) == 0 {
			request = append(request, "--limit", "100", "--balance", pick(d, "device", "tag,day"))
		}
		var want map[string]string
		for j, path := range []string{"auto", "full-scan", "distinct-then-read", "partition-list", "snapshot"} {
			out := filepath.Join(scratch, fmt.Sprintf("random-%d-%d", i, j))
			args := slices.Concat([]string{"export", "--out", out, "--keyspace", s.keyspace}, request)
			run := invocation{args: slices.Concat(args, snapshot)}
			if path != "snapshot" {
				run = s.command(slices.Concat(args, []string{"--access-path", path, "--splits", fmt.Sprint(d.between(1, 30)), "--workers", fmt.Sprint(d.between(1, 9))})...)
			}
			o := run.run(t)
			if o.code == exitUsage && (path == "partition-list" || path == "distinct-then-read") {
				continue // the request leaves no such path
			}
			if o.code != exitDone {
				t.Fatalf("%s", o)
			}
			got := dataFiles(t, out)
			if want == nil {
				want = got
				images += len(got)
			} else if !maps.Equal(got, want) {
				t.Errorf("%s: other bytes than by the path that was chosen: %s", path, o)
			}
			if j == 0 {
				if o := (invocation{args: []string{"verify", out}}).run(t); o.code != exitDone {
					t.Errorf("%s", o)
				}
			}
		}
	}
	if images == 0 {
		t.Error("no request has found anything")
	}
}
