package textvalue

import "strconv"

// appendDate appends a day counted from 1970-01-01 in the proleptic Gregorian
// calendar. The standard library's time can't hold all days of CQL. The
// algorithm is days_from_civil's inverse of Howard Hinnant,
// https://howardhinnant.github.io/date_algorithms.html.
func appendDate(dst []byte, day int64) []byte {
	day += 719_468 // days from 0000-03-01, so that leap days end a year
	era := floorDiv(day, 146_097)
	dayOfEra := day - era*146_097
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	month := (5*dayOfYear + 2) / 153
	dom := dayOfYear - (153*month+2)/5 + 1
	year := yearOfEra + era*400
	if month < 10 {
		month += 3
	} else {
		month -= 9
		year++
	}
	dst = appendYear(dst, year)
	dst = append(dst, '-')
	dst = appendPadded(dst, month, 2)
	dst = append(dst, '-')
	return appendPadded(dst, dom, 2)
}

func appendYear(dst []byte, year int64) []byte {
	if year >= 0 && year <= 9999 {
		return appendPadded(dst, year, 4)
	}
	sign := byte('+')
	if year < 0 {
		sign, year = '-', -year
	}
	return appendPadded(append(dst, sign), year, 6)
}

// appendTime appends a time of day given in units, of which a second has perSecond.
func appendTime(dst []byte, t, perSecond int64, digits int) []byte {
	seconds, fraction := t/perSecond, t%perSecond
	dst = appendPadded(dst, seconds/3600, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, seconds/60%60, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, seconds%60, 2)
	dst = append(dst, '.')
	return appendPadded(dst, fraction, digits)
}

// AppendTimestamp appends a time counted from the epoch in units, of which a
// second has perSecond. Milliseconds are shown; finer digits only where there are any.
func AppendTimestamp(dst []byte, t, perSecond int64, utc bool) []byte {
	perDay := 86_400 * perSecond
	day := floorDiv(t, perDay)
	t -= day * perDay
	dst = append(appendDate(dst, day), 'T')
	if perMilli := perSecond / 1000; t%perMilli == 0 {
		dst = appendTime(dst, t/perMilli, 1000, 3)
	} else {
		dst = appendTime(dst, t, perSecond, 6)
	}
	if utc {
		dst = append(dst, 'Z')
	}
	return dst
}

// appendPadded appends n, which is not negative, with leading zeros.
func appendPadded(dst []byte, n int64, width int) []byte {
	for limit := int64(10); width > 1; width-- {
		if n >= limit {
			limit *= 10
			continue
		}
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, n, 10)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Date gives the text of a day counted from 1970-01-01.
func Date(day int64) string { return string(appendDate(nil, day)) }
