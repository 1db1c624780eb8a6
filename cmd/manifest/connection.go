package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"manifest/internal/cassandra"
)

// connectionOptions say how to reach the cluster.
type connectionOptions struct {
	hosts          []string
	port           int
	localDC        string
	keyspace       string
	user           string
	passwordFile   string
	askPassword    bool
	tls            bool
	tlsCA          string
	tlsCert        string
	tlsKey         string
	tlsServerName  string
	consistency    string
	requestTimeout time.Duration
	singleEndpoint bool
}

func (o *connectionOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.hosts, "hosts", []string{"127.0.0.1"}, "contact points, as host or host:port")
	f.IntVar(&o.port, "port", 9042, "port of hosts that name none")
	f.StringVar(&o.localDC, "local-dc", "", "datacentre whose nodes coordinate (default: that of the contact point)")
	f.StringVar(&o.keyspace, "keyspace", "image_keyspace", "keyspace of tables that name none")
	f.StringVar(&o.user, "user", "", "role to log in as; its password comes from MANIFEST_PASSWORD, --password-file or --ask-password")
	f.StringVar(&o.passwordFile, "password-file", "", "file whose first line is the password")
	f.BoolVar(&o.askPassword, "ask-password", false, "ask for the password at the terminal")
	f.BoolVar(&o.tls, "tls", false, "connect with TLS, trusting the system's certificates")
	f.StringVar(&o.tlsCA, "tls-ca", "", "connect with TLS, trusting the certificates in this file")
	f.StringVar(&o.tlsCert, "tls-cert", "", "certificate of this client")
	f.StringVar(&o.tlsKey, "tls-key", "", "key of this client's certificate")
	f.StringVar(&o.tlsServerName, "tls-server-name", "", "name in the servers' certificates, where it is not their address")
	f.StringVar(&o.consistency, "consistency", "LOCAL_QUORUM", "consistency level of the reads; never lowered by itself")
	f.DurationVar(&o.requestTimeout, "request-timeout", 15*time.Second, "how long to wait for one page")
	f.BoolVar(&o.singleEndpoint, "single-endpoint", false, "use the given hosts alone, for clusters behind one address")
}

// config reads the password and gives the settings of a connection.
func (o *connectionOptions) config(log *slog.Logger) (cassandra.Config, error) {
	password, err := o.password()
	if err != nil {
		return cassandra.Config{}, err
	}
	cfg := cassandra.Config{
		Hosts: o.hosts, Port: o.port, LocalDC: o.localDC,
		User: o.user, Password: password,
		Consistency: o.consistency, RequestTimeout: o.requestTimeout,
		SingleEndpoint: o.singleEndpoint, Logger: log,
	}
	if o.tls || o.tlsCA != "" || o.tlsCert != "" || o.tlsServerName != "" {
		cfg.TLS = &cassandra.TLS{CAFile: o.tlsCA, CertFile: o.tlsCert, KeyFile: o.tlsKey, ServerName: o.tlsServerName}
	}
	if err := cfg.Validate(); err != nil {
		return cassandra.Config{}, usageError{err}
	}
	return cfg, nil
}

// password comes from the terminal, a file or the environment: never from a
// flag, which other users could read off the process list.
func (o *connectionOptions) password() (string, error) {
	switch {
	case o.askPassword:
		fmt.Fprintf(os.Stderr, "Password of %s: ", o.user)
		secret, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(os.Stderr)
		if err != nil {
			return "", usagef("--ask-password: %w", err)
		}
		return string(secret), nil
	case o.passwordFile != "":
		content, err := os.ReadFile(o.passwordFile)
		if err != nil {
			return "", usagef("--password-file: %w", err)
		}
		line, _, _ := strings.Cut(string(content), "\n")
		return strings.TrimSuffix(line, "\r"), nil
	case o.user != "":
		return os.Getenv("MANIFEST_PASSWORD"), nil
	default:
		return "", nil
	}
}

// connect opens a session.
func (o *connectionOptions) connect(ctx context.Context, log *slog.Logger) (*cassandra.Cluster, error) {
	cfg, err := o.config(log)
	if err != nil {
		return nil, err
	}
	return cassandra.Connect(ctx, cfg)
}
