package casstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// logback prints one event per line, with the thread and the place in the source: what a failing test needs of a server.
const logback = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
`

// writeConfig writes the configuration of a node into its folder. bootstrap is for a node that joins a ring which holds data already.
func writeConfig(opts Options, node int, dir string, bootstrap bool) error {
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o755); err != nil {
		return fmt.Errorf("make node folder: %w", err)
	}
	location := opts.location(node)
	for name, text := range map[string]string{
		"cassandra.yaml":    yamlText(settings(opts, node, dir, bootstrap)),
		"rackdc.properties": fmt.Sprintf("dc=%s\nrack=%s\n", location.Datacenter, location.Rack),
		"logback.xml":       logback,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write configuration of node %d: %w", node, err)
		}
	}
	return nil
}

// settings returns the lines of cassandra.yaml by key.
func settings(opts Options, node int, dir string, bootstrap bool) map[string]string {
	data := filepath.Join(dir, "data")
	lines := map[string]string{
		"cluster_name":           quote("casstest " + opts.address(0)),
		"partitioner":            "org.apache.cassandra.dht." + opts.Partitioner,
		"num_tokens":             strconv.Itoa(opts.VNodes),
		"auto_bootstrap":         strconv.FormatBool(bootstrap),
		"data_file_directories":  "[" + quote(filepath.Join(data, "data")) + "]",
		"commitlog_directory":    quote(filepath.Join(data, "commitlog")),
		"saved_caches_directory": quote(filepath.Join(data, "saved_caches")),
		"hints_directory":        quote(filepath.Join(data, "hints")),
		"cdc_raw_directory":      quote(filepath.Join(data, "cdc_raw")),
		"commitlog_sync":         "periodic",
		"commitlog_sync_period":  "10000ms",
		"listen_address":         opts.address(node),
		"rpc_address":            opts.address(node),
		"native_transport_port":  strconv.Itoa(opts.Port),
		"storage_port":           strconv.Itoa(storagePort),
		"endpoint_snitch":        "GossipingPropertyFileSnitch",
		"seed_provider": fmt.Sprintf("[{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: %s}]}]",
			quote(opts.address(0))),
		"memtable_allocation_type":   "offheap_objects",
		"materialized_views_enabled": "true",
		"auto_snapshot":              "false", // dropping a table of a test leaves nothing behind
		// A busy machine with few cores must not turn into write timeouts: the server's own limits are 2 s and 5 s.
		"write_request_timeout":         "10s",
		"counter_write_request_timeout": "10s",
		"read_request_timeout":          "10s",
		"range_request_timeout":         "20s",
		// Load writes batches over many partitions.
		"batch_size_warn_threshold": "1MiB",
		"batch_size_fail_threshold": "8MiB",
	}
	if tokens := initialTokens(opts, node); len(tokens) > 0 {
		lines["initial_token"] = quote(strings.Join(tokens, ","))
	}
	if opts.Auth {
		lines["authenticator"], lines["authorizer"] = "PasswordAuthenticator", "CassandraAuthorizer"
	}
	if strings.HasPrefix(opts.Version, "5.") {
		lines["sstable"] = "{selected_format: " + opts.SSTableFormat + "}"
		lines["storage_compatibility_mode"] = opts.Compat
		lines["memtable"] = "{configurations: {skiplist: {class_name: SkipListMemtable}, trie: {class_name: TrieMemtable}, default: {inherits: trie}}}"
	}
	maps.Copy(lines, opts.Settings)
	return lines
}

func yamlText(lines map[string]string) string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&text, "%s: %s\n", key, lines[key])
	}
	return text.String()
}

// quote makes a double-quoted YAML scalar: JSON strings are a part of YAML.
func quote(s string) string {
	text, _ := json.Marshal(s) // a string always has a JSON form
	return string(text)
}

// initialTokens returns the tokens that a node claims, so that the same options always give the same ring; none for partitioners whose
// tokens are keys. Single tokens are spread evenly, as operators do by hand. Several are drawn at random, as servers do by themselves.
func initialTokens(opts Options, node int) []string {
	lowest, size := new(big.Int), new(big.Int)
	switch opts.Partitioner {
	case "Murmur3Partitioner": // -2^63 itself is reserved for the start of the ring
		lowest.Neg(lowest.Lsh(big.NewInt(1), 63)).Add(lowest, big.NewInt(1))
		size.Lsh(big.NewInt(1), 64).Sub(size, big.NewInt(1))
	case "RandomPartitioner":
		size.Lsh(big.NewInt(1), 127)
	default:
		return nil
	}
	if opts.VNodes == 1 && node < opts.Nodes {
		step := new(big.Int).Div(size, big.NewInt(int64(opts.Nodes)))
		return []string{step.Mul(step, big.NewInt(int64(node))).Add(step, lowest).String()}
	}
	random := rand.New(rand.NewPCG(uint64(opts.BaseOctet+node), 0x63617373))
	tokens := make([]string, opts.VNodes)
	for i := range tokens {
		offset := new(big.Int).SetUint64(random.Uint64())
		offset.Lsh(offset, 64).Or(offset, new(big.Int).SetUint64(random.Uint64()))
		tokens[i] = offset.Mod(offset, size).Add(offset, lowest).String()
	}
	return tokens
}
