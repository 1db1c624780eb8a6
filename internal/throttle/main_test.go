package throttle

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newThrottle(t testing.TB, opts Options) *Throttle {
	t.Helper()
	th, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// server is a model of a node: it has so many cores, and what is asked of it
// beyond them makes all of it slower in proportion.
type server struct {
	service    time.Duration // of a page, when quiet
	cores      float64
	foreground atomic.Int64 // requests of others
	refuse     atomic.Bool

	own  atomic.Int64
	most atomic.Int64 // own at a time
}

// page serves a page.
func (s *server) page() Outcome {
	own := s.own.Add(1)
	defer s.own.Add(-1)
	for seen := s.most.Load(); own > seen && !s.most.CompareAndSwap(seen, own); seen = s.most.Load() {
	}
	if s.refuse.Load() {
		time.Sleep(s.service)
		return Outcome{Overloaded: true}
	}
	busy := float64(own+s.foreground.Load()) / s.cores
	latency := time.Duration(float64(s.service) * max(1, busy))
	time.Sleep(latency)
	return Outcome{Rows: 5000, Bytes: 500_000, Latency: latency}
}

// read asks the server for pages, so many at a time, until stop is called.
// The caller is in a synctest bubble.
func read(t *testing.T, th *Throttle, s *server, workers int) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				release, err := th.Acquire(ctx, "n1")
				if err != nil {
					return
				}
				release(s.page())
			}
		})
	}
	return func() { cancel(); all.Wait() }
}
