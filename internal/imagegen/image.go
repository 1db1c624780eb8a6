package imagegen

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// ID is an image_id: the 16 bytes of a version 1 UUID (timeuuid).
type ID [16]byte

// String returns the usual form with hyphens.
func (id ID) String() string {
	var text [36]byte
	hex.Encode(text[0:8], id[0:4])
	hex.Encode(text[9:13], id[4:6])
	hex.Encode(text[14:18], id[6:8])
	hex.Encode(text[19:23], id[8:10])
	hex.Encode(text[24:36], id[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

// image is what the tables say about one image, apart from drift: numbers only, so that iterating over one table does not pay for the
// strings of the others.
type image struct {
	number   int
	device   int
	capture  int64 // ms since 1970
	delay    int64 // ms from capture to upload; negative where the camera's clock is ahead
	content  int
	tags     [4]int
	tagCount int
	status   int // index into the weights of draw: -1 is no review row
	columns  dice
}

// dice decide about single columns. They are thrown for an image after everything else, so that a column never changes what an image is.
type dice struct{ source rand.PCG }

func newDice(seed, stream uint64) dice {
	var d dice
	d.source.Seed(seed, stream*0x9e3779b97f4a7c15) // an odd factor: every stream has its own state
	return d
}

// below returns a number from 0 to n-1. The bias of the multiplication is below 2^-32 for the small n used here.
func (d *dice) below(n int) int {
	return int(uint64(uint32(d.source.Uint64()>>32)) * uint64(n) >> 32)
}

// perMille is true in n of 1000 throws.
func (d *dice) perMille(n int) bool { return d.below(1000) < n }

// unit returns a number in [0, 1).
func (d *dice) unit() float64 { return float64(d.source.Uint64()>>11) / (1 << 53) }

// skewed returns a number from 0 to n-1, of which k comes up with probability sqrt((k+1)/n) - sqrt(k/n).
func (d *dice) skewed(n int) int {
	u := d.unit()
	return min(int(float64(n)*u*u), n-1)
}

// image draws image i. Invariant: the result depends on the options and i only.
func (s *Set) image(i int) image {
	d := newDice(s.opts.Seed, uint64(i))
	m := image{number: i, device: d.skewed(s.opts.Devices)}
	day := int64(s.opts.Start) + int64(d.below(s.opts.Days))
	offset := int64(d.below(dayMS))
	switch moment := d.below(1000); {
	case moment < 4:
		offset = 0
	case moment < 8:
		offset = dayMS - 1
	case moment < 100:
		offset -= offset % 60_000 // cameras on a timer: many images with the very same time
	}
	m.capture = day*dayMS + offset
	m.delay = delay(&d)
	m.tagCount = tagCount(&d)
	for !drawTags(&d, &m) {
	}
	m.content = s.content(i)
	m.status = status(&d)
	m.columns = d
	return m
}

// delay draws how long an upload takes: seconds mostly, some hours where the network was down, and now and then less than nothing.
func delay(d *dice) int64 {
	u := d.unit()
	switch kind := d.below(1000); {
	case kind < 5:
		return -int64(u * 30_000)
	case kind < 30:
		return int64(u * 3 * dayMS)
	default:
		return int64(500 * math.Exp(4*u))
	}
}

func tagCount(d *dice) int {
	switch u := d.below(100); {
	case u < 3:
		return 0
	case u < 53:
		return 1
	case u < 83:
		return 2
	case u < 95:
		return 3
	default:
		return 4
	}
}

// drawTags draws the image's tags and reports whether they are distinct.
func drawTags(d *dice, m *image) bool {
	for k := range m.tagCount {
		m.tags[k] = d.skewed(len(tags))
		for _, earlier := range m.tags[:k] {
			if earlier == m.tags[k] {
				return false
			}
		}
	}
	return true
}

func status(d *dice) int {
	switch u := d.below(100); {
	case u < 30:
		return noReview
	case u < 80:
		return 1
	case u < 88:
		return 2
	case u < 96:
		return 0
	default:
		return 3
	}
}

const noReview = -1

var statuses = []string{StatusPending, StatusApproved, StatusRejected, StatusDeleted}

// content returns the number of the image whose content image i shows: i itself, or for a duplicate the first image with that content.
func (s *Set) content(i int) int {
	for {
		d := newDice(s.opts.Seed^0x636f6e74656e74, uint64(i)) // a stream of its own: content of an image is asked for without the image
		if i == 0 || !d.perMille(50) {
			return i
		}
		i -= 1 + d.below(min(i, 200))
	}
}

// id makes a version 1 UUID of the time of the upload and the number of the image, which alone makes it unique.
func (m *image) id() ID {
	const gregorian = 12219292800000 // ms from 1582-10-15, where UUIDs start to count, to 1970
	ticks := uint64(m.capture+m.delay+gregorian)*10_000 + uint64(m.number%10_000)
	node := uint64(m.number) * 0x9e3779b97f4b & (1<<48 - 1) // odd factor: distinct for distinct numbers
	var id ID
	binary.BigEndian.PutUint32(id[0:], uint32(ticks))
	binary.BigEndian.PutUint16(id[4:], uint16(ticks>>32))
	binary.BigEndian.PutUint16(id[6:], uint16(ticks>>48)&0x0fff|0x1000)
	binary.BigEndian.PutUint16(id[8:], uint16(m.number)&0x3fff|0x8000)
	binary.BigEndian.PutUint16(id[10:], uint16(node>>32))
	binary.BigEndian.PutUint32(id[12:], uint32(node))
	return id
}

func (m *image) day() Day { return DayOf(m.captureTime()) }

func (m *image) captureTime() time.Time { return time.UnixMilli(m.capture).UTC() }

func (m *image) key(device string) string {
	return fmt.Sprintf("raw/%s/%s/%s.jpg", device, m.captureTime().Format("2006/01/02"), m.id())
}

// hash returns the content hash, the same for all images of one content.
func (s *Set) hash(content int) string {
	d := newDice(s.opts.Seed^0x68617368, uint64(content))
	var sum [32]byte
	for at := 0; at < len(sum); at += 8 {
		binary.BigEndian.PutUint64(sum[at:], d.source.Uint64())
	}
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (s *Set) size(content int) (width, height int32) {
	d := newDice(s.opts.Seed^0x73697a65, uint64(content))
	size := sizes[d.skewed(len(sizes))]
	return size[0], size[1]
}
