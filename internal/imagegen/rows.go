package imagegen

import (
	"iter"
	"time"
)

// Names of the tables.
const (
	MetadataTable = "image_metadata"
	DeviceTable   = "device_daily_images"
	TagTable      = "tag_image_index"
	ReviewTable   = "image_review_status"
)

// Metadata is a row of image_metadata. A nil pointer is NULL; so is a nil map, as Cassandra keeps no empty ones.
type Metadata struct {
	ImageID     ID
	ObjectStore *string
	ObjectKey   *string
	ContentHash *string
	Width       *int32
	Height      *int32
	CaptureTime *time.Time // UTC, whole milliseconds
	UploadTime  *time.Time // UTC, whole milliseconds
	Attributes  map[string]string
}

// DeviceImage is a row of device_daily_images. Its key is (DeviceID, Day), CaptureTime, ImageID.
type DeviceImage struct {
	DeviceID    string
	Day         Day
	CaptureTime time.Time // UTC, whole milliseconds
	ImageID     ID
	ObjectStore *string
	ObjectKey   *string
	Width       *int32
	Height      *int32
	ContentHash *string
}

// TagImage is a row of tag_image_index. Its key is (Tag, Day), CaptureTime, ImageID.
type TagImage struct {
	Tag         string
	Day         Day
	CaptureTime time.Time // UTC, whole milliseconds
	ImageID     ID
	ObjectStore *string
	ObjectKey   *string
	DeviceID    *string
}

// Review is a row of image_review_status.
type Review struct {
	ImageID    ID
	Status     *string
	ReviewedAt *time.Time // UTC, whole milliseconds
	Reviewer   *string
}

// Metadata iterates over the rows of image_metadata, in the order of the images' numbers.
func (s *Set) Metadata() iter.Seq[Metadata] {
	return rows(s, func(m *image, yield func(Metadata) bool) bool {
		d := m.columns
		if d.perMille(5) {
			return true // drift: only the index tables know the image
		}
		return yield(s.metadata(m))
	})
}

// DeviceImages iterates over the rows of device_daily_images, in the order of the images' numbers.
func (s *Set) DeviceImages() iter.Seq[DeviceImage] {
	return rows(s, func(m *image, yield func(DeviceImage) bool) bool {
		d := newDice(s.opts.Seed^0x646576, uint64(m.number))
		if d.perMille(7) {
			return true // drift: the index row was never written
		}
		row := s.metadata(m)
		if d.perMille(3) {
			row.ObjectStore = new(movedStore)
		}
		return yield(DeviceImage{
			DeviceID: deviceName(m.device), Day: m.day(), CaptureTime: m.captureTime(), ImageID: row.ImageID,
			ObjectStore: row.ObjectStore, ObjectKey: row.ObjectKey, Width: row.Width, Height: row.Height, ContentHash: row.ContentHash,
		})
	})
}

// TagImages iterates over the rows of tag_image_index, in the order of the images' numbers; those of one image follow each other.
func (s *Set) TagImages() iter.Seq[TagImage] {
	return rows(s, func(m *image, yield func(TagImage) bool) bool {
		if m.tagCount == 0 {
			return true
		}
		row := s.metadata(m)
		d := newDice(s.opts.Seed^0x746167, uint64(m.number))
		for _, tag := range m.tags[:m.tagCount] {
			if d.perMille(7) {
				continue // drift: the index row was never written
			}
			out := TagImage{
				Tag: tags[tag], Day: m.day(), CaptureTime: m.captureTime(), ImageID: row.ImageID,
				ObjectStore: clone(row.ObjectStore), ObjectKey: clone(row.ObjectKey), DeviceID: new(deviceName(m.device)),
			}
			if d.perMille(3) {
				out.ObjectStore = new(movedStore)
			}
			if d.perMille(10) {
				out.DeviceID = nil
			}
			if !yield(out) {
				return false
			}
		}
		return true
	})
}

// Reviews iterates over the rows of image_review_status, in the order of the images' numbers. Images without a metadata row have some too.
func (s *Set) Reviews() iter.Seq[Review] {
	return rows(s, func(m *image, yield func(Review) bool) bool {
		if m.status == noReview {
			return true
		}
		d := newDice(s.opts.Seed^0x726576, uint64(m.number))
		row := Review{ImageID: m.id(), Status: new(statuses[m.status])}
		if statuses[m.status] != StatusPending {
			row.ReviewedAt = new(time.UnixMilli(m.capture + dayMS + int64(d.below(10*dayMS))).UTC())
			row.Reviewer = new(reviewers[d.below(len(reviewers))])
		}
		if d.perMille(5) {
			row.Status = nil
		}
		if d.perMille(5) {
			row.Reviewer = new("")
		}
		return yield(row)
	})
}

// rows iterates over what each makes of every image in turn, until yield or each returns false.
func rows[T any](s *Set, each func(*image, func(T) bool) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range s.opts.Images {
			if m := s.image(i); !each(&m, yield) {
				return
			}
		}
	}
}

// metadata returns what image_metadata says, or would say, about an image.
func (s *Set) metadata(m *image) Metadata {
	device := deviceName(m.device)
	width, height := s.size(m.content)
	row := Metadata{
		ImageID:     m.id(),
		ObjectStore: new(stores[m.content%len(stores)]),
		ObjectKey:   new(m.key(device)),
		ContentHash: new(s.hash(m.content)),
		Width:       &width,
		Height:      &height,
		CaptureTime: new(m.captureTime()),
		UploadTime:  new(time.UnixMilli(m.capture + m.delay).UTC()),
	}
	d := m.columns
	d.source.Uint64() // the throw that decides about the row itself
	spoil(&d, &row.ObjectStore, 10, 0)
	spoil(&d, &row.ObjectKey, 3, 3)
	spoil(&d, &row.ContentHash, 20, 5)
	if d.perMille(10) {
		row.Width, row.Height = nil, nil
	} else if d.perMille(2) {
		row.Width = new(int32)
	}
	if d.perMille(5) {
		row.CaptureTime = nil
	}
	if d.perMille(10) {
		row.UploadTime = nil
	}
	if !d.perMille(10) {
		row.Attributes = attributes(&d, m, device)
	}
	return row
}

// spoil makes a text column NULL or empty in so many of a thousand rows.
func spoil(d *dice, column **string, null, empty int) {
	switch u := d.below(1000); {
	case u < null:
		*column = nil
	case u < null+empty:
		*column = new("")
	}
}

func attributes(d *dice, m *image, device string) map[string]string {
	values := map[string]string{"device_id": device, "fmt": "jpeg"}
	switch u := d.below(1000); {
	case u < 30: // no region
	case u < 35:
		values["region"] = ""
	default:
		values["region"] = regions[m.device%len(regions)]
	}
	if d.perMille(250) {
		values["weather"] = weathers[d.below(len(weathers))]
	}
	if d.perMille(20) {
		values["备注"] = "перепроверить 🔎"
	}
	if d.perMille(5) {
		values[""] = "a key may be empty"
	}
	return values
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
