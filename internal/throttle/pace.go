package throttle

import (
	"sync"
	"time"
)

// smoothing is the weight of the newest page in the running mean of pages:
// about the last 16 count.
const smoothing = 1.0 / 16

// credit is how much time that passed unused can be made up for. Without any,
// pages of changing size would leave a good part of a rate unused: the time that
// short ones leave over, while large ones have to wait.
const credit = time.Second

// pace spaces requests so that what they bring stays within a rate.
//
// What a request brings is known only when it has been answered. So it claims
// what pages usually bring, and the difference is settled afterwards, in either
// direction. (A token bucket as in golang.org/x/time/rate takes tokens back from
// nobody that has used them, and refuses to give out more than its burst at a
// time, which would have to be the largest page there may be.)
//
// Invariant: free is no earlier than the first claim, less the credit, plus the
// time that all claimed and settled units take at the rate.
type pace struct {
	perSecond float64 // 0 for no limit

	mu      sync.Mutex
	free    time.Time // when the next request may start; in the past, a credit
	usual   float64   // units that a request brings
	settled bool      // whether usual has been learnt
}

// newPace takes the first request to bring as much as a second allows, so that
// little starts before anything is known.
func newPace(perSecond float64) *pace { return &pace{perSecond: perSecond, usual: perSecond} }

// claim gives when a request may start, and how many units it was taken to
// bring: settle or refund gets them back. Claims start in the order of the calls.
func (p *pace) claim(now time.Time) (start time.Time, units float64) {
	if p.perSecond == 0 {
		return now, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = later(p.free, now.Add(-credit))
	start = later(p.free, now)
	p.free = p.free.Add(p.time(p.usual))
	return start, p.usual
}

// settle puts actual units in the place of those claimed.
func (p *pace) settle(claimed, actual float64) {
	if p.perSecond == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = p.free.Add(p.time(actual - claimed))
	if !p.settled {
		p.usual, p.settled = actual, true
	}
	p.usual += smoothing * (actual - p.usual)
}

// refund takes a claim back.
func (p *pace) refund(claimed float64) {
	if p.perSecond == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = p.free.Add(-p.time(claimed))
}

// time gives how long units take at the rate.
func (p *pace) time(units float64) time.Duration {
	return time.Duration(units / p.perSecond * float64(time.Second))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
