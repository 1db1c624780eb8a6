package throttle

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestOptionsAreChecked(t *testing.T) {
	_, err := New(Options{RowsPerSecond: -1, BytesPerSecond: math.NaN(), MaxInFlightPerNode: -1, Tolerance: 0.5})
	for _, want := range []string{"rows per second", "bytes per second", "in flight", "tolerance"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the error: %v", want, err)
		}
	}
}

func acquire(t *testing.T, th *Throttle, node string) (release func(Outcome)) {
	t.Helper()
	release, err := th.Acquire(t.Context(), node)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{MaxInFlightPerNode: 1})
		release := acquire(t, th, "a")
		served := make(chan int, 10)
		for i := range 10 {
			go func() {
				release, err := th.Acquire(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				served <- i
				release(Outcome{})
			}()
			synctest.Wait()
		}
		acquire(t, th, "b")(Outcome{}) // another node has nothing to wait for
		if got := th.Nodes(); len(got) != 2 || got[0].Waiting != 10 || got[0].InFlight != 1 || got[1].InFlight != 0 {
			t.Errorf("nodes are %+v", got)
		}
		release(Outcome{})
		release(Outcome{}) // must not make room twice
		for want := range 10 {
			if got := <-served; got != want {
				t.Fatalf("%d was served instead of %d", got, want)
			}
		}
		synctest.Wait()
		if got := th.Nodes()[0]; got.InFlight != 0 || got.Waiting != 0 {
			t.Errorf("node is %+v", got)
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	reason := errors.New("the window is over")
	for _, c := range []struct {
		name     string
		block    func(t *testing.T, th *Throttle)
		inFlight int // of node a, without the one that waits
	}{
		{"for a node", func(t *testing.T, th *Throttle) { acquire(t, th, "a") }, 1},
		{"for the rate", func(t *testing.T, th *Throttle) {
			acquire(t, th, "b")(Outcome{Rows: 100_000, Latency: time.Second})
		}, 0},
		{"for a resume", func(t *testing.T, th *Throttle) { th.Pause() }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThrottle(t, Options{MaxInFlightPerNode: 1, RowsPerSecond: 1000})
				c.block(t, th)
				free := later(th.rows.free, time.Now().Add(-credit))
				ctx, cancel := context.WithCancelCause(t.Context())
				ended := make(chan error)
				go func() { _, err := th.Acquire(ctx, "a"); ended <- err }()
				synctest.Wait()
				cancel(reason)
				if err := <-ended; !errors.Is(err, reason) {
					t.Errorf("error is %v", err)
				}
				if got := th.Nodes()[0]; got.Waiting != 0 || got.InFlight != c.inFlight {
					t.Errorf("node is %+v", got)
				}
				if claimed := later(th.rows.free, free).Sub(free); claimed != 0 {
					t.Errorf("%v of the rate are still claimed", claimed)
				}
				if _, err := th.Acquire(ctx, "c"); !errors.Is(err, reason) {
					t.Errorf("with an ended context: %v", err)
				}
			})
		})
	}
}

// A turn may come in the instant in which its waiter gives up. Whichever it
// sees, the turn is not lost.
func TestTurnThatComesTooLate(t *testing.T) {
	n := &node{limit: newLimit(Options{MaxInFlightPerNode: 1}.withDefaults())}
	for range 200 {
		if err := n.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- n.enter(ctx) }()
		for n.status().Waiting == 0 {
			runtime.Gosched()
		}
		n.mu.Lock()
		cancel()
		runtime.Gosched() // the waiter may see the one end, or both
		n.inFlight--
		n.admit()
		n.mu.Unlock()
		if err := <-ended; err == nil {
			n.leave(Outcome{}, time.Now())
		}
		if got := n.status(); got.InFlight != 0 || got.Waiting != 0 {
			t.Fatalf("node is %+v", got)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, Options{})
		s := &server{service: 50 * time.Millisecond, cores: 100}
		defer read(t, th, s, 20)()
		time.Sleep(10 * time.Second)
		for range 2 { // twice is the same as once
			th.Pause()
		}
		time.Sleep(time.Second)
		if got := s.own.Load(); got != 0 || !th.Paused() {
			t.Errorf("%d requests in flight during a pause", got)
		}
		for range 2 {
			th.Resume()
		}
		synctest.Wait()
		if got := s.own.Load(); got == 0 || th.Paused() {
			t.Errorf("%d requests in flight after a pause", got)
		}
	})
}

// Whatever pages bring, the rates hold in the long run and are made use of.
func TestRates(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SampledFrom([]float64{0, 100, 10_000, 1e6}).Draw(rt, "rows per second")
		bytes := rapid.SampledFrom([]float64{0, 100_000, 1e7}).Draw(rt, "bytes per second")
		workers := rapid.IntRange(1, 12).Draw(rt, "workers")
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 5000), 1, 20).Draw(rt, "rows of pages")
		const largest, rowBytes = 5000, 100
		const seconds = 20_000 // long, since pages are large beside the smallest rates

		var gotRows, gotBytes, requests atomic.Int64
		synctest.Test(t, func(t *testing.T) {
			th := newThrottle(t, Options{RowsPerSecond: rows, BytesPerSecond: bytes, Fixed: true, MaxInFlightPerNode: workers})
			ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
			defer cancel()
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					for requests.Load() < 3000 {
						release, err := th.Acquire(ctx, "n")
						if err != nil {
							return
						}
						n := sizes[int(requests.Add(1))%len(sizes)]
						time.Sleep(10 * time.Millisecond)
						gotRows.Add(n)
						gotBytes.Add(n * rowBytes)
						release(Outcome{Rows: n, Bytes: n * rowBytes, Latency: 10 * time.Millisecond})
					}
					cancel()
				})
			}
			started := time.Now()
			all.Wait()
			elapsed := time.Since(started).Seconds()

			slack := float64(workers * largest)
			if limit := rows*(elapsed+credit.Seconds()) + slack; rows > 0 && float64(gotRows.Load()) > limit {
				t.Errorf("%d rows in %v s are more than %v", gotRows.Load(), elapsed, limit)
			}
			if limit := bytes*(elapsed+credit.Seconds()) + slack*rowBytes; bytes > 0 && float64(gotBytes.Load()) > limit {
				t.Errorf("%d bytes in %v s are more than %v", gotBytes.Load(), elapsed, limit)
			}
			// Nor is much of the rates left unused: what bounds the run is one of
			// them or the workers themselves. The first claim of each is a guess.
			fastest := float64(requests.Load()) * 0.01 / float64(workers)
			slowest := 0.0 // what a page more or less than expected may cost
			if rows > 0 {
				fastest = max(fastest, float64(gotRows.Load())/rows)
				slowest += slack / rows
			}
			if bytes > 0 {
				fastest = max(fastest, float64(gotBytes.Load())/bytes)
				slowest += slack * rowBytes / bytes
			}
			if most := 1.2*fastest + 2*slowest + float64(workers); elapsed > most {
				t.Errorf("%d rows took %v s, which could have been %v", gotRows.Load(), elapsed, fastest)
			}
		})
	})
}

// Requests, cancellations and releases in any order: never more in flight than
// allowed, and nothing is left over at the end.
func TestNoTurnIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 4).Draw(rt, "most")
		type caller struct{ start, patience, work int }
		callers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) caller {
			return caller{rapid.IntRange(0, 20).Draw(t, "start"), rapid.IntRange(0, 10).Draw(t, "patience"), rapid.IntRange(0, 5).Draw(t, "work")}
		}), 0, 40).Draw(rt, "callers")

		synctest.Test(t, func(t *testing.T) {
			th := newThrottle(t, Options{MaxInFlightPerNode: most, Fixed: true})
			var inFlight atomic.Int64
			var all sync.WaitGroup
			for _, c := range callers {
				all.Go(func() {
					time.Sleep(time.Duration(c.start) * time.Second)
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(c.patience)*time.Second)
					defer cancel()
					asked := time.Now()
					release, err := th.Acquire(ctx, "n")
					if err != nil {
						if waited := time.Since(asked); waited != time.Duration(c.patience)*time.Second {
							t.Errorf("gave up after %v, not %d s", waited, c.patience)
						}
						return
					}
					if got := inFlight.Add(1); got > int64(most) {
						t.Errorf("%d in flight, %d allowed", got, most)
					}
					time.Sleep(time.Duration(c.work) * time.Second)
					inFlight.Add(-1)
					release(Outcome{Rows: 1, Latency: time.Second})
				})
			}
			all.Wait()
			for range most { // all turns are free again
				acquire(t, th, "n")
			}
			if got := th.Nodes()[0]; got.InFlight != most || got.Waiting != 0 {
				t.Errorf("node is %+v", got)
			}
		})
	})
}

func TestFailuresDoNotCountAsPages(t *testing.T) {
	p := newPace(1000)
	now := time.Unix(1000, 0)
	_, units := p.claim(now)
	p.settle(units, 5000)
	th := &Throttle{rows: p, bytes: newPace(0)}
	for _, o := range []Outcome{{}, {Overloaded: true, Latency: 10 * time.Second}} {
		before := p.free
		_, rows, bytes := th.claim(now)
		th.settle(o, rows, bytes)
		if !p.free.Equal(before) || p.usual != 5000 {
			t.Errorf("after %+v a page brings %v rows, %v later", o, p.usual, p.free.Sub(before))
		}
	}
}
