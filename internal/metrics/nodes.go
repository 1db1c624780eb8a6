package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"manifest/internal/throttle"
)

// Throttle is what the metrics of nodes come from.
type Throttle interface {
	Nodes() []throttle.NodeStatus
	Paused() bool
}

// SetThrottle says whose nodes are shown from now on: those of the table that
// is being read.
func (r *Run) SetThrottle(t Throttle) {
	r.nodes.mu.Lock()
	defer r.nodes.mu.Unlock()
	r.nodes.throttle = t
}

// nodeCollector shows how it stands with the nodes at the moment of asking.
type nodeCollector struct {
	inFlight, waiting, limit, latency, quiet, paused *prometheus.Desc

	mu       sync.Mutex
	throttle Throttle // nil before the first table
}

func newNodeCollector() *nodeCollector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("manifest_"+name, help, []string{"node"}, nil)
	}
	return &nodeCollector{
		inFlight: desc("node_requests_in_flight", "Requests under way to the node, by host id."),
		waiting:  desc("node_requests_waiting", "Requests that wait for their turn at the node."),
		limit:    desc("node_in_flight_limit", "Most requests that may be under way to the node at this moment."),
		latency:  desc("node_page_latency_seconds", "Median time of a page from the node lately."),
		quiet:    desc("node_quiet_page_latency_seconds", "Time of a page from the node when little is asked of it."),
		paused:   prometheus.NewDesc("manifest_paused", "Whether the run is paused, 1 or 0.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *nodeCollector) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.inFlight, c.waiting, c.limit, c.latency, c.quiet, c.paused} {
		all <- d
	}
}

// Collect implements prometheus.Collector.
func (c *nodeCollector) Collect(all chan<- prometheus.Metric) {
	c.mu.Lock()
	t := c.throttle
	c.mu.Unlock()
	if t == nil {
		return
	}
	paused := 0.0
	if t.Paused() {
		paused = 1
	}
	all <- prometheus.MustNewConstMetric(c.paused, prometheus.GaugeValue, paused)
	for _, n := range t.Nodes() {
		gauge := func(d *prometheus.Desc, v float64) {
			all <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, n.Node)
		}
		gauge(c.inFlight, float64(n.InFlight))
		gauge(c.waiting, float64(n.Waiting))
		gauge(c.limit, float64(n.Limit))
		if n.Latency > 0 {
			gauge(c.latency, n.Latency.Seconds())
		}
		if n.QuietLatency > 0 {
			gauge(c.quiet, n.QuietLatency.Seconds())
		}
	}
}
