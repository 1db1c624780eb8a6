package cql

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/gocql/gocql"
	"pgregory.net/rapid"

	"manifest/internal/cassandra"
	"manifest/internal/casstest"
	"manifest/internal/schema"
	"manifest/scan"
	"manifest/tokenrange"
)

func TestStatementsBehindARow(t *testing.T) {
	table := &schema.Table{Keyspace: "ks", Name: "t"}
	for _, c := range []schema.Column{
		{Name: "p", Kind: schema.PartitionKey}, {Name: "q", Kind: schema.PartitionKey},
		{Name: "a", Kind: schema.Clustering}, {Name: "b", Kind: schema.Clustering, Descending: true}, {Name: "c", Kind: schema.Clustering},
	} {
		c.Type = column(t, c.Name, "int").Type
		table.Columns = append(table.Columns, c)
	}
	p, err := newProjection(table, table.Names(), tokenrange.Murmur3, false, false)
	if err != nil {
		t.Fatal(err)
	}
	at := position{partition: [][]byte{{1}, {2}}, clustering: [][]byte{{3}, {4}, {5}}}
	describe := func(at position) (text []string) {
		stages, ok := p.after(at, tokenrange.Int64Token(99))
		if !ok {
			return []string{"unknown"}
		}
		for _, s := range stages {
			var args []string
			for _, a := range s.args {
				args = append(args, fmt.Sprint(a))
			}
			text = append(text, s.where+" / "+strings.Join(args, " "))
		}
		return text
	}
	rest := `token("p","q") > token(?,?) AND token("p","q") <= ? / [1] [2] 99`
	for _, c := range []struct {
		name string
		at   position
		want []string
	}{
		{"a row", at, []string{
			`"p" = ? AND "q" = ? AND "a" = ? AND "b" = ? AND "c" > ? / [1] [2] [3] [4] [5]`,
			`"p" = ? AND "q" = ? AND "a" = ? AND "b" < ? / [1] [2] [3] [4]`,
			`"p" = ? AND "q" = ? AND "a" > ? / [1] [2] [3]`,
			rest,
		}},
		{"static columns alone", position{at.partition, [][]byte{nil, nil, nil}}, []string{rest}},
		{"a row of a compact table", position{at.partition, [][]byte{{3}, nil, nil}}, []string{"unknown"}},
	} {
		if got := describe(c.at); !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s", c.name, strings.Join(got, "\n"))
		}
	}
}

// unreliable hands statements on to real nodes, except where it is told to spoil
// the paging state or to let the request time out.
type unreliable struct {
	nodes
	mu       sync.Mutex
	spoil    func(request int, state []byte) (newState []byte, err error)
	requests int
}

func (u *unreliable) Select(ctx context.Context, statement string, page cassandra.Page, args ...any) (*gocql.Iter, error) {
	u.mu.Lock()
	u.requests++
	state, err := u.spoil(u.requests, page.State)
	u.mu.Unlock()
	if err != nil {
		return nil, err
	}
	page.State = state
	return u.nodes.Select(ctx, statement, page, args...)
}

// Wherever a read breaks off, and in whatever order the rows of a partition lie,
// it goes on behind its last row: the same rows in the same order.
func TestAReadGoesOnWithinAPartition(t *testing.T) {
	server := casstest.Shared(t, casstest.Options{})
	session, keyspace := casstest.Keyspace(t, server, 1)
	cluster, err := cassandra.Connect(t.Context(), cassandra.Config{Hosts: server.Hosts(), Port: server.Port(), Consistency: "ONE"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	orders := []string{
		"", "WITH CLUSTERING ORDER BY (a DESC, b DESC, c DESC)", "WITH CLUSTERING ORDER BY (a ASC, b DESC, c ASC)", "WITH CLUSTERING ORDER BY (a DESC, b ASC, c DESC)",
	}
	var undisturbed [][]string
	var tables []*schema.Table
	for i, order := range orders {
		if err := session.Query(fmt.Sprintf(`CREATE TABLE t%d (p text, q int, a int, b text, c timestamp, s int static, v int, PRIMARY KEY ((p, q), a, b, c)) %s`, i, order)).Exec(); err != nil {
			t.Fatal(err)
		}
		batch := session.NewBatch(gocql.UnloggedBatch)
		for row := range 300 {
			p, q := "wide", 1
			if row%10 == 9 {
				p, q = "narrow", row
			}
			batch.Query(fmt.Sprintf(`INSERT INTO t%d (p, q, a, b, c, v) VALUES (?, ?, ?, ?, ?, ?)`, i), p, q, row/100, strings.Repeat("x", row/10%4), time.UnixMilli(int64(row)), row)
		}
		batch.Query(fmt.Sprintf(`UPDATE t%d SET s = 7 WHERE p = 'only static' AND q = 0`, i))
		batch.Query(fmt.Sprintf(`UPDATE t%d SET s = 8 WHERE p = 'wide' AND q = 1`, i))
		if err := session.ExecuteBatch(batch); err != nil {
			t.Fatal(err)
		}
		table, err := cluster.Table(t.Context(), keyspace, fmt.Sprintf("t%d", i))
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
		rows, _, _, err := readAll(t.Context(), cluster, cluster, table, 1000, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 301 {
			t.Fatalf("%d rows", len(rows))
		}
		undisturbed = append(undisturbed, rows)
	}

	resumed := 0
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(orders)-1).Draw(t, "order")
		pageSize := rapid.IntRange(3, 60).Draw(t, "page size")
		every := rapid.IntRange(2, 6).Draw(t, "broken requests")
		timeouts := rapid.Bool().Draw(t, "time-outs")
		hidden := rapid.Bool().Draw(t, "clustering key not wanted")
		u := &unreliable{nodes: cluster, spoil: func(request int, state []byte) ([]byte, error) {
			switch {
			case len(state) == 0 || request/4%every != 0: // four in a row, so that all attempts at a page fail
				return state, nil
			case timeouts:
				return nil, gocql.ErrTimeoutNoResponse
			}
			return []byte{1, 2, 3}, nil // refused by the server
		}}
		rows, stats, resumes, err := readAll(context.Background(), cluster, u, tables[i], pageSize, hidden)
		if err != nil {
			if timeouts && scan.ClassOf(err) == scan.Timeout {
				return // outside of a wide partition the split is halved
			}
			t.Fatal(err)
		}
		resumed += resumes
		want := undisturbed[i]
		if hidden {
			want = nil
			for _, row := range undisturbed[i] {
				var fields map[string]any
				if err := json.Unmarshal([]byte(row), &fields); err != nil {
					t.Fatal(err)
				}
				want = append(want, fmt.Sprint(fields["v"]))
			}
		}
		if !slices.Equal(rows, want) {
			t.Fatalf("%d rows after going on %d times, want %d: first difference %s", len(rows), resumes, len(want), firstDifference(rows, want))
		}
		if l := stats.Largest; len(l) == 0 || !slices.ContainsFunc(l, func(p scan.Partition) bool { return p.Rows == 270 && p.Key == "p='wide', q=1" }) {
			t.Fatalf("largest are %v", l)
		}
	})
	if resumed < 100 {
		t.Errorf("reads went on %d times: the test does not see what it is for", resumed)
	}
}

func firstDifference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%d: %s instead of %s", i, a[i], b[i])
		}
	}
	return "the length"
}

// readAll reads a table as one split; of the columns, all or v alone.
func readAll(ctx context.Context, cluster *cassandra.Cluster, n nodes, table *schema.Table, pageSize int, hidden bool) (rows []string, stats scan.ReadStats, resumes int, err error) {
	s, err := New(cluster, table, Options{PageSize: pageSize, Backoff: time.Microsecond})
	if err != nil {
		return nil, stats, 0, err
	}
	s.nodes = n
	s.wide.Store(true) // as after the first wide partition
	columns := table.Names()
	if hidden {
		columns = []string{"v"}
	}
	p, err := s.project(columns)
	if err != nil {
		return nil, stats, 0, err
	}
	decoded, err := newRows(p, s.opts.Allocator)
	if err != nil {
		return nil, stats, 0, err
	}
	defer decoded.release()
	whole := tokenrange.NewSplit(tokenrange.Murmur3.Ring())
	r := &read{source: s, rows: decoded, split: whole, projection: p, size: pageSize}
	err = r.all(ctx, func(rec arrow.Record) error {
		if hidden {
			for i := range int(rec.NumRows()) {
				text := rec.Column(0).ValueStr(i)
				if text == "(null)" {
					text = "<nil>"
				}
				rows = append(rows, text)
			}
			return nil
		}
		content, err := rec.MarshalJSON()
		if err != nil {
			return err
		}
		var objects []json.RawMessage
		if err := json.Unmarshal(content, &objects); err != nil {
			return err
		}
		for _, o := range objects {
			rows = append(rows, string(o))
		}
		return nil
	})
	decoded.partitions.describe(&r.stats)
	return rows, r.stats, r.resumes, err
}

// Two partitions with one token: what lies behind the first one's token is not
// all that is left, so the read does not go on by key, and says so.
func TestNoGoingOnWhereAnotherPartitionHasTheToken(t *testing.T) {
	first, second := collidingKeys()
	if first == second || tokenrange.Murmur3.Token([]byte(first)) != tokenrange.Murmur3.Token([]byte(second)) {
		t.Fatal("the keys do not collide")
	}
	server := casstest.Shared(t, casstest.Options{})
	session, keyspace := casstest.Keyspace(t, server, 1)
	if err := session.Query(`CREATE TABLE t (k blob, c int, PRIMARY KEY (k, c))`).Exec(); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{first, second, "alone"} {
		for c := range 20 {
			if err := session.Query(`INSERT INTO t (k, c) VALUES (?, ?)`, []byte(key), c).Exec(); err != nil {
				t.Fatal(err)
			}
		}
	}
	cluster, err := cassandra.Connect(t.Context(), cassandra.Config{Hosts: server.Hosts(), Port: server.Port(), Consistency: "ONE"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	table, err := cluster.Table(t.Context(), keyspace, "t")
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProjection(table, table.Names(), tokenrange.Murmur3, false, false)
	if err != nil {
		t.Fatal(err)
	}
	r := &read{source: &Source{nodes: cluster}, projection: p}
	for key, want := range map[string]bool{first: false, second: false, "alone": true} {
		if got := r.alone(t.Context(), position{partition: [][]byte{[]byte(key)}}); got != want {
			t.Errorf("%x is alone: %t, want %t", key, got, want)
		}
	}
	// Every page after the first is refused.
	u := &unreliable{nodes: cluster, spoil: func(_ int, state []byte) ([]byte, error) {
		if len(state) > 0 {
			return []byte{1, 2, 3}, nil
		}
		return nil, nil
	}}
	rows, _, _, err := readAll(t.Context(), cluster, u, table, 7, false)
	if !errors.Is(err, errPagingState) || scan.ClassOf(err) != scan.Other {
		t.Errorf("%d of 60 rows, and %v", len(rows), err)
	}
}

// collidingKeys gives two keys of 32 bytes with one Murmur3 token. The hash takes
// blocks of 16 bytes, and what a block does to its state can be undone: so a
// second block leads from the state behind any first block to any state.
func collidingKeys() (string, string) {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	inverse := func(odd uint64) uint64 {
		x := odd // right in the lowest three bits, and in twice as many after each step
		for range 5 {
			x *= 2 - odd*x
		}
		return x
	}
	mix := func(h1, h2, k1, k2 uint64) (uint64, uint64) {
		h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
		return h1, h2
	}
	key := func(blocks ...uint64) string {
		var b []byte
		for _, k := range blocks {
			b = binary.LittleEndian.AppendUint64(b, k)
		}
		return string(b)
	}
	s1, s2 := mix(0, 0, 1, 2)
	t1, t2 := mix(s1, s2, 3, 4)
	s1, s2 = mix(0, 0, 5, 6)
	m1 := bits.RotateLeft64((t1-0x52dce729)*inverse(5)-s2, -27) ^ s1
	m2 := bits.RotateLeft64((t2-0x38495ab5)*inverse(5)-t1, -31) ^ s2
	k1 := bits.RotateLeft64(m1*inverse(c2), -31) * inverse(c1)
	k2 := bits.RotateLeft64(m2*inverse(c1), -33) * inverse(c2)
	return key(1, 2, 3, 4), key(5, 6, k1, k2)
}
