package textvalue

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// ErrType reports an Arrow type that has no text.
var ErrType = errors.New("type has no text")

// Options of encoding.
type Options struct {
	// QuoteInt64 writes int64 values as JSON strings, for readers that hold
	// numbers as doubles and lose digits past 2^53.
	QuoteInt64 bool
}

// Encoder writes the values of arrays of one type. It has no state, so it may be
// used concurrently.
type Encoder struct {
	plain appendFunc // of a value that is not null
	json  appendFunc // of a value that is not null
}

// appendFunc appends element i, which is not null, of an array.
type appendFunc func(dst []byte, arr arrow.Array, i int) []byte

// NewEncoder makes the encoder of a type.
func NewEncoder(t arrow.DataType, opts Options) (*Encoder, error) {
	switch t := t.(type) {
	case *arrow.StringType:
		return &Encoder{plain: appendString, json: func(dst []byte, arr arrow.Array, i int) []byte {
			return AppendQuoted(dst, arr.(*array.String).Value(i))
		}}, nil
	case *arrow.BinaryType:
		return quoted(appendBase64), nil
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth == 16 {
			return quoted(appendUUIDValue), nil
		}
	case *arrow.BooleanType:
		return same(appendBool), nil
	case *arrow.Int8Type:
		return same(appendInt8), nil
	case *arrow.Int16Type:
		return same(appendInt16), nil
	case *arrow.Int32Type:
		return same(appendInt32), nil
	case *arrow.Int64Type:
		if opts.QuoteInt64 {
			return quoted(appendInt64), nil
		}
		return same(appendInt64), nil
	case *arrow.Float32Type:
		return &Encoder{plain: appendFloat32, json: jsonFloat(appendFloat32)}, nil
	case *arrow.Float64Type:
		return &Encoder{plain: appendFloat64, json: jsonFloat(appendFloat64)}, nil
	case *arrow.Date32Type:
		return quoted(func(dst []byte, arr arrow.Array, i int) []byte {
			return appendDate(dst, int64(arr.(*array.Date32).Value(i)))
		}), nil
	case *arrow.Time64Type:
		perSecond, digits := int64(1e9), 9
		if t.Unit == arrow.Microsecond {
			perSecond, digits = 1e6, 6
		}
		return quoted(func(dst []byte, arr arrow.Array, i int) []byte {
			return appendTime(dst, int64(arr.(*array.Time64).Value(i)), perSecond, digits)
		}), nil
	case *arrow.TimestampType:
		perSecond := int64(1e3)
		switch t.Unit {
		case arrow.Millisecond:
		case arrow.Microsecond:
			perSecond = 1e6
		default:
			return nil, fmt.Errorf("%s: %w", t, ErrType)
		}
		utc := t.TimeZone != ""
		return quoted(func(dst []byte, arr arrow.Array, i int) []byte {
			return AppendTimestamp(dst, int64(arr.(*array.Timestamp).Value(i)), perSecond, utc)
		}), nil
	case *arrow.MapType:
		return mapEncoder(t, opts)
	case *arrow.StructType:
		return structEncoder(t, opts)
	case arrow.ListLikeType:
		elem, err := NewEncoder(t.Elem(), opts)
		if err != nil {
			return nil, err
		}
		return same(func(dst []byte, arr arrow.Array, i int) []byte {
			list := arr.(array.ListLike)
			start, end := list.ValueOffsets(i)
			return elem.appendList(dst, list.ListValues(), int(start), int(end))
		}), nil
	}
	return nil, fmt.Errorf("%s: %w", t, ErrType)
}

// AppendJSON appends element i of an array as JSON.
func (e *Encoder) AppendJSON(dst []byte, arr arrow.Array, i int) []byte {
	if arr.IsNull(i) {
		return append(dst, "null"...)
	}
	return e.json(dst, arr, i)
}

// AppendPlain appends element i of an array, which is not null, as plain text.
func (e *Encoder) AppendPlain(dst []byte, arr arrow.Array, i int) []byte {
	return e.plain(dst, arr, i)
}

func same(f appendFunc) *Encoder { return &Encoder{plain: f, json: f} }

// quoted is for text in which nothing needs escaping.
func quoted(f appendFunc) *Encoder {
	return &Encoder{plain: f, json: func(dst []byte, arr arrow.Array, i int) []byte {
		return append(f(append(dst, '"'), arr, i), '"')
	}}
}

func (e *Encoder) appendList(dst []byte, elems arrow.Array, start, end int) []byte {
	dst = append(dst, '[')
	for j := start; j < end; j++ {
		if j > start {
			dst = append(dst, ',')
		}
		dst = e.AppendJSON(dst, elems, j)
	}
	return append(dst, ']')
}

func structEncoder(t *arrow.StructType, opts Options) (*Encoder, error) {
	type field struct {
		name []byte // with quotes and colon
		enc  *Encoder
	}
	var fields []field
	for _, f := range t.Fields() {
		enc, err := NewEncoder(f.Type, opts)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		fields = append(fields, field{append(AppendQuoted(nil, f.Name), ':'), enc})
	}
	return same(func(dst []byte, arr arrow.Array, i int) []byte {
		s := arr.(*array.Struct)
		dst = append(dst, '{')
		for k, f := range fields {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = f.enc.AppendJSON(append(dst, f.name...), s.Field(k), i)
		}
		return append(dst, '}')
	}), nil
}

func mapEncoder(t *arrow.MapType, opts Options) (*Encoder, error) {
	key, err := NewEncoder(t.KeyType(), opts)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	item, err := NewEncoder(t.ItemType(), opts)
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	appendKey := key.quotedPlain(t.KeyType())
	return same(func(dst []byte, arr arrow.Array, i int) []byte {
		m := arr.(*array.Map)
		keys, items := m.Keys(), m.Items()
		start, end := m.ValueOffsets(i)
		dst = append(dst, '{')
		for j := int(start); j < int(end); j++ {
			if j > int(start) {
				dst = append(dst, ',')
			}
			dst = append(appendKey(dst, keys, j), ':')
			dst = item.AppendJSON(dst, items, j)
		}
		return append(dst, '}')
	}), nil
}

// quotedPlain gives the plain text as a JSON string, whatever the type.
func (e *Encoder) quotedPlain(t arrow.DataType) appendFunc {
	switch t.ID() {
	case arrow.STRING:
		return e.json
	case arrow.LIST, arrow.STRUCT, arrow.MAP, arrow.FIXED_SIZE_LIST: // JSON has quotes of its own
		return func(dst []byte, arr arrow.Array, i int) []byte {
			return AppendQuoted(dst, string(e.plain(nil, arr, i)))
		}
	}
	return quoted(e.plain).json
}

func appendString(dst []byte, arr arrow.Array, i int) []byte {
	return append(dst, arr.(*array.String).Value(i)...)
}

func appendBase64(dst []byte, arr arrow.Array, i int) []byte {
	return base64.StdEncoding.AppendEncode(dst, arr.(*array.Binary).Value(i))
}

func appendUUIDValue(dst []byte, arr arrow.Array, i int) []byte {
	return AppendUUID(dst, arr.(*array.FixedSizeBinary).Value(i))
}

func appendBool(dst []byte, arr arrow.Array, i int) []byte {
	return strconv.AppendBool(dst, arr.(*array.Boolean).Value(i))
}

func appendInt8(dst []byte, arr arrow.Array, i int) []byte {
	return strconv.AppendInt(dst, int64(arr.(*array.Int8).Value(i)), 10)
}

func appendInt16(dst []byte, arr arrow.Array, i int) []byte {
	return strconv.AppendInt(dst, int64(arr.(*array.Int16).Value(i)), 10)
}

func appendInt32(dst []byte, arr arrow.Array, i int) []byte {
	return strconv.AppendInt(dst, int64(arr.(*array.Int32).Value(i)), 10)
}

func appendInt64(dst []byte, arr arrow.Array, i int) []byte {
	return strconv.AppendInt(dst, arr.(*array.Int64).Value(i), 10)
}

func appendFloat32(dst []byte, arr arrow.Array, i int) []byte {
	return appendFloat(dst, float64(arr.(*array.Float32).Value(i)), 32)
}

func appendFloat64(dst []byte, arr arrow.Array, i int) []byte {
	return appendFloat(dst, arr.(*array.Float64).Value(i), 64)
}

func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}

// jsonFloat quotes what is not a number of JSON.
func jsonFloat(plain appendFunc) appendFunc {
	return func(dst []byte, arr arrow.Array, i int) []byte {
		at := len(dst)
		dst = plain(dst, arr, i)
		if c := dst[len(dst)-1]; c != 'N' && c != 'y' {
			return dst
		}
		dst = append(dst, `""`...)
		copy(dst[at+1:], dst[at:len(dst)-2])
		dst[at], dst[len(dst)-1] = '"', '"'
		return dst
	}
}
