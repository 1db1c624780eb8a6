package s3test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// version of versitygw.
const version = "v1.8.0"

// Bucket is the name of the bucket that a server starts with.
const Bucket = "images"

// Server of a test.
type Server struct {
	// Endpoint is http://127.0.0.1:PORT.
	Endpoint string
	// AccessKey and SecretKey are its only user's.
	AccessKey, SecretKey string
	// Client is one of that user.
	Client *minio.Client
	dir    string
}

// Start starts a server that ends with the test, and points AWS_ENDPOINT_URL and
// the variables with the keys at it. With -short the test is left out.
func Start(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("needs an S3 server, left out by -short")
	}
	program, err := build()
	if err != nil {
		t.Fatalf("no S3 server for this test: %v", err)
	}
	root, address := t.TempDir(), free(t)
	s := &Server{Endpoint: "http://" + address, AccessKey: random(t), SecretKey: random(t), dir: filepath.Join(root, "data")}
	// What the server keeps of objects beside their content goes to files, for not
	// every file system has attributes.
	sidecar := filepath.Join(root, "sidecar")
	if err := errors.Join(os.MkdirAll(filepath.Join(s.dir, Bucket), 0o755), os.Mkdir(sidecar, 0o755)); err != nil {
		t.Fatal(err)
	}
	if s.Client, err = minio.New(address, &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), BucketLookup: minio.BucketLookupPath}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(program, "--port", address, "--quiet", "posix", "--sidecar", sidecar, s.dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	if err := ready(t.Context(), s.Endpoint, ended); err != nil {
		t.Fatalf("start %s: %v: %s", program, err, log.String())
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": s.AccessKey, "AWS_SECRET_ACCESS_KEY": s.SecretKey, "AWS_SESSION_TOKEN": "", "AWS_REGION": "us-east-1",
		"AWS_ENDPOINT_URL": s.Endpoint, "AWS_ENDPOINT_URL_S3": "", "AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, value)
	}
	return s
}

// Path is the file of an object.
func (s *Server) Path(key string) string {
	return filepath.Join(s.dir, Bucket, filepath.FromSlash(key))
}

// Put makes a bucket, unless it is there, and puts objects into it.
func (s *Server) Put(t testing.TB, bucket string, objects map[string][]byte) {
	t.Helper()
	ctx := t.Context()
	exists, err := s.Client.BucketExists(ctx, bucket)
	if err == nil && !exists {
		err = s.Client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for key, content := range objects {
		if _, err := s.Client.PutObject(ctx, bucket, key, bytes.NewReader(content), int64(len(content)), minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func random(t testing.TB) string {
	b := make([]byte, 12)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}

// free gives an address that nobody listens on.
func free(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// ready waits until the server answers: that it does not let anybody in.
func ready(ctx context.Context, url string, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			return response.Body.Close()
		}
		select {
		case err := <-ended:
			return fmt.Errorf("it ended: %w", errors.Join(err, errors.New("before it answered")))
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
	}
}

// build gives the server's program, which is compiled unless the cache has it.
var build = sync.OnceValues(func() (string, error) {
	cache := os.Getenv("MANIFEST_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find cache folder: %w", err)
		}
		cache = filepath.Join(user, "manifest")
	}
	folder := filepath.Join(cache, "versitygw-"+version)
	program := filepath.Join(folder, "versitygw")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	fmt.Fprintf(os.Stderr, "s3test: building versitygw %s into %s, once\n", version, folder)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(cache, "versitygw-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	install := exec.Command("go", "install", "-trimpath", "github.com/versity/versitygw/cmd/versitygw@"+version)
	install.Env = append(os.Environ(), "GOBIN="+fresh, "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build versitygw: %w: %s", err, out)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return program, os.Rename(filepath.Join(fresh, "versitygw"), program)
})
