package cql_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/rs/zerolog"

	"manifest/internal/cassandra"
	"manifest/internal/casstest"
	"manifest/scan"
	"manifest/scan/cql"
	"manifest/tokenrange"
)

// texts is a consumer that gathers a text by its int key.
type texts struct {
	mu        sync.Mutex
	committed map[int32]string
	twice     int
}

func (c *texts) Begin(context.Context, tokenrange.Split) (scan.Part, error) {
	return &textsPart{all: c, seen: map[int32]string{}}, nil
}

type textsPart struct {
	all   *texts
	seen  map[int32]string
	twice int
}

func (p *textsPart) Write(_ context.Context, rec arrow.Record) error {
	keys, values := rec.Column(0).(*array.Int32), rec.Column(1).(*array.String)
	for i := range keys.Len() {
		if _, ok := p.seen[keys.Value(i)]; ok {
			p.twice++
		}
		p.seen[keys.Value(i)] = strings.Clone(values.Value(i))
	}
	return nil
}

func (p *textsPart) Commit(context.Context) error {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.all.twice += p.twice
	for k, v := range p.seen {
		if _, ok := p.all.committed[k]; ok {
			p.all.twice++
		}
		p.all.committed[k] = v
	}
	return nil
}

func (p *textsPart) Abort() {}

// faults are what a proxy does to a connection, as the proxy's own toxics; one
// without toxics refuses connections.
var faults = []struct {
	name   string
	toxics []string
}{
	{"late answers", []string{`{"type": "latency", "stream": "downstream", "attributes": {"latency": 30, "jitter": 30}}`}},
	{"frames cut off after 20,000 bytes", []string{`{"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 20000}}`}},
	{"requests cut off after 2,000 bytes", []string{`{"type": "limit_data", "stream": "upstream", "attributes": {"bytes": 2000}}`}},
	{"connections reset after 40 ms", []string{`{"type": "reset_peer", "stream": "downstream", "attributes": {"timeout": 40}}`}},
	{"frames in small pieces", []string{`{"type": "slicer", "stream": "downstream", "attributes": {"average_size": 700, "size_variation": 600, "delay": 100}}`}},
	{"silence, then the end", []string{`{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 200}}`}},
	{"silence", []string{`{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`}},
	{"no connection", nil},
}

// faultyProxy stands between the client and a node, with one fault after the
// other. Each comes with a proxy of its own on the same address, since toxics
// that are taken out of open connections leave goroutines behind.
type faultyProxy struct {
	t        *testing.T
	server   *toxiproxy.ApiServer
	upstream string
	address  string

	mu    sync.Mutex
	proxy *toxiproxy.Proxy
	step  int
	met   map[string]int
}

func newFaultyProxy(t *testing.T, upstream string) *faultyProxy {
	t.Helper()
	p := &faultyProxy{
		t: t, server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		upstream: upstream, address: "127.0.0.1:0", met: map[string]int{},
	}
	p.start()
	p.address = p.proxy.Listen
	t.Cleanup(func() { p.proxy.Stop() })
	return p
}

// start begins to pass connections on, with these toxics.
func (p *faultyProxy) start(toxics ...string) {
	p.proxy = toxiproxy.NewProxy(p.server, "node", p.address, p.upstream)
	for _, toxic := range toxics {
		if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			p.t.Errorf("%s: %v", toxic, err)
		}
	}
	if err := p.proxy.Start(); err != nil {
		p.t.Errorf("start proxy: %v", err)
	}
}

// next cuts all connections and brings the next fault, with a time without any
// after each: a node that never answers can't be read.
func (p *faultyProxy) next() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proxy.Stop()
	p.step++
	if p.step%2 == 0 {
		p.start()
		return
	}
	f := faults[p.step/2%len(faults)]
	p.met[f.name]++
	if len(f.toxics) > 0 {
		p.start(f.toxics...)
	}
}

// Between the client and its only node is a proxy that delays, cuts and drops
// what goes through it. What arrives in the end is what is there, each row once.
func TestAFaultyNetworkChangesNothing(t *testing.T) {
	server := casstest.Shared(t, casstest.Options{})
	session, keyspace := casstest.Keyspace(t, server, 1)
	if err := session.Query(`CREATE TABLE t (k int PRIMARY KEY, v text)`).Exec(); err != nil {
		t.Fatal(err)
	}
	want := map[int32]string{}
	for k := range int32(4000) {
		want[k] = fmt.Sprintf("%d %s", k, strings.Repeat(string(rune('a'+k%26)), int(k%300)))
		if err := session.Query(`INSERT INTO t (k, v) VALUES (?, ?)`, k, want[k]).Exec(); err != nil {
			t.Fatal(err)
		}
	}

	proxy := newFaultyProxy(t, fmt.Sprintf("%s:%d", server.Hosts()[0], server.Port()))
	j := newJob(t, cassandra.Config{
		Hosts: []string{proxy.address}, SingleEndpoint: true, Consistency: "ONE", RequestTimeout: time.Second, ConnectTimeout: time.Second,
	}, keyspace, "t", []string{"k", "v"}, 150, cql.Options{PageSize: 20, Backoff: 10 * time.Millisecond})
	var mu sync.Mutex
	events := 0
	step := func() {
		mu.Lock()
		events++
		now := events%6 == 0
		mu.Unlock()
		if now {
			proxy.next()
		}
	}
	classes := map[scan.Class]int{}
	all := &texts{committed: map[int32]string{}}
	result, err := scan.Run(t.Context(), j.plan, j.source, []scan.Consumer{all}, scan.Options{
		Columns: []string{"k", "v"}, Workers: 4, Backoff: 10 * time.Millisecond, MaxBackoff: 500 * time.Millisecond, MaxAttempts: 50, Watcher: j.watch, WatchInterval: time.Second,
		Events: scan.Events{
			RecordRead: func(scan.RecordInfo) { step() },
			SplitFailed: func(f scan.FailureInfo) {
				mu.Lock()
				classes[f.Class]++
				mu.Unlock()
				step()
			},
		},
	})
	if err != nil {
		t.Fatalf("%v (failures by class: %v)", err, classes)
	}
	if all.twice != 0 || !maps.Equal(all.committed, want) || result.Rows != int64(len(want)) {
		t.Errorf("%d rows, %d of them different, %d seen twice; want %d", result.Rows, len(all.committed), all.twice, len(want))
	}
	for _, f := range faults {
		if proxy.met[f.name] == 0 {
			t.Errorf("the run ended before %q was tried", f.name)
		}
	}
	if len(classes) == 0 {
		t.Error("no read failed: the faults are none")
	}
	t.Logf("failures by class: %v; %d attempts at %d splits; faults %v", classes, result.Attempts, len(result.Receipts), proxy.met)
}
