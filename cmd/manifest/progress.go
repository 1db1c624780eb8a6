package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"manifest/scan"
	"manifest/tokenrange"
)

// plainInterval is the time between two lines of plain progress.
const plainInterval = 10 * time.Second

// progress shows how far a run is: by token space, since that is what is
// known exactly; rows are counted, never estimated.
type progress struct {
	table   string
	asked   float64 // fraction of the ring that the plan covers
	ring    tokenrange.Range
	started time.Time

	mu      sync.Mutex
	rows    int64 // of committed splits and of those being read
	covered float64
	splits  int
	failed  int
}

func newProgress(table string, plan tokenrange.Plan, ring tokenrange.Range) *progress {
	p := &progress{table: table, ring: ring, started: time.Now()}
	for _, s := range plan.Splits {
		p.asked += s.Range.Fraction(ring)
	}
	return p
}

// events are what the progress listens to.
func (p *progress) events() scan.Events {
	return scan.Events{
		RecordRead: func(i scan.RecordInfo) {
			p.mu.Lock()
			p.rows += i.Rows
			p.mu.Unlock()
		},
		SplitCommitted: func(r scan.Receipt) {
			p.mu.Lock()
			p.covered += r.Range.Fraction(p.ring)
			p.splits++
			p.mu.Unlock()
		},
		SplitFailed: func(f scan.FailureInfo) {
			p.mu.Lock()
			p.rows -= f.RowsDropped
			p.failed++
			p.mu.Unlock()
		},
		ReadOutrun: func(o scan.OutrunInfo) {
			p.mu.Lock()
			p.rows -= o.RowsDropped
			p.mu.Unlock()
		},
	}
}

// share is the part of the asked token space that is committed, 0 to 1.
func (p *progress) share() float64 {
	if p.asked == 0 {
		return 1
	}
	return min(1, p.covered/p.asked)
}

// whole is what the share is a part of.
func (p *progress) whole() string {
	if p.asked < 0.999999 { // of a sum of fractions
		return "what is wanted"
	}
	return "the ring"
}

// line is the progress in one line.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed := time.Since(p.started)
	share := p.share()
	s := fmt.Sprintf("%s: %.1f %% of %s, %d rows, %.0f rows/s", p.table, share*100, p.whole(), p.rows, float64(p.rows)/max(elapsed.Seconds(), 1e-3))
	if share > 0 && share < 1 {
		s += fmt.Sprintf(", %s left", time.Duration(float64(elapsed)*(1-share)/share).Round(time.Second))
	}
	if p.failed > 0 {
		s += fmt.Sprintf(", %d reads failed and were tried again", p.failed)
	}
	return s
}

// show begins to show the progress on w and returns what ends it. mode is
// auto, plain or none; auto draws a bar on a terminal and is plain elsewhere.
func (p *progress) show(w io.Writer, mode string) (stop func()) {
	if mode == "auto" {
		mode = "plain"
		if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			mode = "bar"
		}
	}
	switch mode {
	case "bar":
		return p.bar(w)
	case "plain":
		return p.plain(w)
	default:
		return func() {}
	}
}

// every calls tick until the returned function is called, and once more then.
func every(interval time.Duration, tick func()) (stop func()) {
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				tick()
			case <-done:
				tick()
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

func (p *progress) plain(w io.Writer) (stop func()) {
	return every(plainInterval, func() { fmt.Fprintln(w, p.line()) })
}

func (p *progress) bar(w io.Writer) (stop func()) {
	const steps = 10_000
	bars := mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(150*time.Millisecond))
	bar := bars.AddBar(steps, mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.line() })))
	stopTicks := every(100*time.Millisecond, func() {
		p.mu.Lock()
		share := p.share()
		p.mu.Unlock()
		if share < 1 { // the bar ends itself when it is full
			bar.SetCurrent(int64(share * steps))
		}
	})
	return func() {
		stopTicks()
		p.mu.Lock()
		complete := p.share() >= 1
		p.mu.Unlock()
		if complete {
			bar.SetCurrent(steps)
		} else {
			bar.Abort(false)
		}
		bars.Wait()
	}
}
