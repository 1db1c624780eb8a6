package queries

import (
	"cmp"
	"fmt"
	"slices"

	"manifest/queries/internal/expr"
	"manifest/queries/internal/vector"
)

// Role is what a table is for, whatever it is called.
type Role string

// The roles, named as the tables are by default.
const (
	ImageMetadata Role = "image_metadata"
	DeviceDaily   Role = "device_daily_images"
	TagIndex      Role = "tag_image_index"
	ReviewStatus  Role = "image_review_status"
)

// Tables are the names of the tables that have the roles. An empty name is that of the role.
type Tables struct{ ImageMetadata, DeviceDaily, TagIndex, ReviewStatus string }

// Of returns the name of the table of a role.
func (t Tables) Of(r Role) string {
	name := map[Role]string{ImageMetadata: t.ImageMetadata, DeviceDaily: t.DeviceDaily, TagIndex: t.TagIndex, ReviewStatus: t.ReviewStatus}[r]
	return cmp.Or(name, string(r))
}

// Mapping says where the named statistics find what they need: in expressions of the language of [Spec.By], which may name another
// column, in double quotes if its name is not in lower case, or a part of one. An empty one is the default in its comment.
type Mapping struct {
	Metadata MetadataMapping
	Device   DeviceMapping
	Tag      TagMapping
}

// MetadataMapping is for the table of the role ImageMetadata.
type MetadataMapping struct {
	CaptureTime string // capture_time
	UploadTime  string // upload_time
	Width       string // width
	Height      string // height
	Region      string // attributes['region']
}

// DeviceMapping is for the table of the role DeviceDaily.
type DeviceMapping struct {
	Device      string // device_id
	Day         string // day_bucket
	CaptureTime string // capture_time
	ContentHash string // content_hash
}

// TagMapping is for the table of the role TagIndex.
type TagMapping struct {
	Tag    string // tag
	Day    string // day_bucket
	Image  string // image_id
	Device string // device_id
}

func (m Mapping) withDefaults() Mapping {
	for _, d := range []struct {
		field *string
		value string
	}{
		{&m.Metadata.CaptureTime, "capture_time"}, {&m.Metadata.UploadTime, "upload_time"}, {&m.Metadata.Width, "width"},
		{&m.Metadata.Height, "height"}, {&m.Metadata.Region, "attributes['region']"},
		{&m.Device.Device, "device_id"}, {&m.Device.Day, "day_bucket"}, {&m.Device.CaptureTime, "capture_time"},
		{&m.Device.ContentHash, "content_hash"},
		{&m.Tag.Tag, "tag"}, {&m.Tag.Day, "day_bucket"}, {&m.Tag.Image, "image_id"}, {&m.Tag.Device, "device_id"},
	} {
		*d.field = cmp.Or(*d.field, d.value)
	}
	return m
}

// Statistic is a query that has a name.
type Statistic struct {
	Name string
	Doc  string // one line
	Role Role   // of the table whose rows it takes

	compile func(r *resolver, name string, o NamedOptions) (*Query, error)
}

var statistics = []Statistic{
	{"device-day", "images, different contents, first and last capture of every device and day", DeviceDaily, deviceDay},
	{"region-day", "images of every region and day", ImageMetadata, regionDay},
	{"tags", "images and devices of every tag and day", TagIndex, tags},
	{"tag-pairs", "the pairs of tags that most images of a day have", TagIndex, tagPairs},
	{"image-sizes", "images of every width and height, histograms and quantiles of size and shape, by day", ImageMetadata, imageSizes},
	{"uploads", "the delay from capture to upload: histogram and quantiles by day, missing and negative ones counted", ImageMetadata, uploads},
}

// Statistics returns the named statistics, in the order in which to list them.
func Statistics() []Statistic { return slices.Clone(statistics) }

// Lookup returns the statistic of a name. The error wraps [ErrUnknownQuery].
func Lookup(name string) (Statistic, error) {
	i := slices.IndexFunc(statistics, func(s Statistic) bool { return s.Name == name })
	if i < 0 {
		return Statistic{}, fmt.Errorf("%q: %w", name, ErrUnknownQuery)
	}
	return statistics[i], nil
}

// NamedOptions are what can be said about the named statistics.
type NamedOptions struct {
	Mapping Mapping
	// TopPairs is how many pairs of a day tag-pairs lists. 0 means 1,000, which a person does not read to the end.
	TopPairs int
}

func (o NamedOptions) withDefaults() NamedOptions {
	o.Mapping = o.Mapping.withDefaults()
	o.TopPairs = cmp.Or(o.TopPairs, 1000)
	return o
}

// Compile checks the statistic against the table that has its role. Errors are those of [Compile].
//
// The result tables are by day and have these columns, in the order of their rows:
//
//	device-day            day, device_id, images, content_hashes, first_capture, last_capture
//	region-day            day, region, images
//	tags                  day, tag, images, devices
//	tag-pairs             day, rank, tag_a, tag_b, images, pairs
//	image-sizes           day, dimension, lo, hi, images
//	image-size-quantiles  day, dimension, p, value, images
//	uploads               day, kind, lo_ms, hi_ms, images
//	upload-quantiles      day, p, delay_ms, images
//
// day is a DATE, NULL where the time is; counts are BIGINT, times TIMESTAMP in UTC without a zone. content_hashes and devices are exact up
// to 2,048, beyond that estimates with a standard error of 0.8 %.
//
// tag-pairs lists the pairs with the most images, those with the same number in the order of their tags; tag_a is before tag_b, and pairs
// is how many there are that day, listed or not.
//
// The dimensions of image-sizes are megapixels, aspect (width / height), width and height. A row counts the images from lo up to below hi;
// the hi of the last bucket is NULL. Width and height have a row for every value. Where a value is missing, or for megapixels and aspect a
// side is not above 0, lo and hi are NULL. The quantiles p (0.01 to 0.99) of width and height are exact, others within 1 %; images is the
// number of values. For a day without a value there are no rows.
//
// The kind of uploads is missing where a time is, negative where the upload is before the capture, and delay otherwise; each image is in
// one row of its day of capture.
func (s Statistic) Compile(table Table, o NamedOptions) (*Query, error) {
	if o.TopPairs < 0 {
		return nil, fmt.Errorf("compile %s: list of %d pairs", s.Name, o.TopPairs)
	}
	q, err := s.compile(newResolver(table), s.Name, o.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", s.Name, err)
	}
	return q, nil
}

// text adds an expression in the language of Spec.By.
func (r *resolver) text(text string) (vector.Slot, error) {
	keys, err := expr.ParseBy(text)
	if err != nil {
		return 0, err
	}
	if len(keys) != 1 {
		return 0, &SyntaxError{Text: text, Offset: len(text), Reason: fmt.Sprintf("expected one expression, found %d", len(keys))}
	}
	return r.slot(keys[0].Expr)
}

// day adds the day of a date, a timestamp or a timeuuid.
func (r *resolver) day(text string) (vector.Slot, error) {
	slot, err := r.text(text)
	if err != nil {
		return 0, err
	}
	day, ok := r.program.Period(slot, vector.Day)
	if !ok {
		return 0, fmt.Errorf("day of %s of type %s: %w", text, r.program.Kind(slot), ErrType)
	}
	return day, nil
}

// integer adds an integer.
func (r *resolver) integer(text string) (vector.Slot, error) {
	slot, err := r.text(text)
	if err != nil {
		return 0, err
	}
	if kind := r.program.Kind(slot); kind < vector.Int8 || kind > vector.Int64 {
		return 0, fmt.Errorf("%s of type %s is no integer: %w", text, kind, ErrType)
	}
	return slot, nil
}

// groupedByDay compiles groupings of one table by a day and one more key, with aggregates in the language of Spec.Agg.
func (r *resolver) groupedByDay(name, day, key, as, aggregates string) (*Query, error) {
	g := grouping{rows: 1}
	slot, err := r.day(day)
	if err != nil {
		return nil, err
	}
	g.addKey("day", slot)
	g.fields = append(g.fields, keyField("day", vector.Date, 0))
	if slot, err = r.text(key); err != nil {
		return nil, err
	}
	g.addKey(as, slot)
	g.fields = append(g.fields, keyField(as, r.program.Kind(slot), 1))
	aggs, err := expr.ParseAgg(aggregates)
	if err != nil {
		return nil, err
	}
	for _, a := range aggs {
		if err := r.addAgg(&g, a); err != nil {
			return nil, err
		}
	}
	t, err := newResultTable(name, true, g.fields)
	if err != nil {
		return nil, err
	}
	return newQuery(name, r, fmt.Sprintf("by %s, %s agg %s", day, key, aggregates), []ResultTable{t}, []grouping{g}), nil
}

func (g *grouping) addKey(name string, slot vector.Slot) {
	g.keys, g.names = append(g.keys, slot), append(g.names, name)
}

func deviceDay(r *resolver, name string, o NamedOptions) (*Query, error) {
	m := o.Mapping.Device
	return r.groupedByDay(name, m.Day, m.Device, "device_id", fmt.Sprintf(
		"count as images, distinct(%s) as content_hashes, min(%s) as first_capture, max(%s) as last_capture", m.ContentHash, m.CaptureTime, m.CaptureTime))
}

func regionDay(r *resolver, name string, o NamedOptions) (*Query, error) {
	m := o.Mapping.Metadata
	return r.groupedByDay(name, m.CaptureTime, m.Region, "region", "count as images")
}

func tags(r *resolver, name string, o NamedOptions) (*Query, error) {
	m := o.Mapping.Tag
	return r.groupedByDay(name, m.Day, m.Tag, "tag", fmt.Sprintf("count as images, distinct(%s) as devices", m.Device))
}
