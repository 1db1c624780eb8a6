package selection

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTimestampsLikeTimePackage compares with the standard library for what both read.
func TestTimestampsLikeTimePackage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62_167_219_200, 253_402_300_799).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		at = at.In(time.FixedZone("", 60*rapid.IntRange(-18*60, 18*60).Draw(t, "minutes ahead of UTC")))
		if at.Year() < 0 || at.Year() > 9999 {
			t.Skip("year of other than four digits")
		}
		layout := rapid.SampledFrom([]string{
			"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.000-0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02",
		}).Draw(t, "layout")
		text := at.Format(layout)
		want, err := time.Parse(layout, text) // UTC where the layout has no zone
		if err != nil {
			t.Fatal(err)
		}
		got, ok := parseTimestamp(text)
		side := 0
		if want.Nanosecond()%1_000_000 != 0 {
			side = 1
		}
		if !ok || got != (bound{want.UnixMilli(), side}) {
			t.Fatalf("%s is %v, %v, want %d", text, got, ok, want.UnixMilli())
		}
	})
}

func TestTimestampTexts(t *testing.T) {
	for text, want := range map[string]bound{
		"1970-01-01": {0, 0}, "1969-12-31T23:59:59.999Z": {-1, 0}, "1969-12-31T23:59:59.9995Z": {-1, 1}, "1970-01-01T01:00+01": {0, 0},
		"1970-01-01 00:00:00.000000001": {0, 1}, "1969-12-31T14:00-10:00": {0, 0}, "-0001-01-01": {-62198755200000, 0}, "+10000-01-01T00:00Z": {253402300800000, 0},
	} {
		if got, ok := parseTimestamp(text); !ok || got != want {
			t.Errorf("%s is %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "T", "1970-01-01T", "1970-01-01 ", "1970-01-01T1", "1970-01-01T24:00", "1970-01-01T00:60", "1970-01-01T00:00:60", "1970-01-01T00:00:00.", "1970-01-01T00:00.5",
		"1970-01-01T00:00:00.1234567890", "1970-01-01T00:00+", "1970-01-01T00:00+1", "1970-01-01T00:00+19", "1970-01-01T00:00+18:30", "1970-01-01T00:00+01:60", "1970-01-01T00:00+001",
		"1970-01-01T00:00ZZ", "1970-01-01T00:00 Z", "1970-02-30T00:00", "1970-01-01t00:00", "1970-01-01Z", "now", "1970-01-01T0:000", "1970-01-01T00:0:00",
	} {
		if got, ok := parseTimestamp(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestTimesOfDay(t *testing.T) {
	for text, want := range map[string]int64{"00:00": 0, "23:59:59.999999999": 86_399_999_999_999, "01:02:03": 3_723_000_000_000, "00:00:00.5": 500_000_000, "12:30": 45_000_000_000_000} {
		if got, ok := parseClock(text); !ok || got != want {
			t.Errorf("%s is %d, %v, want %d", text, got, ok, want)
		}
	}
}
