package vector

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// apply replaces rows of parent, -1 for NULL, by rows of the array it returns.
func (s Step) apply(parent arrow.Array, rows []int32) (arrow.Array, error) {
	switch parent := parent.(type) {
	case *array.Struct:
		if s.Map || s.Field >= parent.NumField() {
			break
		}
		for i, row := range rows {
			if row >= 0 && parent.IsNull(int(row)) {
				rows[i] = -1
			}
		}
		return parent.Field(s.Field), nil
	case *array.Map:
		if !s.Map {
			break
		}
		is, err := s.matcher(parent.Keys())
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			rows[i] = -1
			if row < 0 || parent.IsNull(int(row)) {
				continue
			}
			for at, end := parent.ValueOffsets(int(row)); at < end; at++ {
				if is(int(at)) {
					rows[i] = int32(at)
					break
				}
			}
		}
		return parent.Items(), nil
	}
	return nil, fmt.Errorf("no such part in values of type %s", parent.DataType())
}

// matcher returns a function that tells whether the key at an index is the step's.
func (s Step) matcher(keys arrow.Array) (func(int) bool, error) {
	switch keys := keys.(type) {
	case *array.String:
		return func(i int) bool { return keys.Value(i) == s.Key }, nil
	case *array.Int8:
		return func(i int) bool { return int64(keys.Value(i)) == s.IntKey }, nil
	case *array.Int16:
		return func(i int) bool { return int64(keys.Value(i)) == s.IntKey }, nil
	case *array.Int32:
		return func(i int) bool { return int64(keys.Value(i)) == s.IntKey }, nil
	case *array.Int64:
		return func(i int) bool { return keys.Value(i) == s.IntKey }, nil
	}
	return nil, fmt.Errorf("no lookup in a map with keys of type %s", keys.DataType())
}

// check errs unless an array has the Arrow type of the kind.
func (k Kind) check(a arrow.Array) error {
	got := a.DataType()
	switch t := got.(type) {
	case *arrow.TimestampType:
		if k == Timestamp && t.Unit == arrow.Millisecond {
			return nil
		}
	case *arrow.Time64Type:
		if k == Time && t.Unit == arrow.Nanosecond {
			return nil
		}
	case *arrow.FixedSizeBinaryType:
		if kinds[k].arrow == arrow.FIXED_SIZE_BINARY && t.ByteWidth == k.Width() {
			return nil
		}
	default:
		if got.ID() == kinds[k].arrow {
			return nil
		}
	}
	return fmt.Errorf("values are of Arrow type %s, which is not that of CQL type %s", got, k)
}

// loadRange fills v with rows lo to hi of a.
func loadRange(v *Vector, kind Kind, a arrow.Array, lo, hi int) error {
	if err := kind.check(a); err != nil {
		return err
	}
	n := hi - lo
	switch a := a.(type) {
	case *array.Int64:
		v.Kind, v.Len, v.Null, v.Ints = kind, n, nil, a.Int64Values()[lo:hi]
	case *array.Float64:
		v.Kind, v.Len, v.Null, v.Floats = kind, n, nil, a.Float64Values()[lo:hi]
	case *array.Timestamp:
		v.reset(kind, n)
		widen(v.Ints, a.TimestampValues()[lo:hi])
	case *array.Date32:
		v.reset(kind, n)
		widen(v.Ints, a.Date32Values()[lo:hi])
	case *array.Int32:
		v.reset(kind, n)
		widen(v.Ints, a.Int32Values()[lo:hi])
	case *array.Int16:
		v.reset(kind, n)
		widen(v.Ints, a.Int16Values()[lo:hi])
	case *array.Int8:
		v.reset(kind, n)
		widen(v.Ints, a.Int8Values()[lo:hi])
	case *array.Time64:
		v.reset(kind, n)
		widen(v.Ints, a.Time64Values()[lo:hi])
	case *array.Boolean:
		v.reset(kind, n)
		for i := range n {
			v.Ints[i] = 0
			if a.Value(lo + i) {
				v.Ints[i] = 1
			}
		}
	case *array.Float32:
		v.reset(kind, n)
		for i, f := range a.Float32Values()[lo:hi] {
			v.Floats[i] = float64(f)
		}
	case *array.String:
		v.Kind, v.Len, v.Null = kind, n, nil
		offsets := a.ValueOffsets()[lo : hi+1]
		v.Starts, v.Ends, v.Data = offsets[:n], offsets[1:], buffer(a, 2)
	case *array.Binary:
		v.Kind, v.Len, v.Null = kind, n, nil
		offsets := a.ValueOffsets()[lo : hi+1]
		v.Starts, v.Ends, v.Data = offsets[:n], offsets[1:], buffer(a, 2)
	case *array.FixedSizeBinary:
		v.reset(kind, n)
		v.Data = buffer(a, 1)
		width := int32(kind.Width())
		at := int32(a.Offset()+lo) * width
		for i := range n {
			v.Starts[i], v.Ends[i] = at, at+width
			at += width
		}
	}
	if a.NullN() > 0 {
		for i := range n {
			if a.IsNull(lo + i) {
				v.setNull(i)
			}
		}
	}
	return nil
}

// integer is any Go type of an Arrow array of integers.
type integer interface {
	~int8 | ~int16 | ~int32 | ~int64
}

func widen[T integer](dst []int64, src []T) {
	for i, x := range src {
		dst[i] = int64(x)
	}
}

// buffer returns the bytes of a buffer of an array, nil if it has none.
func buffer(a arrow.Array, i int) []byte {
	if b := a.Data().Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

// loadRows fills v with the given rows of a, -1 for NULL.
func loadRows(v *Vector, kind Kind, a arrow.Array, rows []int32) error {
	if err := kind.check(a); err != nil {
		return err
	}
	v.reset(kind, len(rows))
	if a.Len() == 0 { // It may have no offsets. All rows are NULL.
		clear(v.Starts)
		clear(v.Ends)
		for i := range rows {
			v.setNull(i)
		}
		return nil
	}
	switch a := a.(type) {
	case *array.String:
		v.Data = buffer(a, 2)
		gatherBytes(v, a.ValueOffsets(), rows)
	case *array.Binary:
		v.Data = buffer(a, 2)
		gatherBytes(v, a.ValueOffsets(), rows)
	case *array.FixedSizeBinary:
		v.Data = buffer(a, 1)
		width := int32(kind.Width())
		for i, row := range rows {
			at := (int32(a.Offset()) + max(row, 0)) * width
			v.Starts[i], v.Ends[i] = at, at+width
		}
	case *array.Boolean:
		for i, row := range rows {
			v.Ints[i] = 0
			if row >= 0 && a.Value(int(row)) {
				v.Ints[i] = 1
			}
		}
	case *array.Int8:
		gather(v.Ints, a.Int8Values(), rows)
	case *array.Int16:
		gather(v.Ints, a.Int16Values(), rows)
	case *array.Int32:
		gather(v.Ints, a.Int32Values(), rows)
	case *array.Int64:
		gather(v.Ints, a.Int64Values(), rows)
	case *array.Date32:
		gather(v.Ints, a.Date32Values(), rows)
	case *array.Time64:
		gather(v.Ints, a.Time64Values(), rows)
	case *array.Timestamp:
		gather(v.Ints, a.TimestampValues(), rows)
	case *array.Float32:
		gather(v.Floats, a.Float32Values(), rows)
	case *array.Float64:
		gather(v.Floats, a.Float64Values(), rows)
	}
	for i, row := range rows {
		if row < 0 || a.IsNull(int(row)) {
			v.setNull(i)
		}
	}
	return nil
}

func gather[D int64 | float64, S integer | ~float32 | ~float64](dst []D, src []S, rows []int32) {
	for i, row := range rows {
		if row >= 0 {
			dst[i] = D(src[row])
		}
	}
}

func gatherBytes(v *Vector, offsets []int32, rows []int32) {
	for i, row := range rows {
		v.Starts[i], v.Ends[i] = 0, 0
		if row >= 0 {
			v.Starts[i], v.Ends[i] = offsets[row], offsets[row+1]
		}
	}
}
