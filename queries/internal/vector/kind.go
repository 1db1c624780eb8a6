package vector

import "github.com/apache/arrow/go/v17/arrow"

// Kind is the type of a value that can be grouped, compared or counted.
type Kind uint8

// The kinds. Those of text that is a number or an address have the order of the numbers and addresses.
const (
	Boolean Kind = iota + 1
	Int8
	Int16
	Int32
	Int64
	Date      // days since 1970-01-01
	Time      // nanoseconds since midnight
	Timestamp // milliseconds since 1970-01-01 00:00 UTC
	Float32
	Float64
	Text
	Blob
	UUID
	TimeUUID
	Inet
	Varint
	Decimal
)

// Physical is the slice of a Vector that holds values of a kind.
type Physical uint8

const (
	Ints Physical = iota
	Floats
	Bytes
)

type traits struct {
	name     string
	physical Physical
	width    int // bytes of an integer or of a blob of fixed length, else 0
	arrow    arrow.Type
}

var kinds = [...]traits{
	Boolean: {"boolean", Ints, 1, arrow.BOOL}, Int8: {"tinyint", Ints, 1, arrow.INT8}, Int16: {"smallint", Ints, 2, arrow.INT16},
	Int32: {"int", Ints, 4, arrow.INT32}, Int64: {"bigint", Ints, 8, arrow.INT64}, Date: {"date", Ints, 4, arrow.DATE32},
	Time: {"time", Ints, 8, arrow.TIME64}, Timestamp: {"timestamp", Ints, 8, arrow.TIMESTAMP}, Float32: {"float", Floats, 4, arrow.FLOAT32},
	Float64: {"double", Floats, 8, arrow.FLOAT64}, Text: {"text", Bytes, 0, arrow.STRING}, Blob: {"blob", Bytes, 0, arrow.BINARY},
	UUID: {"uuid", Bytes, 16, arrow.FIXED_SIZE_BINARY}, TimeUUID: {"timeuuid", Bytes, 16, arrow.FIXED_SIZE_BINARY},
	Inet: {"inet", Bytes, 0, arrow.STRING}, Varint: {"varint", Bytes, 0, arrow.STRING}, Decimal: {"decimal", Bytes, 0, arrow.STRING},
}

// String returns the name of the CQL type.
func (k Kind) String() string { return kinds[k].name }

// Physical says which slice of a Vector holds values of the kind.
func (k Kind) Physical() Physical { return kinds[k].physical }

// Width returns the bytes of a value of an integer kind or of a uuid, 0 where the length varies.
func (k Kind) Width() int { return kinds[k].width }

// HasContent reports whether the order of values of the kind is that of the content made by [Program.Content] rather than of their bytes.
func (k Kind) HasContent() bool { return k == TimeUUID || k == Inet || k == Varint || k == Decimal }
