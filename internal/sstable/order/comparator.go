package order

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"manifest/internal/cqltype"
)

// Comparator returns a negative number, 0 or a positive one as a comes before
// b, is equal to it or comes after it.
type Comparator func(a, b []byte) int

// Of returns the comparator of values of a type. It is nil for counters, which
// have no order.
func Of(t *cqltype.Type) Comparator {
	switch t.Kind {
	case cqltype.Ascii, cqltype.Text, cqltype.Blob, cqltype.Date, cqltype.Time, cqltype.Inet, cqltype.Duration:
		return bytes.Compare
	case cqltype.Boolean:
		return emptyFirst(func(a, b []byte) int { return cmp.Compare(truth(a), truth(b)) })
	case cqltype.Tinyint, cqltype.Smallint, cqltype.Int, cqltype.Bigint, cqltype.Timestamp:
		return compareSigned
	case cqltype.Float:
		return emptyFirst(func(a, b []byte) int { return compareFloat(float(a), float(b)) })
	case cqltype.Double:
		return emptyFirst(func(a, b []byte) int { return compareFloat(double(a), double(b)) })
	case cqltype.Varint:
		return compareVarint
	case cqltype.Decimal:
		return emptyFirst(compareDecimal)
	case cqltype.UUID:
		return compareUUID
	case cqltype.Timeuuid:
		return TimeUUID
	case cqltype.List, cqltype.Set:
		return emptyFirst(sequence(Of(t.Elems[0])))
	case cqltype.Map:
		return emptyFirst(sequence(Of(t.Elems[0]), Of(t.Elems[1])))
	case cqltype.Tuple, cqltype.UDT:
		fields := make([]Comparator, len(t.Elems))
		for i, e := range t.Elems {
			fields[i] = Of(e)
		}
		return emptyFirst(tuple(fields))
	case cqltype.Vector:
		return vector(t)
	}
	return nil
}

// Path returns the comparator of the paths of a complex column's cells: what
// tells the elements of a collection or the fields of a UDT apart.
func Path(t *cqltype.Type) Comparator {
	switch t.Kind {
	case cqltype.List:
		return TimeUUID
	case cqltype.UDT:
		return compareSigned
	}
	return Of(t.Elems[0])
}

// Reverse returns the comparator of the descending order.
func Reverse(c Comparator) Comparator {
	return func(a, b []byte) int { return c(b, a) }
}

// emptyFirst serves comparators that expect values.
func emptyFirst(c Comparator) Comparator {
	return func(a, b []byte) int {
		if len(a) == 0 || len(b) == 0 {
			return cmp.Compare(min(len(a), 1), min(len(b), 1))
		}
		return c(a, b)
	}
}

func truth(v []byte) int { return min(int(v[0]), 1) }

// compareSigned orders big-endian numbers of the same length.
func compareSigned(a, b []byte) int {
	if len(a) == 8 && len(b) == 8 {
		return cmp.Compare(int64(binary.BigEndian.Uint64(a)), int64(binary.BigEndian.Uint64(b)))
	}
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
	}
	if c := cmp.Compare(int8(a[0]), int8(b[0])); c != 0 {
		return c
	}
	return bytes.Compare(a, b)
}

func float(v []byte) float64 {
	if len(v) != 4 {
		return 0
	}
	return float64(math.Float32frombits(binary.BigEndian.Uint32(v)))
}

func double(v []byte) float64 {
	if len(v) != 8 {
		return 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(v))
}

// compareFloat is Java's Double.compareTo: all NaN are equal and greater than
// anything else, and -0 is less than 0.
func compareFloat(a, b float64) int {
	switch aNaN, bNaN := math.IsNaN(a), math.IsNaN(b); {
	case aNaN && bNaN:
		return 0
	case aNaN:
		return 1
	case bNaN:
		return -1
	case a == 0 && b == 0:
		return cmp.Compare(signum(a), signum(b))
	}
	return cmp.Compare(a, b)
}

func signum(zero float64) int {
	if math.Signbit(zero) {
		return -1
	}
	return 1
}
