package metrics

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"manifest/internal/throttle"
	"manifest/scan"
	"manifest/tokenrange"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var began = time.Date(2026, 6, 1, 2, 0, 0, 0, time.UTC)

// nodes is a throttle that stands still.
type nodes []throttle.NodeStatus

func (n nodes) Nodes() []throttle.NodeStatus { return n }
func (n nodes) Paused() bool                 { return true }

// busyRun is a run that has read a quarter of the ring, dropped a read, and
// ended incomplete.
func busyRun(t *testing.T) *Run {
	t.Helper()
	r := New(Info{Run: "r1", Command: "stats", Output: "/srv/stats", Version: "v1", Started: began})
	ring := tokenrange.Murmur3.Ring()
	quarter := tokenrange.Range{Start: ring.Start, End: tokenrange.Int64Token(-1 << 62)}
	rest := tokenrange.Range{Start: quarter.End, End: ring.End}
	plan := tokenrange.Plan{Splits: []tokenrange.Split{tokenrange.NewSplit(quarter), tokenrange.NewSplit(rest)}}
	events := r.Table("ks.t", plan, ring)
	events.RecordRead(scan.RecordInfo{Rows: 70})
	events.RecordRead(scan.RecordInfo{Rows: 30})
	events.RecordRead(scan.RecordInfo{Rows: 7})
	events.ReadOutrun(scan.OutrunInfo{RowsDropped: 7})
	events.Replanned(scan.ReplanInfo{Splits: 1})
	events.SplitFailed(scan.FailureInfo{Class: scan.Timeout, Action: scan.Halve, RowsDropped: 30})
	events.SplitCommitted(scan.Receipt{Range: quarter, Rows: 70, Bytes: 700, Pages: 2, Started: began, Ended: began.Add(2 * time.Second)})
	r.SetThrottle(nodes{{Node: "n1", InFlight: 3, Waiting: 1, Limit: 4, Latency: 20 * time.Millisecond, QuietLatency: 10 * time.Millisecond}})
	r.Finish(3, began.Add(time.Minute))
	return r
}

func parse(t *testing.T, r io.Reader) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// values flattens what Prometheus's own parser read, without what the runtime
// and the process show of themselves.
func values(families map[string]*dto.MetricFamily) map[string]float64 {
	all := map[string]float64{}
	for name, f := range families {
		if !strings.HasPrefix(name, "manifest_") {
			continue
		}
		for _, m := range f.Metric {
			key := name
			for _, l := range m.Label {
				key += " " + l.GetName() + "=" + l.GetValue()
			}
			switch {
			case m.Counter != nil:
				all[key] = m.Counter.GetValue()
			case m.Gauge != nil:
				all[key] = m.Gauge.GetValue()
			case m.Histogram != nil:
				all[key+" sum"] = m.Histogram.GetSampleSum()
				all[key+" count"] = float64(m.Histogram.GetSampleCount())
			}
		}
	}
	return all
}

// shown is what busyRun has to show, worked out by hand.
var shown = map[string]float64{
	"manifest_run_info command=stats output=/srv/stats run=r1 version=v1":    1,
	"manifest_run_started_timestamp_seconds command=stats output=/srv/stats": 1780279200,
	"manifest_run_ended_timestamp_seconds command=stats output=/srv/stats":   1780279260,
	"manifest_run_success command=stats output=/srv/stats":                   0,
	"manifest_run_exit_code command=stats output=/srv/stats":                 3,
	"manifest_splits_planned table=ks.t":                                     2,
	"manifest_ring_share table=ks.t":                                         0.25,
	"manifest_rows_read_total table=ks.t":                                    107,
	"manifest_rows_dropped_total table=ks.t":                                 37,
	"manifest_reads_outrun_total table=ks.t":                                 1,
	"manifest_replans_total table=ks.t":                                      1,
	"manifest_rows_committed_total table=ks.t":                               70,
	"manifest_bytes_committed_total table=ks.t":                              700,
	"manifest_pages_committed_total table=ks.t":                              2,
	"manifest_splits_committed_total table=ks.t":                             1,
	"manifest_split_failures_total action=halve class=timeout table=ks.t":    1,
	"manifest_split_seconds table=ks.t sum":                                  2,
	"manifest_split_seconds table=ks.t count":                                1,
	"manifest_node_requests_in_flight node=n1":                               3,
	"manifest_node_requests_waiting node=n1":                                 1,
	"manifest_node_in_flight_limit node=n1":                                  4,
	"manifest_node_page_latency_seconds node=n1":                             0.02,
	"manifest_node_quiet_page_latency_seconds node=n1":                       0.01,
	"manifest_paused": 1,
}

func TestServedNumbersAreThoseOfTheRun(t *testing.T) {
	r := busyRun(t)
	server, err := r.Serve(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + server.Address() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	got := values(parse(t, response.Body))
	response.Body.Close()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(shown, got); diff != "" {
		t.Errorf("served (-want +got):\n%s", diff)
	}
}

func TestFileIsWholeAndKeepsTheLastSuccess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "manifest.prom")
	good := New(Info{Run: "r0", Command: "stats", Output: "/srv/stats", Started: began.Add(-24 * time.Hour)})
	if err := good.TakeOver(path); err != nil {
		t.Fatalf("no file yet: %v", err)
	}
	good.Finish(0, began.Add(-23*time.Hour))
	if err := good.WriteFile(path); err != nil {
		t.Fatal(err)
	}

	bad := busyRun(t)
	if err := bad.TakeOver(path); err != nil {
		t.Fatal(err)
	}
	if err := bad.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := values(parse(t, f))
	want := map[string]float64{"manifest_last_success_timestamp_seconds command=stats output=/srv/stats": 1780279200 - 23*3600}
	for k, v := range shown {
		want[k] = v
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("beside the file there is something else: %v", entries)
	}

	other := New(Info{Command: "export", Output: "/srv/stats", Started: began})
	if err := other.TakeOver(path); err != nil {
		t.Fatal(err)
	}
	if n := testutil.CollectAndCount(other.lastSuccess); n != 0 {
		t.Errorf("export took over the success of stats")
	}
}

func TestWhatIsNoFileOfMetricsIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("buy milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := busyRun(t).TakeOver(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("taking over a shopping list: %v", err)
	}
}

func TestNamesFollowPrometheusConventions(t *testing.T) {
	problems, err := testutil.GatherAndLint(busyRun(t).registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestDocumentListsEveryMetric(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(manifest_[a-z_]+)`").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1])
	}
	slices.Sort(documented)
	r := busyRun(t)
	r.Finish(0, began)
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var real []string
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "manifest_") {
			real = append(real, f.GetName())
		}
	}
	slices.Sort(real)
	if diff := cmp.Diff(real, documented); diff != "" {
		t.Errorf("metrics (-shown +documented):\n%s", diff)
	}
}
