package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"golang.org/x/sync/errgroup"

	"manifest/internal/casstest"
	"manifest/internal/imagegen"
)

// imageTables are read by the named statistics.
var imageTables = []string{imagegen.MetadataTable, imagegen.DeviceTable, imagegen.TagTable, imagegen.ReviewTable}

// site is a cluster with tables, and the rows that the other client read from them.
type site struct {
	cluster  *casstest.Cluster
	worker   *worker
	keyspace string
	tables   []string // names as CQL writes them, without the keyspace
	rows     map[string]int
	shared   []string // flags of every command
	env      []string
	edges    []int64 // tokens where ranges end
}

// sharedCluster is one that serves other packages' tests too: three nodes of many tokens, which none of the tests stops.
func sharedCluster(t testing.TB) *casstest.Cluster {
	t.Helper()
	return casstest.Shared(t, casstest.Options{Nodes: 3})
}

// newSite fills a keyspace with all tables and has the other client read them.
func newSite(t *testing.T, c *casstest.Cluster, keyspace, replication string) *site {
	t.Helper()
	began := time.Now()
	s := newEmptySite(t, c, keyspace, replication)
	if err := s.load(t); err != nil {
		t.Fatalf("load tables: %v", err)
	}
	loaded := time.Now()
	s.worker = startWorker(t)
	s.worker.connect(t, c)
	for _, table := range s.tables {
		s.read(t, table)
	}
	t.Logf("loaded %d tables in %.1f s, read by the other client in %.1f s", len(s.tables), loaded.Sub(began).Seconds(), time.Since(loaded).Seconds())
	return s
}

// newImageSite makes a keyspace with the tables of that many images, once each. The session lasts as long as the test.
func newImageSite(t *testing.T, c *casstest.Cluster, keyspace string, images int) (*site, *gocql.Session) {
	t.Helper()
	s := newEmptySite(t, c, keyspace, fmt.Sprintf(simpleReplication, 1))
	session, err := c.Session("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	if err := loadImages(t.Context(), session, keyspace, images); err != nil {
		t.Fatal(err)
	}
	return s, session
}

// newEmptySite makes a keyspace without tables.
func newEmptySite(t testing.TB, c *casstest.Cluster, keyspace, replication string) *site {
	t.Helper()
	s := &site{cluster: c, keyspace: keyspace, rows: map[string]int{}}
	s.shared = []string{"--hosts", strings.Join(c.Hosts(), ","), "--port", strconv.Itoa(c.Port())}
	if c.Options().Auth {
		s.shared = append(s.shared, "--user", casstest.Superuser)
		s.env = append(s.env, "MANIFEST_PASSWORD="+casstest.SuperuserPassword)
	}
	session, err := c.Session("")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := createKeyspace(t.Context(), session, keyspace, replication); err != nil {
		t.Fatal(err)
	}
	return s
}

// full is the name of a table with its keyspace, as CQL writes it.
func (s *site) full(table string) string { return quoted(s.keyspace) + "." + table }

// quoted is a name as CQL writes it, keeping case.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// flag is the name of a table as the flag --table takes it: without quotes.
func (s *site) flag(table string) string {
	return s.keyspace + "." + strings.ReplaceAll(strings.Trim(table, `"`), `""`, `"`)
}

// read has the other client read a table.
func (s *site) read(t testing.TB, table string) {
	t.Helper()
	answer := ask[struct{ Rows int }](t, s.worker, "read", map[string]any{"table": s.full(table)})
	s.rows[table] = answer.Rows
}

func (s *site) load(t testing.TB) error {
	ctx := t.Context()
	session, err := s.cluster.Session("")
	if err != nil {
		return err
	}
	defer session.Close()
	tables, err := s.cluster.Session(s.keyspace)
	if err != nil {
		return err
	}
	defer tables.Close()
	// Most of a schema change is waiting until the nodes agree on it, so the files are loaded side by side.
	files := readTableFiles(t)
	loads := []func(context.Context) error{
		func(ctx context.Context) error { return loadImages(ctx, session, s.keyspace, imageCount()) },
		func(ctx context.Context) error { return loadWide(ctx, session, s.keyspace) },
	}
	for _, file := range files {
		s.tables = append(s.tables, file.tables...)
		loads = append(loads, func(ctx context.Context) error { return file.load(ctx, tables) })
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, load := range loads {
		group.Go(func() error { return load(groupCtx) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	s.tables = append(slices.Concat(s.tables, imageTables), "wide")
	if s.hasMurmur3() {
		if err := s.loadEdges(ctx, t, session); err != nil {
			return err
		}
	}
	return waitExpired(ctx, session, s.keyspace)
}

// hasMurmur3 says whether the tokens are those of the Murmur3 partitioner, numbers of 64 bits.
func (s *site) hasMurmur3() bool {
	partitioner := s.cluster.Options().Partitioner
	return partitioner == "" || partitioner == "Murmur3Partitioner"
}

// loadEdges makes the table edges, of partitions where the ranges of nodes and of plans end.
func (s *site) loadEdges(ctx context.Context, t testing.TB, session *gocql.Session) error {
	ends, err := ringTokens(ctx, session)
	if err != nil {
		return err
	}
	s.edges = append(ends, s.plannedTokens(t)...)
	s.tables = append(s.tables, "edges")
	return loadEdges(ctx, session, s.keyspace, s.edges)
}

func loadImages(ctx context.Context, session *gocql.Session, keyspace string, images int) error {
	set, err := imagegen.New(imagegen.Options{Images: images, Days: 6, Devices: 25})
	if err != nil {
		return err
	}
	for _, statement := range imagegen.TableDDL(keyspace) {
		if err := session.Query(statement).WithContext(ctx).Exec(); err != nil {
			return err
		}
	}
	_, err = casstest.Load(ctx, session, set, casstest.LoadOptions{Keyspace: keyspace})
	return err
}

// waitExpired waits until the short-lived cells of ttls.cql are gone from every replica.
func waitExpired(ctx context.Context, session *gocql.Session, keyspace string) error {
	limit := time.Now().Add(5 * time.Second)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		var left int
		iter := session.Query(fmt.Sprintf("SELECT short FROM %s.ttls", quoted(keyspace))).Consistency(gocql.All).WithContext(ctx).Iter()
		for short := (*string)(nil); iter.Scan(&short); {
			if short != nil {
				left++
			}
		}
		if err := iter.Close(); err != nil {
			return err
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%d cells with a life of a second are still there", left)
		}
		<-ticker.C
	}
}

// plannedTokens returns where the splits of a plan end, for some numbers of splits.
func (s *site) plannedTokens(t testing.TB) []int64 {
	t.Helper()
	var tokens []int64
	for _, splits := range []string{"2", "7"} {
		o := s.command("plan", "--table", s.flag("one_row"), "--splits", splits, "--json").run(t)
		if o.code != exitDone {
			t.Fatalf("plan failed: %s", o)
		}
		for _, r := range plannedRanges(t, o) {
			tokens = append(tokens, r[1])
		}
	}
	return tokens
}

// plannedRanges reads the ranges of a plan: the token before each, and its last.
func plannedRanges(t testing.TB, o outcome) [][2]int64 {
	t.Helper()
	var plan struct {
		Splits []struct {
			Range struct {
				Start int64 `json:"start,string"`
				End   int64 `json:"end,string"`
			} `json:"range"`
		} `json:"splits"`
	}
	if err := json.Unmarshal([]byte(o.stdout), &plan); err != nil {
		t.Fatalf("read plan: %v: %s", err, o)
	}
	var ranges [][2]int64
	for _, split := range plan.Splits {
		ranges = append(ranges, [2]int64{split.Range.Start, split.Range.End})
	}
	return ranges
}

// command is a run of the binary against the site.
func (s *site) command(args ...string) invocation {
	return invocation{args: slices.Concat(args[:1], s.shared, args[1:]), env: s.env}
}
