package casstest

import (
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestValidateReportsAll(t *testing.T) {
	err := Options{Version: "3.11.1", Nodes: 300, Port: 70000, HeapMB: 1, VNodes: -1, Partitioner: "Rot13", SSTableFormat: "huge", Compat: "NOT",
		Dir: "relative"}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{`version "3.11.1"`, "127.0.0.254", "port 70000", "heap of 1 MiB", "vnodes -1", `"Rot13"`, `"huge"`, `"NOT"`, `"relative"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
	for _, bad := range []Options{{Nodes: -1}, {BaseOctet: 253, Nodes: 3}, {Version: "4.1.9", SSTableFormat: "bti"}, {Compat: "CASSANDRA_4", SSTableFormat: "bti"}} {
		if bad.Validate() == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	for _, good := range []Options{{}, {Nodes: 3, BaseOctet: 252}, {Version: "4.1.9"}, {SSTableFormat: "bti"}, {Compat: "CASSANDRA_4"}} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}

func TestServes(t *testing.T) {
	three := Options{Nodes: 3, Settings: map[string]string{"a": "1"}}.withDefaults()
	for _, test := range []struct {
		name string
		have Options
		want Options
		fit  bool
	}{
		{"anything", three, Options{}, true},
		{"fewer nodes", three, Options{Nodes: 1}, true},
		{"more nodes", three, Options{Nodes: 4}, false},
		{"default tokens by name", three, Options{VNodes: 16}, true},
		{"one token", three, Options{VNodes: 1}, false},
		{"login not there", three, Options{Auth: true}, false},
		{"login not expected", Options{Auth: true}.withDefaults(), Options{}, false},
		{"login", Options{Auth: true}.withDefaults(), Options{Auth: true}, true},
		{"other version", three, Options{Version: "4.1.9"}, false},
		{"a setting that is there", three, Options{Settings: map[string]string{"a": "1"}}, true},
		{"a setting with another value", three, Options{Settings: map[string]string{"a": "2"}}, false},
		{"larger heap", three, Options{HeapMB: 4096}, false},
		{"racks", three, Options{Locations: []Location{{"dc2", "r"}}}, false},
		{"foreign cluster, nothing asked", Options{Nodes: 1, Port: 9042}, Options{}, true},
		{"foreign cluster, format asked", Options{Nodes: 1, Port: 9042}, Options{SSTableFormat: "bti"}, false},
	} {
		if got := test.have.serves(test.want); got != test.fit {
			t.Errorf("%s: %t, want %t", test.name, got, test.fit)
		}
	}
}

func TestInitialTokens(t *testing.T) {
	even := func(partitioner string, nodes int) (tokens []string) {
		for node := range nodes {
			tokens = append(tokens, initialTokens(Options{Nodes: nodes, VNodes: 1, Partitioner: partitioner}.withDefaults(), node)...)
		}
		return tokens
	}
	// -2^63+1 + i*(2^64-1)/3, and i*2^127/2.
	if d := cmp.Diff([]string{"-9223372036854775807", "-3074457345618258602", "3074457345618258603"}, even("Murmur3Partitioner", 3)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"0", "85070591730234615865843651857942052864"}, even("RandomPartitioner", 2)); d != "" {
		t.Error(d)
	}
	if tokens := even("ByteOrderedPartitioner", 1); tokens != nil {
		t.Errorf("tokens %v for a partitioner whose tokens are keys", tokens)
	}
	bounds := map[string][2]string{
		"Murmur3Partitioner": {"-9223372036854775807", "9223372036854775807"},
		"RandomPartitioner":  {"0", "170141183460469231731687303715884105727"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		opts := Options{
			Nodes:       rapid.IntRange(1, 6).Draw(rt, "nodes"),
			VNodes:      rapid.IntRange(1, 256).Draw(rt, "vnodes"),
			Partitioner: rapid.SampledFrom([]string{"Murmur3Partitioner", "RandomPartitioner"}).Draw(rt, "partitioner"),
		}.withDefaults()
		lowest, _ := new(big.Int).SetString(bounds[opts.Partitioner][0], 10)
		highest, _ := new(big.Int).SetString(bounds[opts.Partitioner][1], 10)
		seen := map[string]bool{}
		for node := range opts.Nodes + 1 { // one more: an added node
			tokens := initialTokens(opts, node)
			if len(tokens) != opts.VNodes || !cmp.Equal(tokens, initialTokens(opts, node)) {
				rt.Fatalf("node %d: %d tokens, or others the second time", node, len(tokens))
			}
			for _, token := range tokens {
				n, ok := new(big.Int).SetString(token, 10)
				if !ok || n.Cmp(lowest) < 0 || n.Cmp(highest) > 0 || seen[token] {
					rt.Fatalf("node %d: token %s is out of range or there twice", node, token)
				}
				seen[token] = true
			}
		}
	})
}

func TestSettings(t *testing.T) {
	opts := Options{Nodes: 2, BaseOctet: 7, Auth: true, SSTableFormat: "bti", Settings: map[string]string{"num_tokens": "3", "new": "[1]"}}.withDefaults()
	text := "\n" + yamlText(settings(opts, 1, `/a "b"`, true))
	for _, line := range []string{
		"auto_bootstrap: true", "authenticator: PasswordAuthenticator", "listen_address: 127.0.0.8", "num_tokens: 3", "new: [1]",
		`commitlog_directory: "/a \"b\"/data/commitlog"`, "sstable: {selected_format: bti}", `parameters: [{seeds: "127.0.0.7"}]`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in:%s", line, text)
		}
	}
	if old := yamlText(settings(Options{Version: "4.1.9"}.withDefaults(), 0, "/d", false)); strings.Contains(old, "storage_compatibility_mode") ||
		strings.Contains(old, "selected_format") || strings.Contains(old, "\nmemtable:") {
		t.Errorf("4.1 would refuse keys that are new in 5.0:\n%s", old)
	}
}

func TestLocation(t *testing.T) {
	opts := Options{Nodes: 3, Locations: []Location{{"east", "a"}, {Datacenter: "west"}}}
	for node, want := range []Location{{"east", "a"}, {"west", "rack2"}, {"dc1", "rack3"}} {
		if got := opts.location(node); got != want {
			t.Errorf("node %d: %v, want %v", node, got, want)
		}
	}
}

func TestParseHosts(t *testing.T) {
	for _, test := range []struct {
		text  string
		hosts []string
		port  int
	}{
		{"127.0.0.1", []string{"127.0.0.1"}, 9042},
		{"10.0.0.1:19042, 10.0.0.2:19042", []string{"10.0.0.1", "10.0.0.2"}, 19042},
		{"[::1]:9142", []string{"::1"}, 9142},
		{"a:1,b:2", nil, 0},
		{"a,", nil, 0},
		{"a:x", nil, 0},
	} {
		hosts, port, err := parseHosts(test.text)
		if !cmp.Equal(hosts, test.hosts) || (err != nil) != (test.hosts == nil) || err == nil && port != test.port {
			t.Errorf("%q: %v, %d, %v", test.text, hosts, port, err)
		}
	}
}

func TestKeyspaceName(t *testing.T) {
	if got, want := keyspaceName("TestScan/Ünïcode_名/RF3", 4194304, 12), "t4194304_12_testscan__n_code___rf3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := keyspaceName(strings.Repeat("x", 200), 4194304, 1_000_000); len(got) > 48 {
		t.Errorf("%q has %d characters, Cassandra allows 48", got, len(got))
	}
}
