package selection

import (
	"fmt"
	"time"
)

// Day is a day of UTC, counted from 1970-01-01. Its years have four digits or more; those before 1 are 0 and negative.
type Day int32

// ParseDay reads YYYY-MM-DD.
func ParseDay(s string) (Day, error) {
	day, ok := parseDate(s)
	if !ok {
		return 0, fmt.Errorf("%q is not a day, YYYY-MM-DD", s)
	}
	return Day(day), nil
}

// DayOf returns the day that a time lies in.
func DayOf(t time.Time) Day { return Day(floorDiv(t.Unix(), secondsPerDay)) }

// String returns YYYY-MM-DD, which ParseDay reads.
func (d Day) String() string {
	t := time.Unix(int64(d)*secondsPerDay, 0).UTC()
	year, sign := t.Year(), ""
	if year < 0 {
		year, sign = -year, "-"
	}
	return fmt.Sprintf("%s%04d-%02d-%02d", sign, year, t.Month(), t.Day())
}

// Days wants the rows whose operand, a date or a timestamp, lies in the days from from to to, both included; nil is no bound. An operand
// is written as in a condition: capture_time. Without bounds all rows are wanted, NULL too. The error is an *[Error] in operand.
func Days(operand string, from, to *Day) (Condition, error) {
	x, err := parseOperand(operand)
	if err != nil {
		return Condition{}, err
	}
	if x.call != "" && x.call != "day" {
		return Condition{}, &Error{Text: operand, Offset: x.offset, Reason: x.String() + " has no day"}
	}
	x.call = "day"
	j := &junction{}
	add := func(op operator, day *Day) {
		if day != nil {
			j.args = append(j.args, &comparison{op, x, literal{kind: textLiteral, text: day.String()}})
		}
	}
	add(">=", from)
	add("<=", to)
	return written(j)
}
