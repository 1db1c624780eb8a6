package selection

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// vector holds a value for each row, in the form of its family. It is a view of the record's memory where that has the right shape, and
// lives as long as the record.
type vector struct {
	ints   []int64
	floats []float64
	// Row i of a string form is data[starts[i]:ends[i]].
	data         string
	starts, ends []int32
	// null tells which rows are NULL; nil if none is. A NULL row has a value of any kind, which means nothing.
	null []bool

	// Memory for what is not a view, kept for the next record.
	ownInts            []int64
	ownFloats          []float64
	ownStarts, ownEnds []int32
	ownNull            []bool
}

// dropViews leaves only the vector's own memory.
func (v *vector) dropViews() {
	v.ints, v.floats, v.data, v.starts, v.ends, v.null = nil, nil, "", nil, nil, nil
}

func (v *vector) str(i int) string { return v.data[v.starts[i]:v.ends[i]] }

func (v *vector) isNull(i int) bool { return v.null != nil && v.null[i] }

// setUnknown makes a test of NULL unknown.
func (v *vector) setUnknown(out []truth) {
	for i, null := range v.null {
		if null {
			out[i] = unknown
		}
	}
}

// sized returns s with n elements of any value. It is not nil, which means something else to load.
func sized[T any](s []T, n int) []T {
	if s == nil || cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// load fills v with the rows of a that are listed, -1 for NULL, or with all of them if rows is nil. For noForm it finds the NULLs alone.
func (v *vector) load(f form, a arrow.Array, rows []int32) {
	v.loadNulls(a, rows)
	if f == noForm {
		return
	}
	switch a := a.(type) {
	case *array.Int8:
		loadInts(v, a.Int8Values(), rows)
	case *array.Int16:
		loadInts(v, a.Int16Values(), rows)
	case *array.Int32:
		loadInts(v, a.Int32Values(), rows)
	case *array.Int64:
		if v.ints = a.Int64Values(); rows != nil {
			loadInts(v, a.Int64Values(), rows)
		}
	case *array.Date32:
		loadInts(v, a.Date32Values(), rows)
	case *array.Timestamp:
		loadInts(v, a.TimestampValues(), rows)
	case *array.Time64:
		loadInts(v, a.Time64Values(), rows)
	case *array.Boolean:
		v.loadBooleans(a, rows)
	case *array.Float32:
		loadFloats(v, a.Float32Values(), rows)
	case *array.Float64:
		if v.floats = a.Float64Values(); rows != nil {
			loadFloats(v, a.Float64Values(), rows)
		}
	case *array.String:
		v.loadStrings(a, a.ValueOffsets, rows)
	case *array.Binary:
		v.loadStrings(a, a.ValueOffsets, rows)
	case *array.FixedSizeBinary:
		v.loadFixed(a, rows)
	}
}

func (v *vector) loadNulls(a arrow.Array, rows []int32) {
	v.null = nil
	if rows == nil {
		if a.NullN() == 0 {
			return
		}
		v.ownNull = sized(v.ownNull, a.Len())
		bits, offset := a.NullBitmapBytes(), a.Data().Offset()
		for i := range v.ownNull {
			v.ownNull[i] = bitutil.BitIsNotSet(bits, offset+i)
		}
		v.null = v.ownNull
		return
	}
	v.ownNull = sized(v.ownNull, len(rows))
	for i, row := range rows {
		null := row < 0 || a.IsNull(int(row))
		v.ownNull[i] = null
		if null {
			v.null = v.ownNull
		}
	}
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64
}

func loadInts[T integer](v *vector, values []T, rows []int32) {
	v.ownInts = gather(v.ownInts, values, rows)
	v.ints = v.ownInts
}

func loadFloats[T float32 | float64](v *vector, values []T, rows []int32) {
	v.ownFloats = gather(v.ownFloats, values, rows)
	v.floats = v.ownFloats
}

// gather converts the values of rows, or all if rows is nil, into the memory of dst.
func gather[D int64 | float64, S integer | float32 | float64](dst []D, values []S, rows []int32) []D {
	if rows == nil {
		dst = sized(dst, len(values))
		for i, x := range values {
			dst[i] = D(x)
		}
		return dst
	}
	dst = sized(dst, len(rows))
	for i, row := range rows {
		if row >= 0 {
			dst[i] = D(values[row])
		}
	}
	return dst
}

func (v *vector) loadBooleans(a *array.Boolean, rows []int32) {
	n := a.Len()
	if rows != nil {
		n = len(rows)
	}
	v.ownInts = sized(v.ownInts, n)
	v.ints = v.ownInts
	for i := range v.ints {
		row := i
		if rows != nil {
			row = int(rows[i])
		}
		v.ints[i] = 0
		if row >= 0 && a.Value(row) {
			v.ints[i] = 1
		}
	}
}

// loadStrings takes the offsets by function, as an array without rows may have none to give.
func (v *vector) loadStrings(a arrow.Array, valueOffsets func() []int32, rows []int32) {
	var offsets []int32
	if a.Len() > 0 {
		offsets = valueOffsets()
	}
	v.data = textOfBuffer(a.Data().Buffers()[2])
	if rows == nil {
		v.starts, v.ends = offsets[:a.Len()], offsets[min(1, len(offsets)):]
		return
	}
	v.own(len(rows))
	for i, row := range rows {
		v.starts[i], v.ends[i] = 0, 0
		if row >= 0 {
			v.starts[i], v.ends[i] = offsets[row], offsets[row+1]
		}
	}
}

func (v *vector) loadFixed(a *array.FixedSizeBinary, rows []int32) {
	width := int32(a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth)
	v.data = ""
	if data := textOfBuffer(a.Data().Buffers()[1]); data != "" {
		v.data = data[a.Data().Offset()*int(width):]
	}
	if rows == nil {
		v.own(a.Len())
		for i := range v.starts {
			at := int32(i) * width
			v.starts[i], v.ends[i] = at, at+width
		}
		return
	}
	v.own(len(rows))
	for i, row := range rows {
		v.starts[i], v.ends[i] = 0, 0
		if row >= 0 {
			at := row * width
			v.starts[i], v.ends[i] = at, at+width
		}
	}
}

// own makes room for n values in string form that are not where the record's offsets say.
func (v *vector) own(n int) {
	v.ownStarts, v.ownEnds = sized(v.ownStarts, n), sized(v.ownEnds, n)
	v.starts, v.ends = v.ownStarts, v.ownEnds
}

// textOfBuffer returns the bytes of a buffer as a string without a copy. Arrow's arrays are immutable, and the vector does not outlive
// the record.
func textOfBuffer(b *memory.Buffer) string {
	if b == nil || b.Len() == 0 {
		return ""
	}
	bytes := b.Bytes()
	return unsafe.String(&bytes[0], len(bytes))
}
