package s3client

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/minio/minio-go/v7"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clean takes away what the environment of the one who tests says.
func clean(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CA_BUNDLE", "AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "")
	}
}

func TestEndpoints(t *testing.T) {
	clean(t)
	for _, c := range []struct {
		given, service, general string
		host                    string
		secure                  bool
	}{
		{"", "", "", "s3.amazonaws.com", true},
		{"", "", "https://general:9000/", "general:9000", true},
		{"", "http://service", "https://general", "service", false},
		{"https://given", "http://service", "https://general", "given", true},
	} {
		t.Setenv("AWS_ENDPOINT_URL_S3", c.service)
		t.Setenv("AWS_ENDPOINT_URL", c.general)
		host, secure, err := Options{Endpoint: c.given}.withDefaults().parse()
		if err != nil || host != c.host || secure != c.secure {
			t.Errorf("%+v: %s, %v, %v", c, host, secure, err)
		}
	}
	for _, bad := range []string{"host:9000", "ftp://host", "https://", "https://host/path", "https://host?x=y", "https://me:hidden@host", "http://[::1"} {
		_, err := New(Options{Endpoint: bad})
		if !errors.Is(err, ErrSettings) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want it refused", bad, err)
		}
	}
}

// recorder answers as a bucket without objects, and keeps who signed.
func recorder(signed *atomic.Value) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed.Store(r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/xml")
		_, _ = w.Write([]byte(`<ListBucketResult><Name>images</Name><IsTruncated>false</IsTruncated></ListBucketResult>`))
	})
}

// list asks a server for the objects of a bucket, once.
func list(t *testing.T, endpoint string) error {
	client, err := New(Options{Endpoint: endpoint, Attempts: 1})
	if err != nil {
		return err
	}
	defer client.Close()
	for o := range client.Client.ListObjects(t.Context(), "images", minio.ListObjectsOptions{}) {
		err = errors.Join(err, o.Err)
	}
	return err
}

func TestCertificatesAreVerified(t *testing.T) {
	clean(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_REGION", "eu-central-1")
	var signed atomic.Value
	server := httptest.NewUnstartedServer(recorder(&signed))
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	look := func() error {
		return list(t, server.URL)
	}
	if err := look(); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody known: %v", err)
	}
	if signed.Load() != nil {
		t.Error("a server that nobody vouches for got a signed request")
	}
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", authority)
	if err := look(); err != nil {
		t.Errorf("with its authority: %v", err)
	}
	if got, _ := signed.Load().(string); !strings.Contains(got, "Credential=key/") || !strings.Contains(got, "/eu-central-1/s3/") {
		t.Errorf("signed %q, want by key in eu-central-1", got)
	}
	t.Setenv("AWS_CA_BUNDLE", os.Args[0])
	if err := look(); err == nil {
		t.Error("a bundle without certificates is taken")
	}
}

func TestProfilesOfTheSharedFile(t *testing.T) {
	clean(t)
	var signed atomic.Value
	server := httptest.NewServer(recorder(&signed))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[default]\naws_access_key_id = a\naws_secret_access_key = b\n[nightly]\naws_access_key_id = night\naws_secret_access_key = c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	t.Setenv("AWS_PROFILE", "nightly")
	t.Setenv("AWS_REGION", "us-east-1")
	if err := list(t, server.URL); err != nil {
		t.Fatal(err)
	}
	if got, _ := signed.Load().(string); !strings.Contains(got, "Credential=night/") {
		t.Errorf("signed %q, want by the profile nightly", got)
	}
}
