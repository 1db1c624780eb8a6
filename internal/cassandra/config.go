package cassandra

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// Config says how to reach a cluster.
type Config struct {
	// Hosts are the contact points, as host or host:port. At least one.
	Hosts []string
	// Port of hosts that name none. 0 means 9042.
	Port int
	// LocalDC is the datacentre whose nodes coordinate. Empty means that of the
	// first contact point that answers.
	LocalDC string
	// User and Password, where the cluster asks for them.
	User, Password string
	// TLS settings; nil connects in the clear.
	TLS *TLS
	// Consistency of reads: LOCAL_ONE, LOCAL_QUORUM and so on. Empty means LOCAL_QUORUM.
	Consistency string
	// RequestTimeout is how long to wait for one page. 0 means 15 s: longer
	// than the server's own range read timeout of 10 s, so that it is the
	// server that says what went wrong.
	RequestTimeout time.Duration
	// ConnectTimeout is how long to wait for a connection. 0 means 5 s.
	ConnectTimeout time.Duration
	// ConnectionsPerNode; 0 means 2.
	ConnectionsPerNode int
	// SingleEndpoint takes the hosts as they are and looks for no others: for
	// clusters behind one published address. Statements can't be steered to the
	// nodes that they name then.
	SingleEndpoint bool
	// Logger gets the driver's messages at debug level; nil discards them.
	Logger *slog.Logger
}

// TLS settings of a connection. The server's certificate is always verified.
type TLS struct {
	// CAFile holds the certificates to trust, in PEM; empty means the system's.
	CAFile string
	// CertFile and KeyFile identify this client; both or none.
	CertFile, KeyFile string
	// ServerName is the name that the servers' certificates carry, where it is
	// not the address that is dialled.
	ServerName string
}

// String leaves the password out.
func (c Config) String() string {
	return fmt.Sprintf("hosts %s, user %q", strings.Join(c.Hosts, ","), c.User)
}

// LogValue leaves the password out.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// ConsistencyLevels are the levels at which a table can be read.
var ConsistencyLevels = []string{"ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE"}

func (c Config) withDefaults() Config {
	if c.Port == 0 {
		c.Port = 9042
	}
	if c.Consistency == "" {
		c.Consistency = "LOCAL_QUORUM"
	}
	c.Consistency = strings.ToUpper(c.Consistency)
	if c.RequestTimeout == 0 {
		c.RequestTimeout = 15 * time.Second
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second
	}
	if c.ConnectionsPerNode == 0 {
		c.ConnectionsPerNode = 2
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports every setting that makes no sense.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	if len(c.Hosts) == 0 {
		errs = append(errs, errors.New("no hosts"))
	}
	for _, h := range c.Hosts {
		if host, _, err := net.SplitHostPort(h); (err == nil && host == "") || strings.TrimSpace(h) == "" {
			errs = append(errs, fmt.Errorf("host %q is empty", h))
		}
	}
	if c.Port < 1 || c.Port > 65535 {
		errs = append(errs, fmt.Errorf("port %d is not between 1 and 65535", c.Port))
	}
	if !slices.Contains(ConsistencyLevels, c.Consistency) {
		errs = append(errs, fmt.Errorf("consistency %q is not one of %s", c.Consistency, strings.Join(ConsistencyLevels, ", ")))
	}
	if c.Password != "" && c.User == "" {
		errs = append(errs, errors.New("a password without a user"))
	}
	if c.TLS != nil && (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		errs = append(errs, errors.New("a client certificate needs both its certificate and its key"))
	}
	return errors.Join(errs...)
}

// config reads the files and gives the settings of the TLS library.
func (t TLS) config() (*tls.Config, error) {
	cfg := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read CA certificates: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read CA certificates: no certificate in %s", t.CAFile)
		}
	}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read client certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{cert}
	}
	return cfg, nil
}
