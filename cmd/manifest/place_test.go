package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"manifest/export"
	"manifest/internal/demodata"
	"manifest/internal/objectstore"
	"manifest/internal/s3client/s3test"
)

// tree gives the content of all files below a directory.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for _, path := range find(t, dir, "") {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st.IsDir() {
			continue
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		if found[filepath.ToSlash(name)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func namesOf(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

// left are the names of files that a command left in the work directory.
func left(t *testing.T, work string) []string {
	if _, err := os.Stat(work); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return namesOf(tree(t, work))
}

func TestExportToAnObjectStore(t *testing.T) {
	server := s3test.Start(t)
	data := writeSnapshot(t, "da/partitions")
	work := filepath.Join(t.TempDir(), "work")
	local := filepath.Join(t.TempDir(), "out")
	export := func(out string, more ...string) ran {
		return manifest(append([]string{"export", "--snapshot", data, "--table", "ks.partitions", "--shards", "3", "--out", out, "--work-dir", work, "--progress", "none"}, more...)...)
	}
	const place = "s3://" + s3test.Bucket + "/sets/leaf spot"
	if r := export(local); r.code != exitDone {
		t.Fatal(r)
	}
	if r := export(place); r.code != exitDone || !strings.Contains(r.out, "complete: "+place+"\n") {
		t.Fatal(r)
	}
	want, got := tree(t, local), tree(t, server.Path("sets/leaf spot"))
	if !slices.Equal(namesOf(got), namesOf(want)) {
		t.Fatalf("objects %q, want %q", namesOf(got), namesOf(want))
	}
	for name := range want {
		if strings.HasPrefix(name, "data/") && !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s differs from that of a directory", name)
		}
	}
	if l := left(t, work); len(l) > 0 {
		t.Errorf("left in the work directory: %q", l)
	}

	if r := manifest("verify", place, "--work-dir", work); r.code != exitDone || !strings.Contains(r.out, "whole: ") || !strings.Contains(r.out, place) {
		t.Error(r)
	}
	if r := export(place); r.code != exitUsage || !strings.Contains(describe(r.err), "--overwrite") {
		t.Error("again without --overwrite:", r)
	}
	if r := export("s3://"+s3test.Bucket+"/sets", "--overwrite"); r.code != exitUsage {
		t.Error("over something that is no dataset:", r)
	}
	if r := export(place, "--overwrite", "--shards", "1"); r.code != exitDone {
		t.Fatal(r)
	}
	if got := namesOf(tree(t, server.Path("sets/leaf spot"))); !slices.Equal(got, []string{"README.md", "SHA256SUMS", "_SUCCESS", "croissant.json", "data/part-00000-of-00001.parquet", "ledger.jsonl", "manifest.json"}) {
		t.Errorf("after --overwrite: %q", got)
	}

	// A byte that changes there is found.
	file := server.Path("sets/leaf spot/data/part-00000-of-00001.parquet")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := manifest("verify", place, "--work-dir", work); r.code != exitDifferences || !strings.Contains(r.out, "part-00000-of-00001") {
		t.Error("a flipped byte:", r)
	}
	if l := left(t, work); len(l) > 0 {
		t.Errorf("left in the work directory: %q", l)
	}
}

func TestAnExportWhoseUploadBreaksIsSentByResume(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	data := writeSnapshot(t, "da/partitions")
	work := filepath.Join(t.TempDir(), "work")
	arguments := []string{"export", "--snapshot", data, "--table", "ks.partitions", "--shards", "3", "--out", "s3://" + s3test.Bucket + "/x", "--work-dir", work, "--progress", "none"}
	var sent atomic.Int64
	proxy.Set(func(r *http.Request) s3test.Fate {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "00002-of-00003.parquet") {
			return s3test.Refuse
		}
		return s3test.Pass
	})
	r := manifest(arguments...)
	if r.code != exitIncomplete || !strings.Contains(r.err.Error(), "s3://"+s3test.Bucket+"/x/data/part-00002-of-00003.parquet") {
		t.Fatal(r)
	}
	_, run, _ := strings.Cut(describe(r.err), "--resume ")
	run, _, _ = strings.Cut(run, ":")
	if _, err := os.Stat(server.Path("x")); err == nil && len(tree(t, server.Path("x"))) > 0 {
		t.Errorf("objects of a failed run: %q", namesOf(tree(t, server.Path("x"))))
	}
	if r := manifest(append(slices.Clone(arguments), "--resume", run, "--columns", "pk")...); r.code != exitUsage {
		t.Error("resumed with another request:", r)
	}
	proxy.Set(func(r *http.Request) s3test.Fate {
		if r.Method == http.MethodPut && r.URL.Query().Has("partNumber") && strings.HasSuffix(r.URL.Path, ".parquet") {
			sent.Add(1)
		}
		return s3test.Pass
	})
	if err := os.RemoveAll(data); err != nil { // nothing is read again
		t.Fatal(err)
	}
	for i, id := range []string{"auto", run} {
		r = manifest(append(slices.Clone(arguments), "--resume", id, "--json")...)
		if i == 1 {
			if r.code == exitDone {
				t.Error("a run that is done was resumed")
			}
			break
		}
		if r.code != exitDone {
			t.Fatal(r)
		}
		var result exportResult
		if err := json.Unmarshal([]byte(r.out), &result); err != nil || result.Run != run || result.Files != 3 || result.Rows != 331 || result.Read != 331 || !result.Complete {
			t.Errorf("result %+v, %v", result, err)
		}
		if sent.Load() != 1 {
			t.Errorf("%d data files were sent again, want the one that failed", sent.Load())
		}
		if r := manifest("verify", "s3://"+s3test.Bucket+"/x", "--work-dir", work); r.code != exitDone {
			t.Error(r)
		}
	}
}

// A training manifest is sent as a table is, with all that stands beside its data.
func TestATrainingManifestInAnObjectStore(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	snapshots := filepath.Join(t.TempDir(), "snapshots")
	if err := demodata.Unpack(snapshots); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(t.TempDir(), "work")
	const place = "s3://" + s3test.Bucket + "/sets/leaf"
	run := func(out string, more ...string) ran {
		return manifest(append([]string{"export", "--snapshot", snapshots, "--keyspace", demodata.Keyspace, "--now", demodata.Now.Format(time.RFC3339), "--progress", "none",
			"--tags", "leaf_spot", "--split", "train=0.6,test=0.4", "--group-by", "device", "--status", "any", "--with", "card,croissant,uids,coco", "--out", out, "--work-dir", work}, more...)...)
	}
	local := filepath.Join(t.TempDir(), "leaf")
	if r := run(local); r.code != exitDone {
		t.Fatal(r)
	}
	proxy.Set(func(r *http.Request) s3test.Fate {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "uids.npy") {
			return s3test.Refuse
		}
		return s3test.Pass
	})
	if r := run(place); r.code != exitIncomplete || !strings.Contains(r.err.Error(), place+"/index/uids.npy") {
		t.Fatal(r)
	}
	proxy.Set(nil)
	r := run(place, "--resume", "auto", "--json")
	var result exportResult
	if err := json.Unmarshal([]byte(r.out), &result); r.code != exitDone || err != nil || result.Out != place || len(result.Splits) != 2 {
		t.Fatal(r, err)
	}
	want, got := tree(t, local), tree(t, server.Path("sets/leaf"))
	if !slices.Equal(namesOf(got), namesOf(want)) {
		t.Fatalf("objects %q, want %q", namesOf(got), namesOf(want))
	}
	for name := range want {
		if (strings.HasPrefix(name, "data/") || strings.HasPrefix(name, "index/")) && !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s differs from that of a directory", name)
		}
	}
	if r := manifest("verify", place, "--work-dir", work); r.code != exitDone {
		t.Error(r)
	}
	if l := left(t, work); len(l) > 0 {
		t.Errorf("left in the work directory: %q", l)
	}
}

func TestStatisticsInAnObjectStore(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	data := writeSnapshot(t, "da/partitions")
	work := filepath.Join(t.TempDir(), "work")
	const place = "s3://" + s3test.Bucket + "/stats"
	stats := func(name string, more ...string) ran {
		return manifest(append([]string{"stats", "--snapshot", data, "--table", "ks.partitions", "--by", "pk", "--name", name, "--out", place, "--work-dir", work, "--progress", "none"}, more...)...)
	}
	for _, name := range []string{"one", "two", "one"} {
		if r := stats(name); r.code != exitDone || !strings.Contains(r.out, "complete: "+place) {
			t.Fatal(r)
		}
	}
	got := tree(t, server.Path("stats"))
	var parts []string
	for name := range got {
		if folder, _, ok := strings.Cut(name, "/part-"); ok {
			parts = append(parts, folder)
		}
	}
	slices.Sort(parts)
	if want := []string{"one", "two"}; !slices.Equal(parts, want) { // that of the first run is replaced
		t.Errorf("files %q, want one each of %q", namesOf(got), want)
	}
	for _, view := range []string{"VIEW one ", "VIEW two "} {
		if !bytes.Contains(got[export.ViewsFile], []byte(view)) {
			t.Errorf("no %sin the views", view)
		}
	}
	if r := manifest("verify", place, "--work-dir", work); r.code != exitDone {
		t.Error(r)
	}
	if l := left(t, work); len(l) > 0 {
		t.Errorf("left in the work directory: %q", l)
	}

	// A run that can't be sent changes nothing, and is sent later.
	proxy.Set(func(r *http.Request) s3test.Fate {
		if r.Method == http.MethodPut && r.URL.Query().Has("partNumber") {
			return s3test.Refuse
		}
		return s3test.Pass
	})
	r := stats("two")
	if r.code != exitIncomplete || !strings.Contains(describe(r.err), "--resume") {
		t.Fatal(r)
	}
	if after := tree(t, server.Path("stats")); !maps.EqualFunc(after, got, bytes.Equal) {
		t.Errorf("a failed run changed %q to %q", namesOf(got), namesOf(after))
	}
	proxy.Set(nil)
	if r := stats("two", "--resume", "auto"); r.code != exitDone {
		t.Fatal(r)
	}
	after := tree(t, server.Path("stats"))
	if len(after) != len(got) || slices.Equal(namesOf(after), namesOf(got)) {
		t.Errorf("files %q, want those of before with another of two: %q", namesOf(after), namesOf(got))
	}
	if r := manifest("verify", place, "--work-dir", work); r.code != exitDone {
		t.Error(r)
	}
	if l := left(t, work); len(l) > 0 {
		t.Errorf("left in the work directory: %q", l)
	}
}

func TestWhatIsIncompleteIsKeptApartInAnObjectStore(t *testing.T) {
	server := s3test.Start(t)
	data := writeSnapshot(t, "oa/partitions")
	work := filepath.Join(t.TempDir(), "work")
	damaged := find(t, data, "oa-1-big-Data.db")[0]
	if err := os.Truncate(damaged, 100); err != nil {
		t.Fatal(err)
	}
	const place = "s3://" + s3test.Bucket + "/x"
	for range 2 { // the second replaces what the first kept
		for _, command := range []string{"export", "stats"} {
			r := manifest(command, "--snapshot", data, "--table", "ks.partitions", "--out", place+"/"+command, "--work-dir", work, "--progress", "none", "--log-level", "error", "--on-corrupt", "skip")
			if r.code != exitIncomplete || !strings.Contains(r.out, "INCOMPLETE: "+place+"/"+command+".INCOMPLETE\n") {
				t.Fatal(command, r)
			}
			if _, err := os.Stat(server.Path("x/" + command)); err == nil {
				t.Errorf("%s: there is something under the name that was asked for", command)
			}
		}
	}
	kept := tree(t, server.Path("x/export.INCOMPLETE"))
	if want := []string{"INCOMPLETE", "SHA256SUMS", "data/INCOMPLETE-part-00000-of-00001.parquet", "ledger.jsonl", "manifest.json"}; !slices.Equal(namesOf(kept), want) {
		t.Errorf("kept %q, want %q", namesOf(kept), want)
	}
	if files := tree(t, server.Path("x/stats.INCOMPLETE")); len(files) != 4 { // one statistic, its view, ledger and record
		t.Errorf("kept of statistics %q", namesOf(files))
	}
	if l := left(t, work); len(l) > 0 {
		t.Errorf("left in the work directory: %q", l)
	}
}

func TestFaultsOfObjectStores(t *testing.T) {
	s3test.Start(t)
	data := writeSnapshot(t, "da/partitions")
	work := filepath.Join(t.TempDir(), "work")
	for _, c := range []struct {
		out  string
		env  map[string]string
		code int
		want string
	}{
		{"s3://images", nil, exitUsage, "whole bucket"},
		{"s3://other-bucket/x", nil, exitFault, "s3://other-bucket"},
		{"s3://images/x", map[string]string{"AWS_SECRET_ACCESS_KEY": "wrong-and-secret"}, exitNoAccess, "AWS_PROFILE"},
		{"s3://images/x", map[string]string{"AWS_ENDPOINT_URL": "ftp://x"}, exitUsage, "endpoint"},
	} {
		for name, value := range c.env {
			t.Setenv(name, value)
		}
		for _, command := range []string{"export", "stats"} {
			r := manifest(command, "--snapshot", data, "--table", "ks.partitions", "--out", c.out, "--work-dir", work, "--progress", "none")
			if r.code != c.code || !strings.Contains(describe(r.err), c.want) || strings.Contains(describe(r.err), "wrong-and-secret") {
				t.Errorf("%s to %s: exit code %d, %s; want %d with %q", command, c.out, r.code, describe(r.err), c.code, c.want)
			}
		}
	}
	if l := left(t, work); len(l) > 0 {
		t.Errorf("left in the work directory: %q", l)
	}
}

func TestPrefixesHaveDirectoriesOfTheirOwn(t *testing.T) {
	seen := map[string]string{}
	long := strings.Repeat("x", 200)
	for _, prefix := range []string{"a", "a/b", "a%2Fb", ".a", "..", long, long + "y", "ä"} {
		name := fileName(prefix)
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q have both %q", prefix, other, name)
		}
		seen[name] = prefix
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") || len(name) > 200 {
			t.Errorf("%q has the name %q", prefix, name)
		}
	}
	if !objectstore.IsLocation("s3://a/b") || objectstore.IsLocation("s3/a/b") {
		t.Error("places are told apart wrongly")
	}
}
