package throttle

import (
	"errors"
	"fmt"
	"log/slog"
)

// Options of a [Throttle]. The zero value gives the defaults.
type Options struct {
	// RowsPerSecond and BytesPerSecond limit what the whole run reads. 0 means
	// no limit.
	RowsPerSecond, BytesPerSecond float64

	// MaxInFlightPerNode is the most requests in flight to one node. 0 means 8:
	// a coordinator reads a range with one thread per replica, and a node of
	// usual size has that many cores.
	MaxInFlightPerNode int

	// Tolerance is how many times its quiet latency a node may take before less
	// is asked of it. 0 means 2: latencies differ by some tens of per cent from
	// one half second to the next without any cause that less load would mend,
	// and a node at twice its latency already queues.
	Tolerance float64

	// Fixed keeps the limit of every node at MaxInFlightPerNode.
	Fixed bool

	// Logger is told when a node's limit is lowered. nil discards it.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.MaxInFlightPerNode == 0 {
		o.MaxInFlightPerNode = 8
	}
	if o.Tolerance == 0 {
		o.Tolerance = 2
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate reports every setting that makes no sense.
func (o Options) Validate() error {
	var errs []error
	for _, r := range []struct {
		name  string
		value float64
	}{
		{"rows per second", o.RowsPerSecond}, {"bytes per second", o.BytesPerSecond},
	} {
		if !(r.value >= 0) { // NaN as well
			errs = append(errs, fmt.Errorf("%s: %v is not a rate", r.name, r.value))
		}
	}
	if o.MaxInFlightPerNode < 0 {
		errs = append(errs, fmt.Errorf("requests in flight per node: %d is negative", o.MaxInFlightPerNode))
	}
	if o.Tolerance != 0 && !(o.Tolerance > 1) {
		errs = append(errs, fmt.Errorf("tolerance: %v is not above 1", o.Tolerance))
	}
	return errors.Join(errs...)
}
