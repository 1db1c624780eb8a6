package shape

import (
	"errors"
	"fmt"
)

// Options of shaping. The zero value is what all readers open.
type Options struct {
	UUID      UUID
	Map       Map
	Timestamp Timestamp
	NoZone    bool // timestamps without the mark that they are UTC
	Time      Time
	Unfit     Unfit

	// Partition names the columns of the partition key, for error messages.
	Partition []string
}

// UUID says how uuid and timeuuid are written.
type UUID uint8

// The ways to write a UUID.
const (
	UUIDString UUID = iota // 36 characters
	UUIDBinary             // 16 bytes
)

// Map says how maps are written.
type Map uint8

// The ways to write a map.
const (
	MapList   Map = iota // list of structs of key and value, in the order of the map
	MapNative            // map
	MapJSON              // text: a JSON object
)

// Timestamp is the unit of timestamps.
type Timestamp uint8

// The units of timestamps.
const (
	TimestampMicros Timestamp = iota
	TimestampMillis
)

// Time says how times of day are written.
type Time uint8

// The ways to write a time of day.
const (
	TimeString Time = iota // HH:MM:SS.nnnnnnnnn, which sorts as times do
	TimeNanos              // time in nanoseconds
	TimeMicros             // time in microseconds
)

// Unfit says what becomes of a value that its written type can't hold.
type Unfit uint8

// What becomes of unfit values.
const (
	UnfitFail  Unfit = iota // the write fails
	UnfitClamp              // the nearest value that fits
	UnfitNull               // null; still an error where null is not allowed
)

// Validate reports all settings that make no sense, joined.
func (o Options) Validate() error {
	var errs []error
	for _, s := range []struct {
		name       string
		value, max uint8
	}{
		{"uuid", uint8(o.UUID), uint8(UUIDBinary)},
		{"map", uint8(o.Map), uint8(MapJSON)},
		{"timestamp", uint8(o.Timestamp), uint8(TimestampMillis)},
		{"time", uint8(o.Time), uint8(TimeMicros)},
		{"unfit", uint8(o.Unfit), uint8(UnfitNull)},
	} {
		if s.value > s.max {
			errs = append(errs, fmt.Errorf("setting %s is %d, the most is %d", s.name, s.value, s.max))
		}
	}
	return errors.Join(errs...)
}
