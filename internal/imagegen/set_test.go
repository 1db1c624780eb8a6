package imagegen

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func newSet(t testing.TB, opts Options) *Set {
	t.Helper()
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSameOptionsGiveSameRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		opts := Options{
			Images:  rapid.IntRange(1, 200).Draw(rt, "images"),
			Days:    rapid.IntRange(1, 40).Draw(rt, "days"),
			Devices: rapid.IntRange(1, 60).Draw(rt, "devices"),
			Seed:    rapid.Uint64().Draw(rt, "seed"),
		}
		longer := opts
		longer.Images += 50
		a, b := newSet(t, opts), newSet(t, longer)
		if rows := slices.Collect(b.Metadata()); !cmp.Equal(slices.Collect(a.Metadata()), rows[:min(len(rows), count(a.Metadata()))]) {
			rt.Fatal("a longer set does not start with the rows of the shorter one")
		}
		if d := cmp.Diff(a.Counts(), newSet(t, opts).Counts()); d != "" {
			rt.Fatal(d)
		}
	})
}

func TestSeedsDiffer(t *testing.T) {
	first := func(seed uint64) string {
		for row := range newSet(t, Options{Seed: seed, Images: 100}).Metadata() {
			if row.ContentHash != nil && *row.ContentHash != "" {
				return *row.ContentHash
			}
		}
		return ""
	}
	if first(0) == first(1) {
		t.Error("seeds 0 and 1 start with the same content hash")
	}
}

func TestImageIDs(t *testing.T) {
	seen := map[ID]bool{}
	// Many images on one day, so that many share a millisecond.
	for row := range newSet(t, Options{Images: 100_000, Days: 1}).Metadata() {
		if seen[row.ImageID] {
			t.Fatalf("%s twice", row.ImageID)
		}
		seen[row.ImageID] = true
		id := uuid.UUID(row.ImageID)
		if id.Version() != 1 || id.Variant() != uuid.RFC4122 || id.String() != row.ImageID.String() {
			t.Fatalf("%s is version %d, variant %s, and reads %s", row.ImageID, id.Version(), id.Variant(), id)
		}
		if sec, nsec := id.Time().UnixTime(); row.UploadTime != nil && time.Unix(sec, nsec).UnixMilli() != row.UploadTime.UnixMilli() {
			t.Fatalf("%s has time %s, upload was %s", id, time.Unix(sec, nsec).UTC(), row.UploadTime)
		}
	}
}

// TestRates checks what doc.go promises against the counts of a large set: within 4 standard deviations of a binomial.
func TestRates(t *testing.T) {
	const n = 100_000
	s := newSet(t, Options{Images: n, Devices: 25, Days: 7})
	c := s.Counts()
	near := func(what string, got, of int, rate float64) {
		t.Helper()
		want, sigma := float64(of)*rate, math.Sqrt(float64(of)*rate*(1-rate))
		if math.Abs(float64(got)-want) > 4*sigma {
			t.Errorf("%s: %d of %d, want %.0f +- %.0f", what, got, of, want, 4*sigma)
		}
	}
	near("images without metadata", n-c.Metadata, n, 0.005)
	near("images without device row", n-c.DeviceImages, n, 0.007)
	near("images without review", n-c.Reviews, n, 0.3)
	near("approved", c.ByStatus[StatusApproved], c.Reviews, 0.5/0.7*0.995)
	near("rejected", c.ByStatus[StatusRejected], c.Reviews, 0.08/0.7*0.995)
	near("pending", c.ByStatus[StatusPending], c.Reviews, 0.08/0.7*0.995)
	near("deleted", c.ByStatus[StatusDeleted], c.Reviews, 0.04/0.7*0.995)

	firstDevice, byDay := 0, map[Day]int{}
	for key, images := range c.ByDevice {
		byDay[key.Day] += images
		if key.Device == "cam-0000" {
			firstDevice += images
		}
	}
	near("images of the first of 25 devices", firstDevice, c.DeviceImages, 1.0/5)
	wantDays := []string{"2025-05-01", "2025-05-02", "2025-05-03", "2025-05-04", "2025-05-05", "2025-05-06", "2025-05-07"}
	var days []string
	for _, day := range slices.Sorted(maps.Keys(byDay)) {
		days = append(days, day.String())
		near("images on "+day.String(), byDay[day], c.DeviceImages, 1.0/7)
	}
	if d := cmp.Diff(wantDays, days); d != "" {
		t.Errorf("days: %s", d)
	}

	var hashes, nulls, first, last int
	for row := range s.Metadata() {
		if row.ContentHash == nil {
			nulls++
		} else if *row.ContentHash != "" {
			hashes++
		}
		if row.CaptureTime != nil {
			first += b2i(row.CaptureTime.UnixMilli()%dayMS == 0)
			last += b2i(row.CaptureTime.UnixMilli()%dayMS == dayMS-1)
		}
	}
	distinct := len(c.ByHash) - 1 // the empty text is one of them
	near("NULL hashes", nulls, c.Metadata, 0.02)
	// A duplicate shows only where neither its own hash nor the original's is NULL, empty or missing: 3 % of either are.
	if share := float64(hashes-distinct) / float64(hashes); math.Abs(share-0.05*0.97) > 0.003 {
		t.Errorf("duplicates: %.4f of the images, want about %.4f", share, 0.05*0.97)
	}
	if first == 0 || last == 0 {
		t.Errorf("%d images on the first and %d on the last millisecond of a day, want some", first, last)
	}
	usedTags := map[string]bool{}
	for key := range c.ByTag {
		usedTags[key.Tag] = true
	}
	if len(usedTags) != len(tags) {
		t.Errorf("%d of %d tags used", len(usedTags), len(tags))
	}
}

func TestTablesAgree(t *testing.T) {
	s := newSet(t, Options{Images: 20_000})
	metadata := map[ID]Metadata{}
	hashSize := map[string]Size{}
	for row := range s.Metadata() {
		metadata[row.ImageID] = row
		if row.ContentHash == nil || *row.ContentHash == "" || row.Width == nil || *row.Width == 0 {
			continue
		}
		size := Size{*row.Width, *row.Height}
		if other, ok := hashSize[*row.ContentHash]; ok && other != size {
			t.Fatalf("duplicates of %s have sizes %v and %v", *row.ContentHash, other, size)
		}
		hashSize[*row.ContentHash] = size
	}
	orphans, moved := 0, 0
	for row := range s.DeviceImages() {
		main, ok := metadata[row.ImageID]
		if !ok {
			orphans++
			continue
		}
		if DayOf(row.CaptureTime) != row.Day || main.CaptureTime != nil && !main.CaptureTime.Equal(row.CaptureTime) {
			t.Fatalf("%s: captured %s, in the bucket %s, metadata says %v", row.ImageID, row.CaptureTime, row.Day, main.CaptureTime)
		}
		if row.ObjectStore != nil && *row.ObjectStore == movedStore {
			moved++
			row.ObjectStore = main.ObjectStore
		}
		if d := cmp.Diff(main, Metadata{row.ImageID, row.ObjectStore, row.ObjectKey, row.ContentHash, row.Width, row.Height,
			main.CaptureTime, main.UploadTime, main.Attributes}); d != "" {
			t.Fatalf("%s: %s", row.ImageID, d)
		}
		if main.Attributes != nil && main.Attributes["device_id"] != row.DeviceID {
			t.Fatalf("%s: device %q, attributes say %q", row.ImageID, row.DeviceID, main.Attributes["device_id"])
		}
	}
	if orphans == 0 || moved == 0 {
		t.Errorf("%d images without metadata and %d moved, want some of both", orphans, moved)
	}
	type key struct {
		tag string
		id  ID
	}
	seen := map[key]bool{}
	for row := range s.TagImages() {
		if k := (key{row.Tag, row.ImageID}); seen[k] {
			t.Fatalf("image %s has the tag %q twice", row.ImageID, row.Tag)
		} else {
			seen[k] = true
		}
		if DayOf(row.CaptureTime) != row.Day {
			t.Fatalf("%s: captured %s, in the bucket %s", row.ImageID, row.CaptureTime, row.Day)
		}
	}
}

func TestNamesAreDistinctText(t *testing.T) {
	names := slices.Clone(tags)
	for device := range 500 {
		names = append(names, deviceName(device))
	}
	seen := map[string]bool{}
	for _, name := range names {
		if !utf8.ValidString(name) || seen[name] {
			t.Errorf("%q is not valid UTF-8, or there twice", name)
		}
		seen[name] = true
	}
}

func TestDayOf(t *testing.T) {
	for text, want := range map[string]Day{
		"1970-01-01T00:00:00.000Z": 0, "1970-01-01T23:59:59.999Z": 0, "1970-01-02T00:00:00.000Z": 1,
		"1969-12-31T23:59:59.999Z": -1, "1969-12-31T00:00:00.000Z": -1, "1969-12-30T23:59:59.999Z": -2,
		"2025-05-01T00:00:00.000Z": 20209, "2025-05-01T01:00:00.000+02:00": 20208,
	} {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := DayOf(when); got != want {
			t.Errorf("DayOf(%s) = %d, want %d", text, got, want)
		}
	}
}

func TestValidateReportsAll(t *testing.T) {
	_, err := New(Options{Images: -1, Days: -2, Devices: -3})
	if err == nil {
		t.Fatal("no error")
	}
	want := "image set options: images -1: negative\ndays -2: negative\ndevices -3: negative"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func BenchmarkMetadata(b *testing.B) {
	s := newSet(b, Options{Images: 1 << 40})
	left := 0
	next := func(Metadata) bool { left--; return left > 0 }
	for b.Loop() {
		left = 1000
		s.Metadata()(next)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}

func count[T any](rows func(func(T) bool)) int {
	n := 0
	for range rows {
		n++
	}
	return n
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
