package imagegen

// Counts are what a set must give when its tables are counted: the expectation that tests compare results with.
type Counts struct {
	Metadata     int
	DeviceImages int
	TagImages    int
	Reviews      int

	ByDevice map[DeviceDay]int // rows of device_daily_images
	ByTag    map[TagDay]int    // rows of tag_image_index
	ByRegion map[RegionDay]int // rows of image_metadata
	BySize   map[Size]int      // rows of image_metadata whose width and height are not NULL
	ByStatus map[string]int    // rows of image_review_status whose status is not NULL
	ByHash   map[string]int    // rows of image_metadata whose content_hash is not NULL; the empty one is a hash too
}

// DeviceDay is a partition of device_daily_images.
type DeviceDay struct {
	Device string
	Day    Day
}

// TagDay is a partition of tag_image_index.
type TagDay struct {
	Tag string
	Day Day
}

// RegionDay groups image_metadata by attributes['region'] and the day of capture_time. Either may be NULL: the flag is false then.
type RegionDay struct {
	Region    string
	HasRegion bool
	Day       Day
	HasDay    bool
}

// Size is an image's size in pixels.
type Size struct{ Width, Height int32 }

// Counts iterates over all four tables and counts. It takes some microseconds per image.
func (s *Set) Counts() Counts {
	c := Counts{
		ByDevice: map[DeviceDay]int{}, ByTag: map[TagDay]int{}, ByRegion: map[RegionDay]int{},
		BySize: map[Size]int{}, ByStatus: map[string]int{}, ByHash: map[string]int{},
	}
	for row := range s.Metadata() {
		c.Metadata++
		var group RegionDay
		group.Region, group.HasRegion = row.Attributes["region"]
		if row.CaptureTime != nil {
			group.Day, group.HasDay = DayOf(*row.CaptureTime), true
		}
		c.ByRegion[group]++
		if row.Width != nil && row.Height != nil {
			c.BySize[Size{*row.Width, *row.Height}]++
		}
		if row.ContentHash != nil {
			c.ByHash[*row.ContentHash]++
		}
	}
	for row := range s.DeviceImages() {
		c.DeviceImages++
		c.ByDevice[DeviceDay{row.DeviceID, row.Day}]++
	}
	for row := range s.TagImages() {
		c.TagImages++
		c.ByTag[TagDay{row.Tag, row.Day}]++
	}
	for row := range s.Reviews() {
		c.Reviews++
		if row.Status != nil {
			c.ByStatus[*row.Status]++
		}
	}
	return c
}
