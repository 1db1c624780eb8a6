package imagegen

import (
	"errors"
	"fmt"
	"time"
)

// Options describe a set. The zero value is 10,000 images of 40 devices over 30 days from 2025-05-01.
type Options struct {
	Images  int    // 10,000 by default
	Days    int    // UTC days that the images are spread over, 30 by default
	Devices int    // 40 by default
	Start   Day    // the first day; 2025-05-01 by default
	Seed    uint64 // another seed gives another set; 0 is a seed like any other
}

func (o Options) withDefaults() Options {
	if o.Images == 0 {
		o.Images = 10_000
	}
	if o.Days == 0 {
		o.Days = 30
	}
	if o.Devices == 0 {
		o.Devices = 40
	}
	if o.Start == 0 {
		o.Start = DayOf(time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC))
	}
	return o
}

// Validate reports every problem of the options at once.
func (o Options) Validate() error {
	var problems []error
	if o.Images < 0 {
		problems = append(problems, fmt.Errorf("images %d: negative", o.Images))
	}
	if o.Days < 0 {
		problems = append(problems, fmt.Errorf("days %d: negative", o.Days))
	}
	if o.Devices < 0 {
		problems = append(problems, fmt.Errorf("devices %d: negative", o.Devices))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("image set options: %w", err)
	}
	return nil
}

// Set is a set of images. It is immutable.
type Set struct{ opts Options }

// New returns the set that follows from the options.
func New(opts Options) (*Set, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	return &Set{opts: opts.withDefaults()}, nil
}

// Day is a UTC day, counted from 1970-01-01.
type Day int32

// DayOf returns the UTC day of a time.
func DayOf(t time.Time) Day {
	ms := t.UnixMilli()
	if ms < 0 {
		ms -= dayMS - 1 // round down, not towards 1970
	}
	return Day(ms / dayMS)
}

// Time returns the start of the day.
func (d Day) Time() time.Time { return time.UnixMilli(int64(d) * dayMS).UTC() }

// String returns the day as YYYY-MM-DD.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }

const dayMS = 24 * 60 * 60 * 1000
