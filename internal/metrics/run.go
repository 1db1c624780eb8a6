package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"manifest/scan"
	"manifest/tokenrange"
)

// Run are the metrics of one run. Its methods may be called from many
// goroutines at a time.
type Run struct {
	registry *prometheus.Registry

	ended, success, exitCode *prometheus.GaugeVec
	lastSuccess              *prometheus.GaugeVec
	labels                   []string // of the three above: command and output

	rowsRead, rowsDropped, rowsCommitted   *prometheus.CounterVec
	bytesCommitted, pages, splitsCommitted *prometheus.CounterVec
	failures, outrun, replans              *prometheus.CounterVec
	splitsPlanned, share                   *prometheus.GaugeVec
	splitSeconds                           *prometheus.HistogramVec
	nodes                                  *nodeCollector
}

// Info names a run.
type Info struct {
	Run     string // its id
	Command string // stats, export, ...
	Output  string // where the result goes, as the user said it
	Version string // of the program
	Started time.Time
}

// New makes the metrics of a run.
func New(info Info) *Run {
	r := &Run{registry: prometheus.NewRegistry(), labels: []string{info.Command, info.Output}}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "manifest", Name: name, Help: help}, labels)
		r.registry.MustRegister(v)
		return v
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "manifest", Name: name, Help: help}, labels)
		r.registry.MustRegister(v)
		return v
	}

	gauge("run_info", "The run, always 1.", "run", "command", "output", "version").
		WithLabelValues(info.Run, info.Command, info.Output, info.Version).Set(1)
	gauge("run_started_timestamp_seconds", "When the run began.", "command", "output").
		WithLabelValues(r.labels...).Set(seconds(info.Started))
	r.ended = gauge("run_ended_timestamp_seconds", "When the run ended; absent while it goes on.", "command", "output")
	r.success = gauge("run_success", "Whether the run ended with a complete result, 1 or 0; absent while it goes on.", "command", "output")
	r.exitCode = gauge("run_exit_code", "Exit code of the run; absent while it goes on.", "command", "output")
	r.lastSuccess = gauge("last_success_timestamp_seconds", "When a run of this command and output last ended with a complete result.", "command", "output")

	r.splitsPlanned = gauge("splits_planned", "Splits of the plan for the whole of what is asked.", "table")
	r.share = gauge("ring_share", "Part of the asked token ranges that is committed, 0 to 1.", "table")
	r.rowsRead = counter("rows_read_total", "Rows received, also those that were dropped later.", "table")
	r.rowsDropped = counter("rows_dropped_total", "Rows received by reads that failed or lost a race; they count for nothing.", "table")
	r.rowsCommitted = counter("rows_committed_total", "Rows of committed splits.", "table")
	r.bytesCommitted = counter("bytes_committed_total", "Serialized bytes of the values of committed splits.", "table")
	r.pages = counter("pages_committed_total", "Pages of committed splits.", "table")
	r.splitsCommitted = counter("splits_committed_total", "Splits committed by this process.", "table")
	r.failures = counter("split_failures_total", "Failed reads of splits, by kind of failure and by what was done about it.", "table", "class", "action")
	r.outrun = counter("reads_outrun_total", "Reads that ended because another read of the same split was faster.", "table")
	r.replans = counter("replans_total", "How often the rest was planned again because the ring had changed.", "table")
	r.splitSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "manifest", Name: "split_seconds", Help: "Time to read a committed split.",
		Buckets: prometheus.ExponentialBuckets(0.01, 4, 9), // 10 ms to 11 min
	}, []string{"table"})
	r.nodes = newNodeCollector()
	r.registry.MustRegister(r.splitSeconds, r.nodes, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// seconds gives a time as Prometheus counts it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1e3 }

// Finish notes how the run ended. It is called once, before the file is
// written for the last time.
func (r *Run) Finish(exitCode int, ended time.Time) {
	r.ended.WithLabelValues(r.labels...).Set(seconds(ended))
	r.exitCode.WithLabelValues(r.labels...).Set(float64(exitCode))
	success := 0.0
	if exitCode == 0 {
		success = 1
		r.lastSuccess.WithLabelValues(r.labels...).Set(seconds(ended))
	}
	r.success.WithLabelValues(r.labels...).Set(success)
}

// Table gives what listens to the reading of a table by a plan, which counts
// what this process does; [Run.Resumed] takes in what an earlier one did.
func (r *Run) Table(table string, plan tokenrange.Plan, ring tokenrange.Range) scan.Events {
	asked := 0.0
	for _, s := range plan.Splits {
		asked += s.Range.Fraction(ring)
	}
	r.splitsPlanned.WithLabelValues(table).Set(float64(len(plan.Splits)))
	share := r.share.WithLabelValues(table)
	rows, dropped, committed := r.rowsRead.WithLabelValues(table), r.rowsDropped.WithLabelValues(table), r.rowsCommitted.WithLabelValues(table)
	bytes, pages, splits := r.bytesCommitted.WithLabelValues(table), r.pages.WithLabelValues(table), r.splitsCommitted.WithLabelValues(table)
	outrun, replans := r.outrun.WithLabelValues(table), r.replans.WithLabelValues(table)
	took := r.splitSeconds.WithLabelValues(table)
	return scan.Events{
		RecordRead: func(i scan.RecordInfo) { rows.Add(float64(i.Rows)) },
		SplitCommitted: func(receipt scan.Receipt) {
			if asked > 0 {
				share.Add(receipt.Range.Fraction(ring) / asked)
			}
			committed.Add(float64(receipt.Rows))
			bytes.Add(float64(receipt.Bytes))
			pages.Add(float64(receipt.Pages))
			splits.Inc()
			took.Observe(receipt.Ended.Sub(receipt.Started).Seconds())
		},
		SplitFailed: func(f scan.FailureInfo) {
			dropped.Add(float64(f.RowsDropped))
			r.failures.WithLabelValues(table, f.Class.String(), f.Action.String()).Inc()
		},
		ReadOutrun: func(o scan.OutrunInfo) {
			dropped.Add(float64(o.RowsDropped))
			outrun.Inc()
		},
		Replanned: func(scan.ReplanInfo) { replans.Inc() },
	}
}

// Resumed notes what an earlier process of the run committed of a table: the
// share of the ring, and nothing that this process has read.
func (r *Run) Resumed(table string, share float64) { r.share.WithLabelValues(table).Add(share) }
