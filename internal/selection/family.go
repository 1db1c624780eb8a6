package selection

import "manifest/internal/cqltype"

// family is a set of CQL types whose values compare with each other and are held alike. Zero is for types that are not compared:
// durations, which have no order, and what has parts.
type family uint8

const (
	integers   family = iota + 1 // tinyint to bigint, counter
	floats                       // float, double: -0 is 0, NaN equals NaN and is above all others
	numbers                      // varint, decimal: exact, 1.0 is 1.00
	booleans                     // false before true
	texts                        // ascii, text: by bytes, which is by code points
	blobs                        // by bytes
	dates                        // in days
	timestamps                   // in milliseconds
	timesOfDay                   // in nanoseconds
	uuids                        // by bytes
	timeuuids                    // by time, then by bytes, as Cassandra
	addresses                    // inet: by the bytes of the address, as Cassandra
)

var families = map[cqltype.Kind]family{
	cqltype.Tinyint: integers, cqltype.Smallint: integers, cqltype.Int: integers, cqltype.Bigint: integers, cqltype.Counter: integers,
	cqltype.Float: floats, cqltype.Double: floats, cqltype.Varint: numbers, cqltype.Decimal: numbers, cqltype.Boolean: booleans,
	cqltype.Ascii: texts, cqltype.Text: texts, cqltype.Blob: blobs, cqltype.Date: dates, cqltype.Timestamp: timestamps,
	cqltype.Time: timesOfDay, cqltype.UUID: uuids, cqltype.Timeuuid: timeuuids, cqltype.Inet: addresses,
}

func familyOf(t *cqltype.Type) family { return families[t.Kind] }

// form is how a vector holds values.
type form uint8

const (
	noForm form = iota // not at all: only which are NULL
	intForm
	floatForm
	stringForm
)

func (f family) form() form {
	switch f {
	case 0:
		return noForm
	case integers, booleans, dates, timestamps, timesOfDay:
		return intForm
	case floats:
		return floatForm
	}
	return stringForm
}

// order compares two values in string form: negative, 0 or positive.
type order func(a, b string) int

// order returns how values in string form compare. For all but numbers, values are equal where their bytes are.
func (f family) order() order {
	switch f {
	case numbers:
		return compareNumbers
	case timeuuids:
		return compareTimeUUIDs
	case addresses:
		return compareAddresses
	}
	return compareBytes
}
