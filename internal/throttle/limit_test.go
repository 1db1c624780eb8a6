package throttle

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func limitOf(th *Throttle) int { return th.Nodes()[0].Limit }

func TestQuietNodeIsUsedUpToTheCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{MaxInFlightPerNode: 6})
		s := &server{service: 50 * time.Millisecond, cores: 16}
		defer read(t, th, s, 20)()
		synctest.Wait()
		if got := limitOf(th); got != 1 {
			t.Errorf("the limit begins at %d, not 1", got)
		}
		time.Sleep(10 * time.Second)
		if got := limitOf(th); got != 6 || s.most.Load() != 6 {
			t.Errorf("limit is %d, %d were in flight, not 6", got, s.most.Load())
		}
	})
}

// With 4 cores and twice the quiet latency tolerated, 8 requests are the most
// that a node bears, ours and those of others together.
func TestBusyNodeIsAskedForLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		th := newThrottle(t, Options{MaxInFlightPerNode: 32, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		s := &server{service: 50 * time.Millisecond, cores: 4}
		stop := read(t, th, s, 40)
		time.Sleep(time.Minute)
		if got := limitOf(th); got < 6 || got > 9 {
			t.Errorf("limit on a quiet node is %d, not about 8", got)
		}

		s.foreground.Store(6) // leaves room for 2
		time.Sleep(3 * time.Second)
		if got := limitOf(th); got > 3 {
			t.Errorf("limit 3 s after others came is %d, not about 2", got)
		}
		s.foreground.Store(40) // leaves room for none
		time.Sleep(3 * time.Second)
		for range 4 * 60 {
			time.Sleep(time.Second)
			if got := limitOf(th); got != 1 {
				t.Fatalf("limit of a node that others fill is %d", got)
			}
		}

		s.foreground.Store(0)
		time.Sleep(5 * time.Second)
		if got := limitOf(th); got > 3 {
			t.Errorf("limit is back at %d within 5 s", got)
		}
		time.Sleep(time.Minute)
		if got := limitOf(th); got < 6 {
			t.Errorf("limit a minute after the others went is %d", got)
		}
		stop()
		if !strings.Contains(log.String(), "node=n1") {
			t.Errorf("the log does not name the node: %s", log.String())
		}
	})
}

// The load that a scan itself causes must not become what it compares with.
func TestOwnLoadIsNotGotUsedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{MaxInFlightPerNode: 64})
		s := &server{service: 50 * time.Millisecond, cores: 4}
		defer read(t, th, s, 64)()
		time.Sleep(time.Hour)
		if got := limitOf(th); got < 6 || got > 9 {
			t.Errorf("limit after an hour is %d, not about 8", got)
		}
		if got := th.Nodes()[0].QuietLatency; got < 49*time.Millisecond || got > 55*time.Millisecond {
			t.Errorf("quiet latency is %v, not about 50 ms", got)
		}
	})
}

// A limit that is not used up says nothing about the node: it must not grow to
// a height that nobody has tried.
func TestUnusedLimitDoesNotGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{MaxInFlightPerNode: 64})
		s := &server{service: 50 * time.Millisecond, cores: 4}
		defer read(t, th, s, 1)()
		time.Sleep(time.Minute)
		if got := limitOf(th); got > 2 {
			t.Errorf("limit is %d with one request at a time", got)
		}
	})
}

func TestFixedLimitDoesNotAdapt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{MaxInFlightPerNode: 5, Fixed: true})
		s := &server{service: 50 * time.Millisecond, cores: 1}
		defer read(t, th, s, 20)()
		time.Sleep(10 * time.Second)
		s.refuse.Store(true)
		time.Sleep(10 * time.Second)
		if got := limitOf(th); got != 5 || s.most.Load() != 5 {
			t.Errorf("limit is %d, %d were in flight, not 5", got, s.most.Load())
		}
	})
}

func TestOverloadHalvesOnceASecond(t *testing.T) {
	l := limit{most: 16, tolerance: 2, value: 16}
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{
		{0, 8}, {10 * time.Millisecond, 8}, {900 * time.Millisecond, 8},
		{time.Second, 4}, {2 * time.Second, 2}, {3 * time.Second, 1}, {4 * time.Second, 1},
	} {
		l.observe(Outcome{Overloaded: true}, true, now.Add(c.after))
		if got := l.requests(); got != c.want {
			t.Errorf("after %v the limit is %d, not %d", c.after, got, c.want)
		}
	}
}

// A limit that was lowered grows by one in five seconds, not by one in every window.
func TestRecoveryIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{MaxInFlightPerNode: 8})
		s := &server{service: 20 * time.Millisecond, cores: 100}
		defer read(t, th, s, 20)()
		time.Sleep(10 * time.Second)
		s.refuse.Store(true)
		time.Sleep(5 * time.Second)
		s.refuse.Store(false)
		for _, c := range []struct{ least, most int }{{1, 2}, {2, 3}, {3, 4}, {4, 5}} {
			time.Sleep(recovery)
			if got := limitOf(th); got < c.least || got > c.most {
				t.Errorf("limit is %d, not %d to %d", got, c.least, c.most)
			}
		}
	})
}

// pages tells the limit of n pages that take so long each, one after the other.
func pages(l *limit, now *time.Time, n int, rows int64, latency time.Duration) {
	for range n {
		*now = now.Add(latency)
		l.usedUp = true
		l.observe(Outcome{Rows: rows, Latency: latency}, true, *now)
	}
}

func TestShortPagesDoNotMislead(t *testing.T) {
	now := time.Unix(1000, 0)
	l := limit{most: 4, tolerance: 2, value: 1}
	for range 400 { // most pages end a range: 20 rows, nearly all of it overhead
		pages(&l, &now, 1, 5000, 50*time.Millisecond)
		pages(&l, &now, 2, 20, 2*time.Millisecond)
	}
	pages(&l, &now, 400, 5000, 50*time.Millisecond) // then come large partitions
	if l.requests() != 4 || l.lowered {
		t.Errorf("limit is %d, with a quiet latency of %v", l.requests(), l.page(l.quiet))
	}
	// Empty pages that take long, as over tombstones, are load all the same.
	for range 40 {
		pages(&l, &now, 1, 0, 400*time.Millisecond)
		pages(&l, &now, 1, 5000, 50*time.Millisecond)
		pages(&l, &now, 1, 0, 400*time.Millisecond)
	}
	if l.requests() != 1 {
		t.Errorf("limit among slow empty pages is %d", l.requests())
	}
}

func TestPageSizeDoesNotMislead(t *testing.T) {
	now := time.Unix(1000, 0)
	l := limit{most: 4, tolerance: 2, value: 1}
	for _, rows := range []int64{5000, 500, 5000} {
		// 10 microseconds for a row and 2 ms for a page.
		pages(&l, &now, 500, rows, 2*time.Millisecond+time.Duration(rows)*10*time.Microsecond)
		if l.requests() != 4 || l.lowered {
			t.Errorf("limit with %d rows a page is %d", rows, l.requests())
		}
	}
}

// Rows that take longer for good are got used to, but only after long.
func TestSlowerNodeIsAcceptedAtLast(t *testing.T) {
	now := time.Unix(1000, 0)
	l := limit{most: 4, tolerance: 2, value: 1}
	pages(&l, &now, 500, 5000, 50*time.Millisecond)
	slow := now
	for l.requests() > 1 && now.Sub(slow) < time.Hour {
		pages(&l, &now, 1, 5000, 200*time.Millisecond)
	}
	if took := now.Sub(slow); took > 5*time.Second {
		t.Errorf("it took %v to back off", took)
	}
	for l.requests() == 1 && now.Sub(slow) < time.Hour {
		pages(&l, &now, 1, 5000, 200*time.Millisecond)
	}
	// Four times the latency is twice what is bearable: 20 min * ln 2.
	if took := now.Sub(slow); took < 13*time.Minute || took > 15*time.Minute {
		t.Errorf("it took %v to get used to it, not about 14 minutes", took)
	}
}

func TestPauseTeachesNothing(t *testing.T) {
	now := time.Unix(1000, 0)
	l := limit{most: 8, tolerance: 2, value: 1}
	pages(&l, &now, 20, 5000, 50*time.Millisecond)
	l.lower(0.1)
	quiet := l.quiet
	pages(&l, &now, 3, 5000, 300*time.Millisecond)
	now = now.Add(8 * time.Hour)
	pages(&l, &now, 8, 5000, 300*time.Millisecond)
	if l.quiet > quiet*1.02 || l.requests() != 1 {
		t.Errorf("after a pause the limit is %d, the quiet latency went from %v to %v", l.requests(), quiet, l.quiet)
	}
}

func TestLimitStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 20).Draw(t, "most")
		l := newLimit(Options{MaxInFlightPerNode: most, Fixed: rapid.Bool().Draw(t, "fixed")}.withDefaults())
		now := time.Unix(1000, 0)
		for range rapid.IntRange(0, 300).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(t, "pause")))
			l.usedUp = rapid.Bool().Draw(t, "used up")
			l.observe(Outcome{
				Rows:       rapid.Int64Range(0, 10_000).Draw(t, "rows"),
				Latency:    time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "latency")),
				Overloaded: rapid.IntRange(0, 20).Draw(t, "overloaded") == 0,
			}, rapid.Bool().Draw(t, "full"), now)
			if got := l.requests(); got < 1 || got > most || math.IsNaN(l.value) {
				t.Fatalf("limit is %v of %d", l.value, most)
			}
			if !(l.quiet >= 0) || math.IsInf(l.quiet, 0) {
				t.Fatalf("quiet latency is %v", l.quiet)
			}
		}
	})
}
