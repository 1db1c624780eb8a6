package shape

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"manifest/export/internal/parquetfile"
	"manifest/export/internal/textvalue"
)

// converter turns arrays of one type into arrays of another, element by
// element. A nil converter is for types that stay as they are.
type converter interface {
	// convert gives a new array, to be released, and how many elements did not
	// fit. An element that does not fit and can't be helped is an *unfitAt.
	convert(mem memory.Allocator, arr arrow.Array) (arrow.Array, int64, error)
}

// unfitAt is an element that does not fit, by its index in the array at hand.
type unfitAt struct {
	index          int
	value, written string
}

func (e *unfitAt) Error() string { return fmt.Sprintf("%s does not fit %s", e.value, e.written) }

// field plans the shaping of a field: its converter, and what becomes of it.
func (o Options) field(f arrow.Field) (converter, arrow.Field, error) {
	out := f
	switch t := f.Type.(type) {
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth != 16 {
			break
		}
		if o.UUID == UUIDBinary {
			out.Metadata = withKey(f.Metadata, parquetfile.ExtensionKey, parquetfile.ExtensionUUID)
			return nil, out, nil
		}
		out.Type = arrow.BinaryTypes.String
		return uuidText{}, out, nil
	case *arrow.TimestampType:
		if t.Unit != arrow.Millisecond {
			break
		}
		return o.timestamp(f)
	case *arrow.Time64Type:
		if t.Unit != arrow.Nanosecond || o.Time == TimeNanos {
			break
		}
		if o.Time == TimeMicros {
			out.Type = arrow.FixedWidthTypes.Time64us
			return scaled{to: out.Type, divide: 1000, unfit: o.unfit(f), text: nanosText}, out, nil
		}
		text, err := textvalue.NewEncoder(t, textvalue.Options{})
		out.Type = arrow.BinaryTypes.String
		return textOf{text: text}, out, err
	case *arrow.MapType:
		return o.mapField(f, t)
	case *arrow.StructType:
		return o.structField(f, t)
	case *arrow.ListType:
		elem, elemField, err := o.elem(t.ElemField())
		if err != nil {
			return nil, out, err
		}
		out.Type = arrow.ListOfField(elemField)
		if elem == nil && elemField.Name == t.ElemField().Name {
			return nil, out, nil
		}
		return listOf{to: out.Type, elem: elem}, out, nil
	case *arrow.FixedSizeListType:
		elem, elemField, err := o.elem(t.ElemField())
		if err != nil {
			return nil, out, err
		}
		out.Type = arrow.FixedSizeListOfField(t.Len(), elemField)
		if elem == nil && elemField.Name == t.ElemField().Name {
			return nil, out, nil
		}
		return fixedListOf{to: out.Type, elem: elem, size: int(t.Len())}, out, nil
	}
	return nil, out, nil
}

// elem shapes a list's element, which is always named "element".
func (o Options) elem(f arrow.Field) (converter, arrow.Field, error) {
	conv, out, err := o.field(f)
	if err != nil {
		return nil, out, fmt.Errorf("element: %w", err)
	}
	out.Name = "element"
	return conv, out, nil
}

// unfit is the setting for values of a field.
func (o Options) unfit(f arrow.Field) Unfit {
	if o.Unfit == UnfitNull && !f.Nullable {
		return UnfitFail
	}
	return o.Unfit
}

func (o Options) timestamp(f arrow.Field) (converter, arrow.Field, error) {
	zone := "UTC"
	if o.NoZone {
		zone = ""
	}
	out := f
	if o.Timestamp == TimestampMillis {
		out.Type = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: zone}
		if arrow.TypeEqual(out.Type, f.Type) {
			return nil, out, nil
		}
		return retyped{out.Type}, out, nil
	}
	out.Type = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: zone}
	return scaled{to: out.Type, multiply: 1000, unfit: o.unfit(f), text: millisText}, out, nil
}

func (o Options) structField(f arrow.Field, t *arrow.StructType) (converter, arrow.Field, error) {
	out := f
	children := make([]converter, t.NumFields())
	fields := make([]arrow.Field, t.NumFields())
	changed := false
	for i, child := range t.Fields() {
		conv, field, err := o.field(child)
		if err != nil {
			return nil, out, fmt.Errorf("field %q: %w", child.Name, err)
		}
		children[i], fields[i] = conv, field
		changed = changed || conv != nil
	}
	out.Type = arrow.StructOf(fields...)
	if !changed {
		return nil, out, nil
	}
	return structOf{to: out.Type, children: children}, out, nil
}

func (o Options) mapField(f arrow.Field, t *arrow.MapType) (converter, arrow.Field, error) {
	out := f
	keyField := t.KeyField()
	keyField.Nullable = false
	key, keyOut, err := o.field(keyField)
	if err != nil {
		return nil, out, fmt.Errorf("key: %w", err)
	}
	item, itemOut, err := o.field(t.ItemField())
	if err != nil {
		return nil, out, fmt.Errorf("value: %w", err)
	}
	keyOut.Name, itemOut.Name = "key", "value"
	native := arrow.MapOfWithMetadata(keyOut.Type, keyOut.Metadata, itemOut.Type, itemOut.Metadata)
	native.SetItemNullable(itemOut.Nullable)
	entries := structOf{to: arrow.StructOf(keyOut, itemOut), children: []converter{key, item}}
	switch o.Map {
	case MapNative:
		out.Type = native
		if key == nil && item == nil {
			return nil, out, nil
		}
		entries.to = native.Elem()
		return listOf{to: native, elem: entries}, out, nil
	case MapJSON:
		text, err := textvalue.NewEncoder(native, textvalue.Options{})
		if err != nil {
			return nil, out, err
		}
		out.Type = arrow.BinaryTypes.String
		var shaped converter
		if key != nil || item != nil {
			entries.to = native.Elem()
			shaped = listOf{to: native, elem: entries}
		}
		return textOf{shaped: shaped, text: text}, out, nil
	}
	out.Type = arrow.ListOfField(arrow.Field{Name: "element", Type: entries.to})
	return listOf{to: out.Type, elem: entries}, out, nil
}

func withKey(m arrow.Metadata, key, value string) arrow.Metadata {
	keys, values := append([]string{}, m.Keys()...), append([]string{}, m.Values()...)
	return arrow.NewMetadata(append(keys, key), append(values, value))
}

// millisText and nanosText say what an unfit value was.
func millisText(v int64) string { return string(textvalue.AppendTimestamp(nil, v, 1000, true)) }
func nanosText(v int64) string  { return fmt.Sprintf("time of day of %d ns", v) }

// validity gives the bitmap of an array as one that begins with its first
// element, to be released, or nil when there are no nulls.
func validity(mem memory.Allocator, arr arrow.Array) *memory.Buffer {
	if arr.NullN() == 0 {
		return nil
	}
	data := arr.Data()
	bitmap := data.Buffers()[0]
	if data.Offset() == 0 {
		bitmap.Retain()
		return bitmap
	}
	return sliceBitmap(mem, bitmap.Bytes(), data.Offset(), data.Len())
}

// release releases what may be nil.
func release(b *memory.Buffer) {
	if b != nil {
		b.Release()
	}
}

// makeArray makes an array of the buffers and children, and drops the caller's
// hold on them.
func makeArray(t arrow.DataType, length, nulls int, buffers []*memory.Buffer, children ...arrow.Array) arrow.Array {
	data := make([]arrow.ArrayData, len(children))
	for i, c := range children {
		data[i] = c.Data()
	}
	d := array.NewData(t, length, buffers, data, nulls, 0)
	defer d.Release()
	arr := array.MakeFromData(d)
	for _, b := range buffers {
		release(b)
	}
	for _, c := range children {
		c.Release()
	}
	return arr
}
