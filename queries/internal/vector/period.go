package vector

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Unit is the length of a period in UTC.
type Unit string

// The units of Period. An hour starts at a timestamp, the others at a date.
const (
	Hour  Unit = "hour"
	Day   Unit = "day"
	Month Unit = "month"
	Year  Unit = "year"
)

const (
	hourMillis = 3_600_000
	dayMillis  = 24 * hourMillis
)

// Period adds the start of the period in which a timestamp, a timeuuid or a date lies; ok is false for any other kind, and for the hour
// of a date.
func (p *Program) Period(in Slot, unit Unit) (slot Slot, ok bool) {
	switch p.Kind(in) {
	case TimeUUID:
		in = p.derive("timestamp", Timestamp, timeOfUUID, in)
	case Timestamp:
	case Date:
		if unit == Day {
			return in, true
		}
		if unit == Hour {
			return 0, false
		}
	default:
		return 0, false
	}
	if unit == Hour {
		return p.derive("hour", Timestamp, startOfHour, in), true
	}
	if p.Kind(in) == Timestamp {
		in = p.derive("day", Date, dayOf, in)
	}
	switch unit {
	case Month:
		in = p.derive("month", Date, startOf(func(y, m int64) (int64, int64) { return y, m }), in)
	case Year:
		in = p.derive("year", Date, startOf(func(y, _ int64) (int64, int64) { return y, 1 }), in)
	}
	return in, true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// timeOfUUID takes the 60-bit count of 100 ns since 1582-10-15 out of version 1 UUIDs (RFC 9562, 5.1).
func timeOfUUID(out *Vector, in []*Vector) error {
	const gregorianTo1970 = 0x01b21dd213814000
	src := in[0]
	out.reset(Timestamp, src.Len)
	out.shareNull(src)
	for i := range src.Len {
		u := src.Bytes(i)
		low, mid, high := binary.BigEndian.Uint32(u), binary.BigEndian.Uint16(u[4:]), binary.BigEndian.Uint16(u[6:])
		ticks := int64(high&0x0fff)<<48 | int64(mid)<<32 | int64(low)
		out.Ints[i] = floorDiv(ticks-gregorianTo1970, 10_000)
	}
	return nil
}

func startOfHour(out *Vector, in []*Vector) error {
	src := in[0]
	out.reset(Timestamp, src.Len)
	out.shareNull(src)
	for i, ms := range src.Ints {
		start := floorDiv(ms, hourMillis)
		if start < math.MinInt64/hourMillis && !src.IsNull(i) {
			return fmt.Errorf("hour of %d ms: %w", ms, ErrOutOfRange)
		}
		out.Ints[i] = start * hourMillis
	}
	return nil
}

// dayOf errs for a timestamp whose day is beyond the 32 bits of a date, 5.8 million years.
func dayOf(out *Vector, in []*Vector) error {
	src := in[0]
	out.reset(Date, src.Len)
	out.shareNull(src)
	for i, ms := range src.Ints {
		day := floorDiv(ms, dayMillis)
		if day != int64(int32(day)) && !src.IsNull(i) {
			return fmt.Errorf("day of %d ms: %w", ms, ErrOutOfRange)
		}
		out.Ints[i] = day
	}
	return nil
}

// startOf returns an evaluation of the first day of the month that f picks.
func startOf(f func(year, month int64) (int64, int64)) func(*Vector, []*Vector) error {
	return func(out *Vector, in []*Vector) error {
		src := in[0]
		out.reset(Date, src.Len)
		out.shareNull(src)
		for i, day := range src.Ints {
			if src.IsNull(i) {
				continue
			}
			start := firstDay(f(civil(day)))
			if start < math.MinInt32 {
				return fmt.Errorf("start of the period of day %d: %w", day, ErrOutOfRange)
			}
			out.Ints[i] = start
		}
		return nil
	}
}

// daysToMarch0 is the days from 0000-03-01 to 1970-01-01 in the proleptic Gregorian calendar, of which 400 years have eraDays.
const (
	daysToMarch0 = 719_468
	eraDays      = 146_097
)

// civil returns the year and month of a day since 1970-01-01. Years are counted from March, so that the leap day is the last of a year
// (Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
func civil(day int64) (year, month int64) {
	day += daysToMarch0
	era := floorDiv(day, eraDays)
	doe := day - era*eraDays
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	year, month = yoe+era*400, (5*doy+2)/153+3
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month
}

// firstDay returns the first day of a month, in days since 1970-01-01 (days_from_civil).
func firstDay(year, month int64) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	doy := (153*(month-3) + 2) / 5
	return era*eraDays + yoe*365 + yoe/4 - yoe/100 + doy - daysToMarch0
}
