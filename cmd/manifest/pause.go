package main

import (
	"log/slog"
	"os"
	"os/signal"
	"sync"

	"manifest/internal/throttle"
)

// pauseSwitch pauses the reading on the first pauseSignals, goes on at the
// second, and so forth. What is under way when it pauses is still received.
type pauseSwitch struct {
	log     *slog.Logger
	signals chan os.Signal
	ended   chan struct{}

	mu       sync.Mutex
	paused   bool
	throttle *throttle.Throttle // of the table that is being read
}

// newPauseSwitch listens to the signal until close.
func newPauseSwitch(log *slog.Logger) *pauseSwitch {
	s := &pauseSwitch{log: log, signals: make(chan os.Signal, 1), ended: make(chan struct{})}
	if len(pauseSignals) > 0 { // without any, Notify would take all signals
		signal.Notify(s.signals, pauseSignals...)
	}
	go func() {
		defer close(s.ended)
		for range s.signals {
			s.toggle()
		}
	}()
	return s
}

func (s *pauseSwitch) close() {
	signal.Stop(s.signals)
	close(s.signals)
	<-s.ended
}

func (s *pauseSwitch) toggle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = !s.paused
	s.log.Warn("signal to pause or go on", "paused", s.paused)
	s.apply()
}

// attach says what is to be paused from now on.
func (s *pauseSwitch) attach(t *throttle.Throttle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.throttle = t
	s.apply()
}

// apply pauses the throttle or lets it go on; the caller holds mu.
func (s *pauseSwitch) apply() {
	switch {
	case s.throttle == nil:
	case s.paused:
		s.throttle.Pause()
	default:
		s.throttle.Resume()
	}
}
