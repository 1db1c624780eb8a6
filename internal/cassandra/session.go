package cassandra

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/gocql/gocql"
)

// ErrNoHost means that no contact point could be reached.
var ErrNoHost = errors.New("no host could be reached")

// ErrSettings means that the settings of the connection make no sense, or that
// a file they name can't be used.
var ErrSettings = errors.New("connection settings")

// ErrCredentials means that the cluster did not accept the user or password,
// or wants one.
var ErrCredentials = errors.New("the cluster did not accept the credentials")

// Cluster is a connection to a cluster. Its methods may be called from many
// goroutines.
type Cluster struct {
	session     *gocql.Session
	policy      *replicaPolicy
	consistency gocql.Consistency
	cfg         Config
}

// Connect opens a session. The caller closes it.
func Connect(ctx context.Context, cfg Config) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	cfg = cfg.withDefaults()
	policy := newReplicaPolicy(cfg.LocalDC)
	policy.anyNode = cfg.SingleEndpoint
	driver, err := cfg.driver(policy)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}

	// The driver's constructor takes no context; a session that comes too late
	// is closed by whoever waits for it.
	type opened struct {
		session *gocql.Session
		err     error
	}
	done := make(chan opened, 1)
	go func() {
		s, err := driver.CreateSession()
		done <- opened{s, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, connectError(cfg, o.err)
		}
		c := &Cluster{session: o.session, policy: policy, consistency: driver.Consistency, cfg: cfg}
		if err := c.findLocalDC(ctx); err != nil {
			c.Close()
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		go func() {
			if o := <-done; o.session != nil {
				o.session.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// driver translates the settings for the driver.
func (c Config) driver(policy *replicaPolicy) (*gocql.ClusterConfig, error) {
	d := gocql.NewCluster(c.Hosts...)
	d.Port = c.Port
	d.ProtoVersion = 4 // spoken by Cassandra 2.2 and all later versions
	d.Timeout = c.RequestTimeout
	d.ConnectTimeout = c.ConnectTimeout
	d.ReconnectInterval = 5 * time.Second // nodes that are down; the driver's default is a minute
	d.NumConns = c.ConnectionsPerNode
	d.DisableInitialHostLookup = c.SingleEndpoint
	d.DefaultIdempotence = true
	d.RetryPolicy = nil // package scan decides
	d.PoolConfig.HostSelectionPolicy = policy
	d.Logger = driverLog{c.Logger}
	if err := d.Consistency.UnmarshalText([]byte(c.Consistency)); err != nil {
		return nil, fmt.Errorf("consistency %q: %w", c.Consistency, err)
	}
	if c.LocalDC != "" && !c.SingleEndpoint {
		d.HostFilter = gocql.DataCentreHostFilter(c.LocalDC)
	}
	if c.User != "" {
		d.Authenticator = gocql.PasswordAuthenticator{Username: c.User, Password: c.Password}
	}
	if c.TLS != nil {
		cfg, err := c.TLS.config()
		if err != nil {
			return nil, err
		}
		d.SslOpts = &gocql.SslOptions{Config: cfg, EnableHostVerification: true}
	}
	return d, nil
}

// connectError says what kept a session from opening. The driver flattens the
// causes into text, so that text is all there is to tell them apart by.
func connectError(cfg Config, err error) error {
	text := err.Error()
	for _, sign := range []string{"username", "password", "credentials", "authentication", "authenticator", "Unauthorized"} {
		if strings.Contains(text, sign) {
			return fmt.Errorf("connect to %s as %q: %w: %w", strings.Join(cfg.Hosts, ","), cfg.User, ErrCredentials, err)
		}
	}
	if strings.Contains(text, "filtered") { // by datacentre
		return fmt.Errorf("connect to %s: %w in datacentre %q: %w", strings.Join(cfg.Hosts, ","), ErrNoHost, cfg.LocalDC, err)
	}
	return fmt.Errorf("connect to %s: %w: %w", strings.Join(cfg.Hosts, ","), ErrNoHost, err)
}

// findLocalDC takes the datacentre of the node that answers as the local one,
// where none was named.
func (c *Cluster) findLocalDC(ctx context.Context) error {
	if c.cfg.LocalDC != "" {
		return nil
	}
	var dc string
	if err := c.queryRow(ctx, `SELECT data_center FROM system.local`, nil, &dc); err != nil {
		return fmt.Errorf("ask for the local datacentre: %w", err)
	}
	c.cfg.LocalDC = dc
	c.policy.setLocalDC(dc)
	return nil
}

// LocalDC is the datacentre whose nodes coordinate.
func (c *Cluster) LocalDC() string { return c.cfg.LocalDC }

// Consistency is the level at which tables are read.
func (c *Cluster) Consistency() string { return c.consistency.String() }

// Close ends the session.
func (c *Cluster) Close() { c.session.Close() }

// Page says which page of a statement's rows to ask for.
type Page struct {
	// Size is the wanted number of rows; the server may send fewer.
	Size int
	// State is the paging state that came with the page before; nil asks for the first.
	State []byte
}

// Select asks for one page of a statement that the guard accepts, at the
// cluster's consistency level, from the nodes that ctx names ([WithNodes]).
// The caller reads the rows off the iterator and closes it; the iterator's
// PageState is empty when no page follows.
func (c *Cluster) Select(ctx context.Context, statement string, page Page, args ...any) (*gocql.Iter, error) {
	if err := guard(statement); err != nil {
		return nil, err
	}
	// Each page has a query of its own: a reused one carries paging and retry
	// state over.
	return c.session.Query(statement, args...).WithContext(ctx).Consistency(c.consistency).
		PageSize(page.Size).PageState(page.State).Iter(), nil
}

// queryRow reads the one row of a small system query; gocql.ErrNotFound if
// there is none.
func (c *Cluster) queryRow(ctx context.Context, statement string, args []any, dest ...any) error {
	if err := guard(statement); err != nil {
		return err
	}
	return c.session.Query(statement, args...).WithContext(ctx).Consistency(gocql.LocalOne).Scan(dest...)
}

// queryRows reads all rows of a small system query into maps.
func (c *Cluster) queryRows(ctx context.Context, statement string, args ...any) ([]map[string]any, error) {
	if err := guard(statement); err != nil {
		return nil, err
	}
	return c.session.Query(statement, args...).WithContext(ctx).Consistency(gocql.LocalOne).Iter().SliceMap()
}

// driverLog hands the driver's messages on.
type driverLog struct{ log *slog.Logger }

func (l driverLog) Print(v ...any) { l.log.Debug("driver", "message", fmt.Sprint(v...)) }
func (l driverLog) Printf(format string, v ...any) {
	l.log.Debug("driver", "message", fmt.Sprintf(format, v...))
}
func (l driverLog) Println(v ...any) { l.log.Debug("driver", "message", fmt.Sprint(v...)) }
