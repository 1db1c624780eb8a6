package s3client

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// ErrSettings reports settings that name no store.
var ErrSettings = errors.New("not the settings of an object store")

// amazon is the server where no other is named.
const amazon = "https://s3.amazonaws.com"

// Options of a client. The zero value takes everything from the environment.
type Options struct {
	// Endpoint is the server's URL, https://host:port, or with http.
	Endpoint string
	// Region of the buckets.
	Region string
	// Credentials to use in place of those of the environment.
	Credentials *credentials.Credentials
	// Attempts is how often a request is made before it fails. Default 8: a
	// server that is away for some seconds is waited for.
	Attempts int
}

// withDefaults takes what is not set from the environment.
func (o Options) withDefaults() Options {
	o.Endpoint = cmp.Or(o.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), amazon)
	o.Region = cmp.Or(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	o.Attempts = cmp.Or(o.Attempts, 8)
	if o.Credentials == nil {
		o.Credentials = credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{},
			&credentials.FileAWSCredentials{},
			&credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second}},
		})
	}
	return o
}

// parse gives the host, and whether it is spoken to with TLS.
func (o Options) parse() (host string, secure bool, err error) {
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil:
		return "", false, fmt.Errorf("endpoint %q is not a URL: %w", o.Endpoint, ErrSettings)
	case u.User != nil:
		return "", false, fmt.Errorf("endpoint of %s holds a user: %w", u.Host, ErrSettings)
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "", strings.Trim(u.Path, "/") != "", u.RawQuery != "":
		return "", false, fmt.Errorf("endpoint %q is not of the form https://host:port: %w", u.Redacted(), ErrSettings)
	}
	return u.Host, u.Scheme == "https", nil
}

// Client is a connection to a server. Nothing is asked of it before it is used.
type Client struct {
	*minio.Core
	transport *http.Transport
}

// New makes a client.
func New(opts Options) (*Client, error) {
	opts = opts.withDefaults()
	host, secure, err := opts.parse()
	if err != nil {
		return nil, err
	}
	transport, err := transport()
	if err != nil {
		return nil, err
	}
	core, err := minio.NewCore(host, &minio.Options{
		Creds: opts.Credentials, Secure: secure, Transport: transport, Region: opts.Region, MaxRetries: opts.Attempts,
	})
	if err != nil {
		return nil, fmt.Errorf("object store at %s: %w", host, err)
	}
	return &Client{core, transport}, nil
}

// Close ends the connections that are kept for further requests.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// transport is that of minio-go, with the authorities of AWS_CA_BUNDLE.
func transport() (*http.Transport, error) {
	t, err := minio.DefaultTransport(true)
	if err != nil {
		return nil, err
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	path := os.Getenv("AWS_CA_BUNDLE")
	if path == "" {
		return t, nil
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read AWS_CA_BUNDLE: %w", err)
	}
	t.TLSClientConfig.RootCAs = x509.NewCertPool()
	if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE %s holds no certificate: %w", path, ErrSettings)
	}
	return t, nil
}
