package shape

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export/internal/textvalue"
)

// sliceBitmap copies n bits from bit offset on.
func sliceBitmap(mem memory.Allocator, bits []byte, offset, n int) *memory.Buffer {
	out := memory.NewResizableBuffer(mem)
	out.Resize(int(bitutil.BytesForBits(int64(n))))
	bitutil.CopyBitmap(bits, offset, n, out.Bytes(), 0)
	return out
}

const uuidChars = 36

// uuidText makes strings of 36 characters of UUIDs of 16 bytes.
type uuidText struct{}

func (uuidText) convert(mem memory.Allocator, arr arrow.Array) (arrow.Array, int64, error) {
	ids := arr.(*array.FixedSizeBinary)
	n := ids.Len()
	if n > math.MaxInt32/uuidChars {
		return nil, 0, errTooLong
	}
	offsets := memory.NewResizableBuffer(mem)
	offsets.Resize(arrow.Int32Traits.BytesRequired(n + 1))
	ends := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	text := memory.NewResizableBuffer(mem)
	text.Resize((n - ids.NullN()) * uuidChars)
	dst := text.Bytes()[:0]
	ends[0] = 0
	for i := range n {
		if ids.IsValid(i) {
			dst = textvalue.AppendUUID(dst, ids.Value(i))
		}
		ends[i+1] = int32(len(dst))
	}
	return makeArray(arrow.BinaryTypes.String, n, ids.NullN(), []*memory.Buffer{validity(mem, arr), offsets, text}), 0, nil
}

// retyped gives an array another type of the same memory.
type retyped struct{ to arrow.DataType }

func (r retyped) convert(mem memory.Allocator, arr arrow.Array) (arrow.Array, int64, error) {
	d := arr.Data()
	data := array.NewData(r.to, d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset())
	defer data.Release()
	return array.MakeFromData(data), 0, nil
}

// scaled multiplies or divides numbers of 64 bits. Products out of range and
// quotients with a rest do not fit.
type scaled struct {
	to               arrow.DataType
	multiply, divide int64
	unfit            Unfit
	text             func(int64) string
}

func (s scaled) convert(mem memory.Allocator, arr arrow.Array) (arrow.Array, int64, error) {
	n := arr.Len()
	from := int64s(arr)
	values := memory.NewResizableBuffer(mem)
	values.Resize(arrow.Int64Traits.BytesRequired(n))
	to := arrow.Int64Traits.CastFromBytes(values.Bytes())
	bad := s.scale(to, from)
	valid := validity(mem, arr)
	nulls := arr.NullN()
	if !bad {
		return makeArray(s.to, n, nulls, []*memory.Buffer{valid, values}), 0, nil
	}

	// Some value did not fit; it may be one under a null, which does not matter.
	var unfit int64
	for i, v := range from {
		if s.fits(v) {
			continue
		}
		if arr.IsNull(i) {
			to[i] = 0
			continue
		}
		unfit++
		switch s.unfit {
		case UnfitFail:
			release(valid)
			values.Release()
			return nil, 0, &unfitAt{index: i, value: s.text(v), written: s.to.String()}
		case UnfitClamp:
			to[i] = s.clamp(v)
		case UnfitNull:
			to[i] = 0
			valid = clearBit(mem, valid, n, i)
			nulls++
		}
	}
	return makeArray(s.to, n, nulls, []*memory.Buffer{valid, values}), unfit, nil
}

// int64s gives the numbers of timestamps or times.
func int64s(arr arrow.Array) []int64 {
	switch a := arr.(type) {
	case *array.Timestamp:
		return arrow.Int64Traits.CastFromBytes(arrow.TimestampTraits.CastToBytes(a.TimestampValues()))
	case *array.Time64:
		return arrow.Int64Traits.CastFromBytes(arrow.Time64Traits.CastToBytes(a.Time64Values()))
	}
	panic("scaled values are timestamps or times, not " + arr.DataType().String())
}

// scale scales all values and says whether some did not fit.
func (s scaled) scale(to, from []int64) (bad bool) {
	if s.divide != 0 {
		for i, v := range from {
			to[i] = v / s.divide
			bad = bad || v%s.divide != 0
		}
		return bad
	}
	limit := math.MaxInt64 / s.multiply
	for i, v := range from {
		to[i] = v * s.multiply
		bad = bad || v > limit || v < -limit
	}
	return bad
}

func (s scaled) fits(v int64) bool {
	if s.divide != 0 {
		return v%s.divide == 0
	}
	limit := math.MaxInt64 / s.multiply
	return v <= limit && v >= -limit
}

// clamp gives the nearest value that fits: the ends of the range, or the whole
// part.
func (s scaled) clamp(v int64) int64 {
	if s.divide != 0 {
		return v / s.divide
	}
	if v < 0 {
		return -(math.MaxInt64 / s.multiply) * s.multiply
	}
	return math.MaxInt64 / s.multiply * s.multiply
}

// clearBit clears bit i of a bitmap, which may be nil for all ones, and gives
// one that is nobody else's, dropping the hold on the old.
func clearBit(mem memory.Allocator, bitmap *memory.Buffer, n, i int) *memory.Buffer {
	own := memory.NewResizableBuffer(mem)
	own.Resize(int(bitutil.BytesForBits(int64(n))))
	if bitmap == nil {
		bitutil.SetBitsTo(own.Bytes(), 0, int64(n), true)
	} else {
		bitutil.CopyBitmap(bitmap.Bytes(), 0, n, own.Bytes(), 0)
		bitmap.Release()
	}
	bitutil.ClearBit(own.Bytes(), i)
	return own
}

// textOf makes the plain text of values: of times, and of maps as JSON objects.
type textOf struct {
	shaped converter // of the value before, or nil
	text   *textvalue.Encoder
}

func (j textOf) convert(mem memory.Allocator, arr arrow.Array) (arrow.Array, int64, error) {
	var unfit int64
	if j.shaped != nil {
		shaped, n, err := j.shaped.convert(mem, arr)
		if err != nil {
			return nil, n, err
		}
		defer shaped.Release()
		arr, unfit = shaped, n
	}
	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.Reserve(arr.Len())
	var buf []byte
	for i := range arr.Len() {
		if arr.IsNull(i) {
			b.AppendNull()
			continue
		}
		buf = j.text.AppendPlain(buf[:0], arr, i)
		if b.DataLen()+len(buf) > math.MaxInt32 {
			return nil, unfit, errTooLong
		}
		b.BinaryBuilder.Append(buf)
	}
	return b.NewArray(), unfit, nil
}
