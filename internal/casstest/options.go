package casstest

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultVersion is the Cassandra release that is run when Options name none.
const DefaultVersion = "5.0.6"

// Superuser and SuperuserPassword are the credentials of a cluster started with Options.Auth.
const (
	Superuser         = "cassandra"
	SuperuserPassword = "cassandra"
)

// Options describe a cluster. The zero value is one node of DefaultVersion on 127.0.0.1:9042 with default settings.
type Options struct {
	// Version is the Cassandra release: "5.0.6" (default), or another of the 5.0 and 4.1 lines, such as "4.1.9".
	Version string `json:"version"`
	// Nodes is the number of nodes started, 1 by default.
	Nodes int `json:"nodes"`
	// BaseOctet is the last number of the first node's address, 1 by default: node i listens on 127.0.0.(BaseOctet+i), and its JMX on
	// 127.0.0.1:(7198+BaseOctet+i). Clusters whose addresses do not overlap run side by side.
	BaseOctet int `json:"base_octet"`
	// Port is the CQL port, the same on every node; 9042 by default.
	Port int `json:"port"`
	// Dir keeps configuration, data and logs, and stays after Stop: a later Start with the same options continues with its data.
	// Empty: a folder of the cache that is emptied at Start and removed at Stop.
	Dir string `json:"dir"`
	// HeapMB is the Java heap of one node in MiB, 512 by default: enough for millions of small rows. The process takes about 400 MiB more.
	HeapMB int `json:"heap_mb"`
	// VNodes is the number of tokens per node, 16 by default as in Cassandra itself.
	VNodes int `json:"vnodes"`
	// Partitioner is Murmur3Partitioner (default), RandomPartitioner, ByteOrderedPartitioner or OrderPreservingPartitioner.
	Partitioner string `json:"partitioner"`
	// SSTableFormat is "big" (default) or "bti". Versions before 5.0 know only big.
	SSTableFormat string `json:"sstable_format"`
	// Compat is 5.0's storage_compatibility_mode: NONE (default) writes SSTable versions oa and da, CASSANDRA_4 writes nb.
	Compat string `json:"compat"`
	// Auth demands a login: Superuser with SuperuserPassword.
	Auth bool `json:"auth"`
	// Locations are the datacentre and rack of each node. Nodes beyond the list are in dc1, each in a rack of its own (rack1, rack2, …).
	Locations []Location `json:"locations"`
	// Settings are further lines of cassandra.yaml by key, each value in YAML flow style. They win over the package's own.
	Settings map[string]string `json:"settings"`
	// Optimizing runs the server with Java's optimizing compiler and the G1 collector, as in production. It doubles the time to start
	// and is for benchmarks; by default only the quick compiler is on, with the serial collector.
	Optimizing bool `json:"optimizing"`
	// Log receives a line for each thing that takes time (bringing jars, waiting for an address, starting a node). Nil: discarded.
	Log io.Writer `json:"-"`
}

// Location places a node.
type Location struct {
	Datacenter string `json:"datacenter"`
	Rack       string `json:"rack"`
}

var partitioners = []string{"Murmur3Partitioner", "RandomPartitioner", "ByteOrderedPartitioner", "OrderPreservingPartitioner"}

func (o Options) withDefaults() Options {
	o.Version = orDefault(o.Version, DefaultVersion)
	o.Nodes = orDefault(o.Nodes, 1)
	o.BaseOctet = orDefault(o.BaseOctet, 1)
	o.Port = orDefault(o.Port, 9042)
	o.HeapMB = orDefault(o.HeapMB, 512)
	o.VNodes = orDefault(o.VNodes, 16)
	o.Partitioner = orDefault(o.Partitioner, "Murmur3Partitioner")
	o.SSTableFormat = orDefault(o.SSTableFormat, "big")
	o.Compat = orDefault(o.Compat, "NONE")
	o.Log = orDefault(o.Log, io.Discard)
	return o
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// Validate reports every problem of the options at once.
func (o Options) Validate() error {
	o = o.withDefaults()
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if !strings.HasPrefix(o.Version, "5.0.") && !strings.HasPrefix(o.Version, "4.1.") {
		bad("version %q: want a release of 5.0 or 4.1", o.Version)
	}
	if o.Nodes < 1 {
		bad("nodes %d: want at least 1", o.Nodes)
	}
	if o.BaseOctet < 1 || o.BaseOctet+o.Nodes-1 > 254 {
		bad("base octet %d with %d nodes: addresses must lie in 127.0.0.1 to 127.0.0.254", o.BaseOctet, o.Nodes)
	}
	if o.Port < 1 || o.Port > 65535 {
		bad("port %d: want 1 to 65535", o.Port)
	}
	if o.HeapMB < 192 {
		bad("heap of %d MiB: a server needs at least 192", o.HeapMB)
	}
	if o.VNodes < 1 {
		bad("vnodes %d: want at least 1", o.VNodes)
	}
	if !slices.Contains(partitioners, o.Partitioner) {
		bad("partitioner %q: want one of %s", o.Partitioner, strings.Join(partitioners, ", "))
	}
	if o.SSTableFormat != "big" && o.SSTableFormat != "bti" {
		bad("sstable format %q: want big or bti", o.SSTableFormat)
	}
	if o.Compat != "NONE" && o.Compat != "CASSANDRA_4" {
		bad("compat %q: want NONE or CASSANDRA_4", o.Compat)
	}
	if o.SSTableFormat == "bti" && (strings.HasPrefix(o.Version, "4.") || o.Compat == "CASSANDRA_4") {
		bad("sstable format bti: needs version 5.0 with compat NONE")
	}
	if o.Dir != "" && !filepath.IsAbs(o.Dir) {
		bad("dir %q: want an absolute path", o.Dir)
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("cluster options: %w", err)
	}
	return nil
}

// serves reports whether a cluster of these (defaulted) options does for a test that asks for want, where a zero field of want asks for
// nothing. Login is the exception: a test that does not expect it cannot do with it.
func (o Options) serves(want Options) bool {
	return o.Nodes >= want.Nodes &&
		fits(o.Version, want.Version) &&
		fits(o.BaseOctet, want.BaseOctet) &&
		fits(o.Port, want.Port) &&
		fits(o.Dir, want.Dir) &&
		fits(o.VNodes, want.VNodes) &&
		fits(o.Partitioner, want.Partitioner) &&
		fits(o.SSTableFormat, want.SSTableFormat) &&
		fits(o.Compat, want.Compat) &&
		fits(o.Optimizing, want.Optimizing) &&
		o.HeapMB >= want.HeapMB &&
		o.Auth == want.Auth &&
		(len(want.Locations) == 0 || slices.Equal(o.Locations, want.Locations)) &&
		settingsFit(o.Settings, want.Settings)
}

func fits[T comparable](have, want T) bool {
	var zero T
	return want == zero || have == want
}

func settingsFit(have, want map[string]string) bool {
	for key, value := range want {
		if have[key] != value {
			return false
		}
	}
	return true
}

func (o Options) location(node int) Location {
	loc := Location{Datacenter: "dc1", Rack: fmt.Sprintf("rack%d", node+1)}
	if node < len(o.Locations) {
		loc.Datacenter = orDefault(o.Locations[node].Datacenter, loc.Datacenter)
		loc.Rack = orDefault(o.Locations[node].Rack, loc.Rack)
	}
	return loc
}

func (o Options) address(node int) string { return fmt.Sprintf("127.0.0.%d", o.BaseOctet+node) }

func (o Options) jmxPort(node int) int { return 7198 + o.BaseOctet + node }
