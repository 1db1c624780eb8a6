package objectstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"manifest/internal/objectstore"
	"manifest/internal/objectstore/s3"
	"manifest/internal/s3client/s3test"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const partSize = 5 << 20

// open gives a tree of the server that the environment names. Requests are made
// once, so that a test decides what fails.
func open(t *testing.T, prefix string) *objectstore.Tree {
	t.Helper()
	return openWith(t, prefix, 1, objectstore.Options{PartSize: partSize})
}

func openWith(t *testing.T, prefix string, attempts int, opts objectstore.Options) *objectstore.Tree {
	t.Helper()
	bucket, err := s3.Open(s3test.Bucket, s3.Options{Attempts: attempts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bucket.Close)
	tree, err := objectstore.NewTree(bucket, prefix, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// files writes files, with names below a new directory.
func files(t *testing.T, content map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// stored reads all that readers see below a prefix, with a client that shares
// nothing with the tree: the files of the server.
func stored(t *testing.T, server *s3test.Server, prefix string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	root := server.Path(prefix)
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantStored(t *testing.T, server *s3test.Server, prefix string, want map[string][]byte) {
	t.Helper()
	got := stored(t, server, prefix)
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
		t.Fatalf("objects are %q, want %q", names, slices.Sorted(maps.Keys(want)))
	}
	for name, data := range want {
		if !bytes.Equal(got[name], data) {
			t.Errorf("%s has %d other bytes than was sent", name, len(got[name]))
		}
	}
}

// noise gives bytes that differ everywhere.
func noise(n int, seed uint64) []byte {
	var key [32]byte
	key[0] = byte(seed)
	data := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(data)
	return data
}

// dataset is a change as that of a dataset: of one file of three parts and a small one.
func dataset(t *testing.T, seed uint64) (objectstore.Change, map[string][]byte) {
	content := map[string][]byte{
		"data/part-0": noise(2*partSize+17, seed), "data/ä ö+&=?.csv": noise(100, seed+1),
		"manifest.json": noise(50, seed+2), "_SUCCESS": {},
	}
	return objectstore.Change{
		Dir: files(t, content), Files: []string{"data/part-0", "data/ä ö+&=?.csv"}, Last: []string{"manifest.json", "_SUCCESS"},
	}, content
}

func TestAChangeIsPublishedAndReadBack(t *testing.T) {
	server := s3test.Start(t)
	tree := open(t, "a/b")
	change, content := dataset(t, 1)
	if err := tree.Publish(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	wantStored(t, server, "a/b", content)

	dir := t.TempDir()
	if err := tree.Download(t.Context(), dir, func(name string) bool { return name != "manifest.json" }); err != nil {
		t.Fatal(err)
	}
	for name, want := range content {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if name == "manifest.json" {
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s came unasked: %v", name, err)
			}
		} else if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes came, %v, want %d", name, len(got), err, len(want))
		}
	}

	// The next change replaces all of it.
	next := files(t, map[string][]byte{"data/other": noise(10, 9), "_SUCCESS": {}})
	err := tree.Publish(t.Context(), objectstore.Change{Dir: next, Files: []string{"data/other"}, Last: []string{"_SUCCESS"},
		Marks: []string{"_SUCCESS", "manifest.json"}, Remove: []string{"data/part-0", "data/ä ö+&=?.csv"}})
	if err != nil {
		t.Fatal(err)
	}
	wantStored(t, server, "a/b", map[string][]byte{"data/other": noise(10, 9), "_SUCCESS": {}})
}

// isPart tells the sending of a part.
func isPart(r *http.Request) bool {
	return r.Method == http.MethodPut && r.URL.Query().Has("partNumber")
}

// isComplete tells the completion of an upload.
func isComplete(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

func TestAnUploadCutInTheMiddleShowsNothingAndIsTakenUp(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	tree := openWith(t, "p", 1, objectstore.Options{PartSize: partSize, Parallelism: 1}) // part after part
	change, content := dataset(t, 3)
	proxy.Set(func(r *http.Request) s3test.Fate {
		if isPart(r) && r.URL.Query().Get("partNumber") == "3" {
			return s3test.Cut
		}
		return s3test.Pass
	})
	err := tree.Publish(t.Context(), change)
	if err == nil || !strings.Contains(err.Error(), "s3://"+s3test.Bucket+"/p/data/part-0") {
		t.Fatalf("error %v, want one that names the object", err)
	}
	wantStored(t, server, "p", nil)

	var sent atomic.Int64
	proxy.Set(func(r *http.Request) s3test.Fate {
		if isPart(r) && strings.HasSuffix(r.URL.Path, "part-0") {
			sent.Add(1)
		}
		return s3test.Pass
	})
	if err := tree.Publish(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	wantStored(t, server, "p", content)
	if n := sent.Load(); n != 1 {
		t.Errorf("%d parts of 3 were sent again, want the one that was cut", n)
	}
	if left, err := os.ReadDir(server.Path(".sgwtmp/multipart")); err == nil && len(left) > 0 {
		t.Errorf("%d uploads are left", len(left))
	}
}

func TestPartsOfOtherBytesAreSentAgain(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	tree := open(t, "p")
	proxy.Set(func(r *http.Request) s3test.Fate {
		if isPart(r) && r.URL.Query().Get("partNumber") == "3" {
			return s3test.Cut
		}
		return s3test.Pass
	})
	before, _ := dataset(t, 3)
	if err := tree.Publish(t.Context(), before); err == nil {
		t.Fatal("a cut upload succeeded")
	}
	proxy.Set(nil)
	change, content := dataset(t, 5)
	if err := tree.Publish(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	wantStored(t, server, "p", content)
}

func TestFaultsThatPassAreWaitedFor(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	tree := openWith(t, "p", 3, objectstore.Options{PartSize: partSize})
	change, content := dataset(t, 7)
	var mutex sync.Mutex
	seen := map[string]bool{}
	proxy.Set(func(r *http.Request) s3test.Fate {
		mutex.Lock()
		defer mutex.Unlock()
		request := r.Method + r.URL.String()
		if seen[request] || r.Method == http.MethodGet {
			return s3test.Pass
		}
		seen[request] = true // every first attempt meets a fault, in turn each of its own kind
		switch {
		case isComplete(r):
			return s3test.LoseReply
		case isPart(r) && len(seen)%2 == 0:
			return s3test.Cut
		}
		return s3test.Busy
	})
	if err := tree.Publish(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	// 2 uploads begun and completed, 4 parts, journal, two last files; looks at 2 objects; the journal's removal.
	if len(seen) != 14 {
		t.Errorf("%d requests met a fault, want 14", len(seen))
	}
	wantStored(t, server, "p", content)
}

func TestACommitThatFailsWhereNothingWasLeavesNothing(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	tree := open(t, "p")
	change, content := dataset(t, 11)
	proxy.Set(func(r *http.Request) s3test.Fate {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "_SUCCESS") {
			return s3test.Busy
		}
		return s3test.Pass
	})
	if err := tree.Publish(t.Context(), change); err == nil || !strings.Contains(err.Error(), "p/_SUCCESS") {
		t.Fatalf("error %v, want one of _SUCCESS", err)
	}
	wantStored(t, server, "p", nil)
	proxy.Set(nil)
	if err := tree.Publish(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	wantStored(t, server, "p", content)
}

// A change of a tree that had something is carried out by the next process, at
// whatever request the first one ended.
func TestABrokenChangeIsCarriedOutByTheNext(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	old, oldContent := dataset(t, 20)
	for failing := 0; ; failing++ {
		prefix := "p" + string(rune('a'+failing))
		proxy.Set(nil)
		tree := open(t, prefix)
		if err := tree.Publish(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		change, content := dataset(t, 30)
		change.Files = slices.DeleteFunc(change.Files, func(name string) bool { return strings.HasSuffix(name, ".csv") })
		change.Marks = []string{"_SUCCESS", "manifest.json"}
		change.Remove = []string{"data/ä ö+&=?.csv"}
		delete(content, "data/ä ö+&=?.csv")
		journal, requests := false, 0
		proxy.Set(func(r *http.Request) s3test.Fate {
			if !journal {
				journal = r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, objectstore.JournalFile)
				return s3test.Pass
			}
			if requests++; requests > failing {
				return s3test.Busy
			}
			return s3test.Pass
		})
		ctx, cancel := context.WithCancel(t.Context())
		err := tree.Publish(ctx, change)
		cancel()
		proxy.Set(nil)
		seen := stored(t, server, prefix)
		_, marked := seen["_SUCCESS"]
		_, pending := seen[objectstore.JournalFile]
		if marked && pending && !bytes.Equal(seen["data/part-0"], content["data/part-0"]) && failing > 0 {
			t.Errorf("after %d requests _SUCCESS stands beside what is half replaced", failing)
		}
		if failing == 0 && !bytes.Equal(seen["data/part-0"], oldContent["data/part-0"]) {
			t.Error("data was replaced before its mark was removed")
		}
		found, recovered := open(t, prefix).Recover(t.Context())
		if recovered != nil || found != pending {
			t.Fatalf("recover after %d requests: %v, %v, want %v", failing, found, recovered, pending)
		}
		wantStored(t, server, prefix, content)
		if err == nil {
			if failing < 7 {
				t.Errorf("a change has only %d requests", failing)
			}
			return
		}
	}
}

func TestAnUploadThatIsGoneIsGivenUp(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	tree := open(t, "p")
	first := files(t, map[string][]byte{"data/x": noise(10, 1), "_SUCCESS": {}})
	if err := tree.Publish(t.Context(), objectstore.Change{Dir: first, Files: []string{"data/x"}, Last: []string{"_SUCCESS"}}); err != nil {
		t.Fatal(err)
	}
	change, content := dataset(t, 40)
	change.Marks = []string{"_SUCCESS"}
	proxy.Set(func(r *http.Request) s3test.Fate {
		if isComplete(r) {
			return s3test.Busy
		}
		return s3test.Pass
	})
	if err := tree.Publish(t.Context(), change); err == nil {
		t.Fatal("published without completing")
	}
	proxy.Set(nil)
	bucket, err := s3.Open(s3test.Bucket, s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	uploads, err := bucket.Uploads(t.Context(), "p/")
	if err != nil || len(uploads) != 2 {
		t.Fatalf("%d uploads, %v, want 2", len(uploads), err)
	}
	for _, u := range uploads { // as a rule of the bucket does after some days
		if err := bucket.Abort(t.Context(), u.Key, u.ID); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := tree.Recover(t.Context()); err != nil || !found {
		t.Fatalf("recover: %v, %v", found, err)
	}
	wantStored(t, server, "p", map[string][]byte{"data/x": noise(10, 1)})
	if err := tree.Publish(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	content["data/x"] = noise(10, 1)
	wantStored(t, server, "p", content)
}

// silent is a store that takes every part, and keeps something else.
type silent struct{ objectstore.Store }

func (s silent) UploadPart(ctx context.Context, key, id string, part objectstore.Part, body io.ReadSeeker) (objectstore.Part, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return part, err
	}
	data[len(data)/2] ^= 1
	sent := part
	sent.SHA256 = noise(32, 1)
	if sent, err = s.Store.UploadPart(ctx, key, id, sent, bytes.NewReader(data)); err != nil {
		return part, err
	}
	return sent, nil
}

func TestAServerRefusesBytesThatHaveChanged(t *testing.T) {
	server := s3test.Start(t)
	bucket, err := s3.Open(s3test.Bucket, s3.Options{Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	tree, err := objectstore.NewTree(silent{bucket}, "p", objectstore.Options{PartSize: partSize})
	if err != nil {
		t.Fatal(err)
	}
	change, _ := dataset(t, 50)
	if err := tree.Publish(t.Context(), change); err == nil || !strings.Contains(err.Error(), "p/data/part-0") {
		t.Errorf("error %v, want one of the object", err)
	}
	wantStored(t, server, "p", nil)
}

func TestWhoMayNotIsToldSoWithoutTheKey(t *testing.T) {
	s3test.Start(t)
	const secret = "a-secret-that-is-wrong-0123456789"
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	_, err := open(t, "p").List(t.Context())
	if !errors.Is(err, objectstore.ErrAccess) || strings.Contains(err.Error(), secret) {
		t.Errorf("error %v, want ErrAccess without the key", err)
	}
}

func TestAServerThatIsNotThereIsTold(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	proxy.Set(func(*http.Request) s3test.Fate { return s3test.Cut })
	if err := open(t, "p").Probe(t.Context()); !errors.Is(err, objectstore.ErrUnreachable) {
		t.Errorf("error %v, want ErrUnreachable", err)
	}
	proxy.Set(nil)
	if err := open(t, "p").Probe(t.Context()); err != nil {
		t.Error(err)
	}
	wantStored(t, server, "p", nil) // a probe leaves nothing
}
