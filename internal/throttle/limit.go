package throttle

import (
	"math"
	"slices"
	"time"
)

const (
	// A window has at least this many pages, so that its median means
	// something, and takes at least this long, so that fast pages do not make
	// the limit jump.
	windowPages = 8
	windowTime  = 500 * time.Millisecond

	// startTime is the least that a window of the start takes instead: 8 requests
	// in flight are then reached within a second, where a page takes 50 ms or
	// less, and fast pages still show the node's pauses of some ten milliseconds.
	startTime = 100 * time.Millisecond

	// recovery is how long it takes the limit to grow by one once it has been
	// lowered: a node that has just caught up is not to be pushed back at once.
	recovery = 5 * time.Second

	// overloadPause is how long after an overload further ones count as the
	// same.
	overloadPause = time.Second

	// forget is the time in which the quiet latency grows e-fold, at most,
	// where nothing quieter can be had. A node that others keep at twice what
	// is bearable is thus asked for one page at a time for a quarter of an hour.
	forget = 20 * time.Minute

	// longestWindow is what a window counts for at most in the growth of the
	// limit and of the quiet latency: nothing was learnt during a pause.
	longestWindow = 10 * time.Second

	// followFaster is the weight of a window that is faster than all before.
	followFaster = 0.25
)

// limit is how many requests may be in flight to one node. It is the gradient
// of the latency that lowers it, in the manner of TCP Vegas (Brakmo and
// Peterson, 1995): a queue at the node shows as latency long before the node
// refuses work.
//
// All latencies are seconds per row, since the last page of a range is shorter
// than the others, and the page size changes.
type limit struct {
	most      float64
	tolerance float64
	fixed     bool

	value   float64 // 1 to most
	borne   float64 // the highest that a window of the start has found bearable; 0 before the first
	tooHigh float64 // what ended the start, since it was not; 0 if nothing has
	lowered bool    // has ever been, but for the end of the start
	quiet   float64 // the quiet latency; 0 if unknown
	lately  float64 // the median of the last window; 0 if unknown
	rows    float64 // of a usual page; 0 if unknown
	largest float64 // rows of the largest page until the quiet latency was known

	// The window.
	latencies []float64
	full      int // how many of them ended while as many were in flight as may be
	since     time.Time
	usedUp    bool // whether as many were in flight as may be, if only for an instant

	overloaded time.Time // when it was last lowered for that
}

func newLimit(o Options) limit {
	l := limit{most: float64(o.MaxInFlightPerNode), tolerance: o.Tolerance, fixed: o.Fixed, value: 1}
	if o.Fixed {
		l.value = l.most
	}
	return l
}

// requests is the limit as a number of requests.
func (l *limit) requests() int { return int(l.value) }

// page gives the latency of a usual page.
func (l *limit) page(perRow float64) time.Duration {
	return time.Duration(perRow * l.rows * float64(time.Second))
}

// starting tells whether the limit is yet to be tried: nothing has ever been
// too much, and no window has found it bearable.
func (l *limit) starting() bool { return !l.lowered && l.tooHigh == 0 && l.value > l.borne }

// observe takes in what a request has shown; full tells that as many as may be
// were in flight with it.
func (l *limit) observe(o Outcome, full bool, now time.Time) {
	switch {
	case l.fixed:
	case o.Overloaded:
		if now.Sub(l.overloaded) >= overloadPause {
			l.overloaded = now
			l.lower(0.5)
			l.restart(now)
		}
	case o.Latency > 0:
		l.add(o, full, now)
	}
}

// add takes a page into the window, and ends the window when it is full.
func (l *limit) add(o Outcome, full bool, now time.Time) {
	rows := float64(o.Rows)
	if l.quiet == 0 && max(1, rows) > 2*l.largest {
		// Those before were short, since a source that knows no size of rows
		// begins with small pages: what a row of them took is no measure.
		l.largest, l.rows = max(1, rows), max(1, rows)
		l.restart(now)
	}
	// A short page is nearly all overhead: it says something only if it was
	// slow even so, as over tombstones.
	perRow := o.Latency.Seconds() / max(rows, l.rows/2)
	short := rows < l.rows/2
	l.rows = max(1, l.rows+smoothing*(rows-l.rows))
	elapsed := now.Sub(l.since)
	// What was under way when the limit was raised says little about it.
	early := l.starting() && elapsed < o.Latency
	if !early && (!short || perRow > l.tolerance*l.quiet && l.quiet > 0) {
		l.latencies = append(l.latencies, perRow)
		if full {
			l.full++
		}
	}
	if l.windowEnds(elapsed) {
		slices.Sort(l.latencies)
		l.adapt(l.latencies[len(l.latencies)/2], min(elapsed, longestWindow))
		l.restart(now)
	}
}

// windowEnds tells whether the window has all that it needs.
func (l *limit) windowEnds(elapsed time.Duration) bool {
	pages := len(l.latencies)
	if l.starting() && l.wasFull() {
		// A pause of the node hits all that is in flight, which must not be
		// half of the window.
		return pages >= max(windowPages, 2*l.requests()+1) && elapsed >= startTime
	}
	return pages >= windowPages && elapsed >= windowTime
}

// wasFull tells whether the window's median is that of a limit used up.
func (l *limit) wasFull() bool { return 2*l.full > len(l.latencies) }

// adapt compares the median of a window with the quiet latency.
func (l *limit) adapt(median float64, elapsed time.Duration) {
	l.lately = median
	switch {
	case l.quiet == 0:
		l.quiet = median
	case median < l.quiet:
		l.quiet += followFaster * (median - l.quiet)
	case l.value < 2:
		l.quiet = min(median, l.quiet*math.Exp(elapsed.Seconds()/forget.Seconds()))
	}

	bearable := l.tolerance * l.quiet
	switch {
	case median > bearable && l.starting():
		l.tooHigh = l.value
		l.value = max(1, l.value*max(0.5, min(l.borne/l.value, bearable/median)))
	case median > bearable:
		l.lower(max(0.5, bearable/median))
	case !l.usedUp:
	case l.lowered || l.tooHigh > 0 && l.value+1 >= l.tooHigh:
		l.value = min(l.most, l.value+elapsed.Seconds()/recovery.Seconds())
	case l.tooHigh == 0 && l.wasFull():
		l.borne, l.value = l.value, min(l.most, 2*l.value)
	default: // between what was borne and what was not, or used up for an instant only
		l.value = min(l.most, l.value+1)
	}
}

func (l *limit) lower(factor float64) {
	l.value = max(1, l.value*factor)
	l.lowered = true
}

// restart begins a new window.
func (l *limit) restart(now time.Time) {
	l.latencies, l.full = l.latencies[:0], 0
	l.since = now
	l.usedUp = false
}
