package selection

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Arrow's own compute package is no choice here: its filter knows no maps, is slower than reading the rows, and adds 20 MB to the binary.

// take returns a record of the rows in spans, which are in order. If those are all it is rec itself. The error names a column of an Arrow
// type that no CQL type maps to.
func take(mem memory.Allocator, rec arrow.Record, spans []span) (arrow.Record, error) {
	for _, f := range rec.Schema().Fields() {
		if err := checkTakable(f.Type); err != nil {
			return nil, fmt.Errorf("select rows of column %q: %w", f.Name, err)
		}
	}
	n := rowsIn(spans)
	if int64(n) == rec.NumRows() {
		rec.Retain()
		return rec, nil
	}
	t := taker{mem}
	columns := make([]arrow.Array, rec.NumCols())
	for i, c := range rec.Columns() {
		data := t.take(c.Data(), spans, n)
		columns[i] = array.MakeFromData(data)
		data.Release()
		defer columns[i].Release()
	}
	return array.NewRecord(rec.Schema(), columns, int64(n)), nil
}

// checkTakable errs for a type that take does not know.
func checkTakable(t arrow.DataType) error {
	switch t := t.(type) {
	case *arrow.BooleanType, *arrow.StringType, *arrow.BinaryType:
		return nil
	case *arrow.ListType:
		return checkTakable(t.Elem())
	case *arrow.MapType:
		return checkTakable(t.Elem())
	case *arrow.FixedSizeListType:
		return checkTakable(t.Elem())
	case *arrow.StructType:
		for _, f := range t.Fields() {
			if err := checkTakable(f.Type); err != nil {
				return err
			}
		}
		return nil
	case *arrow.DictionaryType, *arrow.NullType:
	case arrow.FixedWidthDataType:
		return nil
	}
	return fmt.Errorf("no CQL type is held by Arrow type %s", t)
}

// taker copies rows of arrays of types that have been checked. It works on the arrays' data, whose row 0 is at their offset.
type taker struct{ mem memory.Allocator }

// take returns n rows of d, those in spans.
func (t taker) take(d arrow.ArrayData, spans []span, n int) arrow.ArrayData {
	rows := shifted(spans, d.Offset())
	valid, nulls := t.validity(d, rows, n)
	buffers := []*memory.Buffer{valid}
	var children []arrow.ArrayData
	switch dt := d.DataType().(type) {
	case *arrow.BooleanType:
		buffers = append(buffers, t.bits(d.Buffers()[1], rows, n))
	case *arrow.StringType, *arrow.BinaryType:
		offsets, elements := t.offsets(d, rows, n)
		buffers = append(buffers, offsets, t.fixed(d.Buffers()[2], 1, elements, rowsIn(elements)))
	case *arrow.ListType, *arrow.MapType:
		offsets, elements := t.offsets(d, rows, n)
		buffers = append(buffers, offsets)
		children = append(children, t.take(d.Children()[0], elements, rowsIn(elements)))
	case *arrow.FixedSizeListType:
		size := int(dt.Len())
		children = append(children, t.take(d.Children()[0], scaled(rows, size), n*size))
	case *arrow.StructType:
		for _, c := range d.Children() {
			children = append(children, t.take(c, rows, n))
		}
	case arrow.FixedWidthDataType:
		buffers = append(buffers, t.fixed(d.Buffers()[1], dt.BitWidth()/8, rows, n))
	}
	taken := array.NewData(d.DataType(), n, buffers, children, nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return taken
}

func (t taker) buffer(size int) *memory.Buffer {
	b := memory.NewResizableBuffer(t.mem)
	b.Resize(size)
	return b
}

// validity returns the bits of which rows are not NULL and how many are; no bits if none is.
func (t taker) validity(d arrow.ArrayData, rows []span, n int) (valid *memory.Buffer, nulls int) {
	if d.Buffers()[0] == nil || d.NullN() == 0 {
		return nil, 0
	}
	valid = t.bits(d.Buffers()[0], rows, n)
	return valid, n - bitutil.CountSetBits(valid.Bytes(), 0, n)
}

func (t taker) bits(src *memory.Buffer, rows []span, n int) *memory.Buffer {
	b := t.buffer(int(bitutil.BytesForBits(int64(n))))
	dst := b.Bytes()
	clear(dst)
	at := 0
	for _, s := range rows {
		if s.hi-s.lo > 8 {
			bitutil.CopyBitmap(src.Bytes(), s.lo, s.hi-s.lo, dst, at)
			at += s.hi - s.lo
			continue
		}
		for i := s.lo; i < s.hi; i++ {
			if bitutil.BitIsSet(src.Bytes(), i) {
				bitutil.SetBit(dst, at)
			}
			at++
		}
	}
	return b
}

// offsets returns the offsets of rows whose elements lie one after the other, and the spans of these in the array below.
func (t taker) offsets(d arrow.ArrayData, rows []span, n int) (*memory.Buffer, []span) {
	b := t.buffer((n + 1) * arrow.Int32SizeBytes)
	dst := arrow.Int32Traits.CastFromBytes(b.Bytes())
	dst[0] = 0
	if n == 0 { // Then src may have no offsets.
		return b, nil
	}
	src := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())
	at := 0
	for _, s := range rows {
		moved := dst[at] - src[s.lo]
		for _, end := range src[s.lo+1 : s.hi+1] {
			at++
			dst[at] = end + moved
		}
	}
	return b, between(rows, src)
}

// fixed copies values of width bytes.
func (t taker) fixed(src *memory.Buffer, width int, rows []span, n int) *memory.Buffer {
	b := t.buffer(n * width)
	if n == 0 { // Then src may be nil.
		return b
	}
	switch width {
	case 2:
		copySpans(arrow.GetData[uint16](b.Bytes()), arrow.GetData[uint16](src.Bytes()), rows)
	case 4:
		copySpans(arrow.GetData[uint32](b.Bytes()), arrow.GetData[uint32](src.Bytes()), rows)
	case 8:
		copySpans(arrow.GetData[uint64](b.Bytes()), arrow.GetData[uint64](src.Bytes()), rows)
	case 16: // Any type of 16 bytes will do.
		copySpans(arrow.GetData[decimal128.Num](b.Bytes()), arrow.GetData[decimal128.Num](src.Bytes()), rows)
	default:
		copySpans(b.Bytes(), src.Bytes(), scaled(rows, width))
	}
	return b
}

func copySpans[T any](dst, src []T, spans []span) {
	at := 0
	for _, s := range spans {
		if s.hi-s.lo == 1 { // A call to copy costs more than a value.
			dst[at] = src[s.lo]
			at++
			continue
		}
		at += copy(dst[at:], src[s.lo:s.hi])
	}
}
