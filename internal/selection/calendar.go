package selection

import (
	"strconv"
	"strings"
	"time"
)

const (
	millisPerDay    = 24 * 60 * 60 * 1000
	nanosPerMilli   = 1_000_000
	maxYear         = 5_881_000 // within the days that a CQL date can hold, and the milliseconds that a timestamp can
	secondsPerDay   = 24 * 60 * 60
	nanosPerSecond  = 1_000_000_000
	minutesPerHour  = 60
	maxOffsetMinute = 18 * minutesPerHour // as in CQL, of a zone
)

// parseDate reads a day of the proleptic Gregorian calendar, [+-]YYYY-MM-DD with four or more digits of the year, and returns its number
// with 0 at 1970-01-01.
func parseDate(s string) (int64, bool) {
	sign := 1
	digits := s
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		if digits[0] == '-' {
			sign = -1
		}
		digits = digits[1:]
	}
	i := strings.IndexByte(digits, '-')
	if i < 4 || len(digits) != i+len("-MM-DD") || digits[i+3] != '-' {
		return 0, false
	}
	year, ok1 := parseDigits(digits[:i], maxYear)
	month, ok2 := parseDigits(digits[i+1:i+3], 12)
	day, ok3 := parseDigits(digits[i+4:], 31)
	if !ok1 || !ok2 || !ok3 {
		return 0, false
	}
	t := time.Date(sign*year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if int(t.Month()) != month || t.Day() != day {
		return 0, false // such as February 30
	}
	return floorDiv(t.Unix(), secondsPerDay), true
}

// parseTimestamp reads a date, alone or with a time behind T or a space, alone or with a zone: Z, +hh, +hhmm or +hh:mm. Without a zone it
// is UTC. It returns milliseconds since 1970, of a finer time those before it.
func parseTimestamp(s string) (bound, bool) {
	date, clock := s, ""
	if i := strings.IndexAny(s, "T "); i >= 0 {
		date, clock = s[:i], s[i+1:]
		if clock == "" {
			return bound{}, false
		}
	}
	day, ok := parseDate(date)
	if !ok {
		return bound{}, false
	}
	b := bound{at: day * millisPerDay}
	if clock == "" {
		return b, true
	}
	clock, minutes, ok := cutZone(clock)
	if !ok {
		return bound{}, false
	}
	nanos, ok := parseClock(clock)
	if !ok {
		return bound{}, false
	}
	b.at += nanos/nanosPerMilli - int64(minutes)*minutesPerHour*1000
	if nanos%nanosPerMilli != 0 {
		b.side = 1
	}
	return b, true
}

// cutZone returns a time without the zone at its end, and the minutes that the zone is ahead of UTC.
func cutZone(s string) (clock string, minutes int, ok bool) {
	if clock, ok := strings.CutSuffix(s, "Z"); ok {
		return clock, 0, true
	}
	i := strings.IndexAny(s, "+-")
	if i < 0 {
		return s, 0, true
	}
	zone := s[i+1:]
	if len(zone) == len("hh:mm") && zone[2] == ':' {
		zone = zone[:2] + zone[3:]
	}
	if len(zone) == len("hh") {
		zone += "00"
	}
	if len(zone) != len("hhmm") {
		return "", 0, false
	}
	h, ok1 := parseDigits(zone[:2], 18)
	m, ok2 := parseDigits(zone[2:], 59)
	minutes = h*minutesPerHour + m
	if s[i] == '-' {
		minutes = -minutes
	}
	return s[:i], minutes, ok1 && ok2 && -maxOffsetMinute <= minutes && minutes <= maxOffsetMinute
}

// parseClock reads a time of day, HH:MM, HH:MM:SS or HH:MM:SS.f with up to nine digits, in nanoseconds.
func parseClock(s string) (int64, bool) {
	s, fraction, dotted := strings.Cut(s, ".")
	seconds := s[min(len(s), len("HH:MM")):]
	if len(s) < len("HH:MM") || s[2] != ':' || dotted && (seconds == "" || len(fraction) < 1 || len(fraction) > 9) {
		return 0, false
	}
	if seconds == "" {
		seconds = ":00"
	}
	if len(seconds) != len(":SS") || seconds[0] != ':' {
		return 0, false
	}
	h, ok1 := parseDigits(s[:2], 23)
	m, ok2 := parseDigits(s[3:5], 59)
	sec, ok3 := parseDigits(seconds[1:], 59)
	f, ok4 := parseDigits((fraction + "000000000")[:9], nanosPerSecond)
	return int64((h*minutesPerHour+m)*60+sec)*nanosPerSecond + int64(f), ok1 && ok2 && ok3 && ok4
}

// parseDigits reads digits, at least one, whose value is at most limit.
func parseDigits(s string, limit int) (int, bool) {
	if s == "" || !allDigits(s) {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n <= limit
}

// floorDiv divides towards the past; d is positive.
func floorDiv(n, d int64) int64 {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}
