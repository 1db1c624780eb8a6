package textvalue

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Between the years 0 and 9999 the standard library gives the same.
func TestCivilAgreesWithTime(t *testing.T) {
	first := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(first, last).Draw(t, "ms")
		at := time.UnixMilli(ms).UTC()
		if got, want := string(AppendTimestamp(nil, ms, 1000, true)), at.Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Errorf("%d ms is %s, want %s", ms, got, want)
		}
		us := ms*1000 + rapid.Int64Range(0, 999).Draw(t, "us")
		layout := "2006-01-02T15:04:05.000000"
		if us%1000 == 0 {
			layout = "2006-01-02T15:04:05.000"
		}
		if got, want := string(AppendTimestamp(nil, us, 1e6, false)), time.UnixMicro(us).UTC().Format(layout); got != want {
			t.Errorf("%d us is %s, want %s", us, got, want)
		}
		ns := rapid.Int64Range(0, 86_400e9-1).Draw(t, "ns of day")
		if got, want := string(appendTime(nil, ns, 1e9, 9)), time.Unix(0, ns).UTC().Format("15:04:05.000000000"); got != want {
			t.Errorf("%d ns is %s, want %s", ns, got, want)
		}
	})
}

// The ends of what CQL can hold. The dates are those of java.time.LocalDate
// for the least and greatest int; the year of Instant.ofEpochMilli for long.
func TestExtremeDays(t *testing.T) {
	for _, tt := range []struct {
		day  int64
		want string
	}{
		{math.MinInt32, "-5877641-06-23"},
		{math.MaxInt32, "+5881580-07-11"},
		{0, "1970-01-01"},
		{-1, "1969-12-31"},
		{11_016, "2000-02-29"},
		{-719_528, "0000-01-01"},
		{-719_529, "-000001-12-31"},
		{2_932_896, "9999-12-31"},
		{2_932_897, "+010000-01-01"},
	} {
		if got := string(appendDate(nil, tt.day)); got != tt.want {
			t.Errorf("day %d is %s, want %s", tt.day, got, tt.want)
		}
	}
	for _, tt := range []struct {
		ms   int64
		want string
	}{
		{math.MaxInt64, "+292278994-08-17T07:12:55.807Z"},
		{math.MinInt64, "-292275055-05-16T16:47:04.192Z"},
	} {
		if got := string(AppendTimestamp(nil, tt.ms, 1000, true)); got != tt.want {
			t.Errorf("%d ms is %s, want %s", tt.ms, got, tt.want)
		}
	}
}
