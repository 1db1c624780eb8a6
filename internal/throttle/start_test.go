package throttle

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestStartOnAQuietNodeIsQuick(t *testing.T) {
	for _, service := range []time.Duration{2 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			th := newThrottle(t, Options{MaxInFlightPerNode: 8})
			s := &server{service: service, cores: 16}
			defer read(t, th, s, 8)()
			time.Sleep(90 * time.Millisecond)
			if got := limitOf(th); got != 1 {
				t.Errorf("limit after 90 ms of %v pages is %d, not 1", service, got)
			}
			// A page that does not count, 8 at 1 in flight, 8 at 2 and 9 at 4, but
			// 100 ms of each; and each time what was under way.
			least := startTime + service
			time.Sleep(max(9*service, least) + max(5*service, least) + max(4*service, least) - 90*time.Millisecond)
			synctest.Wait()
			if got := s.own.Load(); got != 8 || limitOf(th) != 8 {
				t.Errorf("limit is %d, %d of 8 pages of %v in flight", limitOf(th), got, service)
			}
		})
	}
}

// Doubling goes too far at most once, and for little longer than it takes to
// see it: the pages that were under way, and two rounds at the new limit.
func TestStartDoesNotPushANode(t *testing.T) {
	for _, service := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond} {
		for _, c := range []struct {
			cores      float64
			foreground int64
			bears      int
		}{
			// What a node bears is that all take twice what they took with one page of ours.
			{cores: 1, foreground: 0, bears: 2},
			{cores: 4, foreground: 0, bears: 8},
			{cores: 4, foreground: 2, bears: 6},
			{cores: 4, foreground: 3, bears: 5},
			{cores: 4, foreground: 6, bears: 8},
			{cores: 2, foreground: 9, bears: 11},
		} {
			t.Run(fmt.Sprintf("%v, %v cores, %d of others", service, c.cores, c.foreground), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					th := newThrottle(t, Options{MaxInFlightPerNode: 64})
					s := &server{service: service, cores: c.cores}
					s.foreground.Store(c.foreground)
					defer read(t, th, s, 100)()

					var beyond time.Duration
					for range 30_000 {
						time.Sleep(time.Millisecond)
						if limitOf(th) > c.bears+1 {
							beyond += time.Millisecond
						}
					}
					if got := s.most.Load(); got > 2*int64(c.bears) {
						t.Errorf("%d were in flight to a node that bears %d", got, c.bears)
					}
					slowest := time.Duration(float64(service) * float64(2*int64(c.bears)+c.foreground) / c.cores)
					if most := max(startTime, 3*slowest); beyond > most+slowest {
						t.Errorf("more than it bears was asked of it for %v, which is more than %v", beyond, most)
					}
				})
			})
		}
	}
}

// Between what was borne and what was too much, the limit is found by steps of
// one, in half a second each.
func TestStartIsFollowedBySteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{MaxInFlightPerNode: 64})
		s := &server{service: 20 * time.Millisecond, cores: 7} // bears 14: 8 is borne, 16 is not
		defer read(t, th, s, 100)()
		time.Sleep(time.Second)
		if got := limitOf(th); got < 8 || got > 9 {
			t.Errorf("limit after a second is %d, not 8 or 9", got)
		}
		time.Sleep(3 * time.Second)
		if got := limitOf(th); got < 13 || got > 15 {
			t.Errorf("limit after four seconds is %d, not about 14", got)
		}
	})
}

// pair is a page of a node that another replica helps to read.
func pair(a, b *server) Outcome {
	var one, other Outcome
	var both sync.WaitGroup
	both.Go(func() { one = a.page() })
	both.Go(func() { other = b.page() })
	both.Wait()
	one.Latency = max(one.Latency, other.Latency)
	return one
}

// What is asked of one node burdens others, whose limits double at the same time.
func TestStartDoesNotPushReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{MaxInFlightPerNode: 64})
		nodes := make([]*server, 6)
		for i := range nodes {
			nodes[i] = &server{service: time.Duration(10+3*i) * time.Millisecond, cores: 8}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for worker := range 400 {
			all.Go(func() {
				for i := worker; ; i++ {
					at := i % len(nodes)
					release, err := th.Acquire(ctx, fmt.Sprint(at))
					if err != nil {
						return
					}
					release(pair(nodes[at], nodes[(at+1)%len(nodes)]))
				}
			})
		}
		time.Sleep(30 * time.Second)
		cancel()
		all.Wait()
		for i, s := range nodes {
			if got := s.most.Load(); got > 2*16 { // 8 cores, twice the quiet latency
				t.Errorf("node %d, which bears 16, had %d in flight", i, got)
			}
		}
	})
}

// A node that stands still for a moment, for all that is in flight, is not one
// that is asked for too much.
func TestStartForgivesAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{MaxInFlightPerNode: 32})
		s := &server{service: 20 * time.Millisecond, cores: 100}
		var pausedUntil atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				for {
					release, err := th.Acquire(ctx, "n1")
					if err != nil {
						return
					}
					o := s.page()
					rest := time.Until(time.Unix(0, pausedUntil.Load()))
					time.Sleep(rest)
					o.Latency += max(0, rest)
					release(o)
				}
			})
		}
		synctest.Wait()
		for _, at := range []int{2, 4, 8, 16, 32} {
			for limitOf(th) < at {
				time.Sleep(time.Millisecond)
			}
			pausedUntil.Store(time.Now().Add(110 * time.Millisecond).UnixNano())
			time.Sleep(200 * time.Millisecond)
			if got := limitOf(th); got < at {
				t.Fatalf("limit after a pause at %d is %d", at, got)
			}
		}
		time.Sleep(time.Second)
		if got := limitOf(th); got != 32 {
			t.Errorf("limit after pauses is %d", got)
		}
		cancel()
		all.Wait()
	})
}

// A source begins with small pages, each of which is mostly overhead, and the
// first ones come from a cold node.
func TestFirstPagesAreNoMeasure(t *testing.T) {
	now := time.Unix(1000, 0)
	l := limit{most: 8, tolerance: 2, value: 1}
	pages(&l, &now, 1, 500, 300*time.Millisecond)
	pages(&l, &now, 7, 500, 20*time.Millisecond)
	for l.quiet == 0 {
		pages(&l, &now, 1, 5000, 20*time.Millisecond)
	}
	if perRow := l.quiet; perRow < 3.9e-6 || perRow > 4.1e-6 {
		t.Errorf("quiet latency of a row is %v s, not 4 µs", perRow)
	}
}

// As many in flight as may be, now and then, show nothing of a load like that.
func TestLimitThatIsSeldomUsedUpDoesNotDouble(t *testing.T) {
	now := time.Unix(1000, 0)
	l := limit{most: 64, tolerance: 2, value: 4, borne: 2, quiet: 10e-6, rows: 5000, largest: 5000, since: now}
	for i := range 100 { // 2 s, which are four windows of half a second
		now = now.Add(20 * time.Millisecond)
		l.usedUp = true
		l.observe(Outcome{Rows: 5000, Latency: 20 * time.Millisecond}, i%5 == 0, now)
	}
	if got := l.requests(); got != 8 {
		t.Errorf("limit is %d, not 4 and one for each half second", got)
	}
}
