package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"manifest/internal/metrics"
	"manifest/internal/throttle"
	"manifest/scan"
	"manifest/tokenrange"
)

// errWindowEnded is the cause of a reading's end at the time of --until.
var errWindowEnded = errors.New("the time of --until has come")

// metricsInterval is the time between two writings of the file of metrics.
const metricsInterval = 15 * time.Second

// oversightOptions say how a run is watched and held from outside.
type oversightOptions struct {
	until         string
	metricsFile   string
	metricsListen string
}

func (o *oversightOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.until, "until", "", "stop reading at this time of the day (05:00, local) or instant (RFC 3339); --resume goes on")
	f.StringVar(&o.metricsFile, "metrics-file", "", "file to keep metrics in, for node_exporter's textfile collector")
	f.StringVar(&o.metricsListen, "metrics-listen", "", "address to show metrics at while the run goes on, as host:port")
}

func (o *oversightOptions) validate() error {
	if _, err := windowEnd(o.until, time.Now()); err != nil {
		return err
	}
	return nil
}

// windowEnd gives the instant that --until means, seen from now: a time of day
// is the next one. The zero time is no end.
func windowEnd(until string, now time.Time) (time.Time, error) {
	if until == "" {
		return time.Time{}, nil
	}
	if instant, err := time.Parse(time.RFC3339, until); err == nil {
		return instant, nil
	}
	clock, err := time.Parse("15:04", until)
	if err != nil {
		return time.Time{}, usagef("--until %q is neither a time of day such as 05:00 nor an instant such as 2026-06-01T05:00:00Z", until)
	}
	end := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if !end.After(now) {
		end = time.Date(now.Year(), now.Month(), now.Day()+1, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	return end, nil
}

// oversight watches over a run: it counts, shows the metrics, pauses the
// reading on a signal and ends it with its window.
type oversight struct {
	options oversightOptions
	end     time.Time // of the window; zero for none
	metrics *metrics.Run
	server  *metrics.Server // nil without --metrics-listen
	pauses  *pauseSwitch
	log     *slog.Logger

	stopWriting func()
}

// begin starts to watch; finish ends it.
func (o oversightOptions) begin(ctx context.Context, info metrics.Info, log *slog.Logger) (*oversight, error) {
	end, err := windowEnd(o.until, info.Started)
	if err != nil {
		return nil, err
	}
	v := &oversight{options: o, end: end, metrics: metrics.New(info), log: log, stopWriting: func() {}}
	if o.metricsFile != "" {
		if err := v.metrics.TakeOver(o.metricsFile); err != nil {
			return nil, usagef("--metrics-file: %w", err)
		}
		if err := v.metrics.WriteFile(o.metricsFile); err != nil {
			return nil, usagef("--metrics-file: %w", err)
		}
	}
	if o.metricsListen != "" {
		if v.server, err = v.metrics.Serve(ctx, o.metricsListen); err != nil {
			return nil, usagef("--metrics-listen: %w", err)
		}
		log.Info("metrics are shown", "address", v.server.Address())
	}
	if o.metricsFile != "" {
		v.stopWriting = every(metricsInterval, v.writeFile)
	}
	v.pauses = newPauseSwitch(log)
	return v, nil
}

// writeFile writes the file of metrics; that it can't be written is no reason
// to end the run.
func (v *oversight) writeFile() {
	if err := v.metrics.WriteFile(v.options.metricsFile); err != nil {
		v.log.Warn("metrics are not written", "err", err)
	}
}

// finish notes how the run ended, and stops watching.
func (v *oversight) finish(err error) {
	v.metrics.Finish(exitCode(err), time.Now())
	v.stopWriting() // writes once more
	v.pauses.close()
	if v.server == nil {
		return
	}
	if err := v.server.Close(); err != nil {
		v.log.Warn("metrics server", "err", err)
	}
}

// reading gives the context of a table's reading, which ends with the window,
// and what listens to it. earlier is the part of the asked ranges, 0 to 1,
// that an earlier process has committed.
func (v *oversight) reading(ctx context.Context, table string, plan tokenrange.Plan, ring tokenrange.Range, earlier float64, t *throttle.Throttle) (context.Context, context.CancelFunc, scan.Events) {
	v.pauses.attach(t)
	v.metrics.SetThrottle(t)
	events := v.metrics.Table(table, plan, ring)
	v.metrics.Resumed(table, earlier)
	if v.end.IsZero() {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, events
	}
	ctx, cancel := context.WithDeadlineCause(ctx, v.end, fmt.Errorf("%w: %s", errWindowEnded, v.end.Format(time.RFC3339)))
	return ctx, cancel, events
}
