package s3

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"manifest/internal/s3client/s3test"
)

// TestBucket reads what another client wrote to a server.
func TestBucket(t *testing.T) {
	server := s3test.Start(t)
	content := make([]byte, 3*blockSize+777)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	server.Put(t, "backups", map[string][]byte{
		"a/one/oa-1-big-Data.db":      content,
		"a/one/oa-1-big-Index.db":     content,
		"a/one/.by_v/oa-1-big-TOC.db": {1},
		"a/two words/ü+%.txt":         []byte("text"),
		"ab/x":                        {2},
	})
	opts := Options{Endpoint: server.Endpoint, Credentials: credentials.NewStaticV4(server.AccessKey, server.SecretKey, "")}
	b, err := Open("s3://backups/a/", opts)
	if err != nil {
		t.Fatal(err)
	}
	if b.Path() != "s3://backups/a" {
		t.Errorf("path %s", b.Path())
	}

	t.Run("ReadDir", func(t *testing.T) {
		files, folders, err := b.ReadDir(t.Context(), ".")
		if err != nil || files != nil || !slices.Equal(slices.Sorted(slices.Values(folders)), []string{"one", "two words"}) {
			t.Errorf("%q, %q, %v", files, folders, err)
		}
		files, folders, err = b.ReadDir(t.Context(), "one")
		if err != nil || !slices.Equal(slices.Sorted(slices.Values(files)), []string{"oa-1-big-Data.db", "oa-1-big-Index.db"}) || !slices.Equal(folders, []string{".by_v"}) {
			t.Errorf("%q, %q, %v", files, folders, err)
		}
	})
	t.Run("ReadFile", func(t *testing.T) {
		text, err := b.ReadFile(t.Context(), "two words/ü+%.txt")
		if err != nil || string(text) != "text" {
			t.Errorf("%q, %v", text, err)
		}
		if _, err := b.ReadFile(t.Context(), "one/none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what is not there: %v", err)
		}
	})
	t.Run("ranges", func(t *testing.T) {
		for _, name := range []string{"oa-1-big-Data.db", "oa-1-big-Index.db"} {
			f, err := b.Folder("one").Open(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if f.Size() != int64(len(content)) {
				t.Fatalf("%s: %d bytes", name, f.Size())
			}
			for range 40 {
				at := r.IntN(len(content))
				if r.IntN(4) == 0 { // around the ends of blocks
					at = (1+r.IntN(3))*blockSize - r.IntN(10)
				}
				p := make([]byte, 1+r.IntN(2*blockSize))
				n, err := f.ReadAt(p, int64(at))
				want := content[at:min(at+len(p), len(content))]
				if n != len(want) || !bytes.Equal(p[:n], want) || (n < len(p)) != (err == io.EOF) || err != nil && err != io.EOF {
					t.Fatalf("%s: %d bytes at %d: %d, %v", name, len(p), at, n, err)
				}
			}
			if n, err := f.ReadAt(make([]byte, 1), f.Size()); n != 0 || err != io.EOF {
				t.Errorf("%s: behind the end: %d, %v", name, n, err)
			}
		}
	})
	t.Run("replaced while it is read", func(t *testing.T) {
		f, err := b.Folder("one").Open(t.Context(), "oa-1-big-Data.db")
		if err != nil {
			t.Fatal(err)
		}
		other := bytes.Clone(content)
		other[0]++
		server.Put(t, "backups", map[string][]byte{"a/one/oa-1-big-Data.db": other})
		if _, err := f.ReadAt(make([]byte, 10), 5); err == nil {
			t.Error("no error")
		}
	})
	t.Run("refused", func(t *testing.T) {
		wrong := opts
		wrong.Credentials = credentials.NewStaticV4(server.AccessKey, "another", "")
		nowhere := opts
		nowhere.Endpoint = "http://127.0.0.1:1"
		for _, c := range []struct {
			name, place string
			opts        Options
			access      bool // that it is a matter of access
		}{
			{"no such bucket", "s3://nothing/a", opts, false},
			{"wrong credentials", "s3://backups/a", wrong, true},
			{"nobody there", "s3://backups/a", nowhere, true},
		} {
			b, err := Open(c.place, c.opts)
			if err != nil {
				t.Fatal(c.name, err)
			}
			if _, _, err := b.ReadDir(t.Context(), "."); err == nil || !strings.Contains(err.Error(), "s3://") || errors.Is(err, ErrNoAccess) != c.access {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

func TestPlaces(t *testing.T) {
	for place, want := range map[string]string{
		"s3://b": "s3://b", "s3://b/": "s3://b", "s3://b/p/q/": "s3://b/p/q", "s3://b//p": "s3://b/p",
	} {
		b, err := Open(place, Options{Endpoint: "http://127.0.0.1:1"})
		if err != nil || b.Path() != want {
			t.Errorf("%s: %v", place, err)
		}
	}
	for place, endpoint := range map[string]string{
		"/local": "", "s3://": "", "s3:///x": "", "s3://a/x": "127.0.0.1:9000", "s3://b/x": "ftp://host", "s3://c/x": "http://host/path",
	} {
		if _, err := Open(place, Options{Endpoint: endpoint}); err == nil {
			t.Errorf("%s at %q: no error", place, endpoint)
		}
	}
}
