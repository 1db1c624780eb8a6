package cqltype

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Appender decodes the values of one column and appends them to its builder.
//
// Append takes a serialized value as the native protocol (version 4 and later) and frozen cells carry it; nil is NULL. The value is not
// retained. The builder grows by exactly one element whatever happens, so that the columns of a batch stay level and the batch can be
// built; after an error that element is NULL or incomplete, and the caller gives up the batch. Errors are *DecodeError, wrapped with the
// path to the value inside collections, or ErrBuilderFull.
//
// An Appender belongs to the goroutine of its builder and does not own the builder.
type Appender interface {
	Append(value []byte) error
}

// NewAppender returns the appender of values of type t to b, which must build t's Arrow type.
func NewAppender(t *Type, b array.Builder) (Appender, error) {
	want, err := t.Arrow()
	if err != nil {
		return nil, err
	}
	if got := b.Type(); !arrow.TypeEqual(want, got) {
		return nil, fmt.Errorf("append CQL type %s: builder of %s, want %s", t, got, want)
	}
	return newAppender(t, b, false), nil
}

// newAppender makes the appender of a checked type. A required one stands where Arrow allows no null: map keys and vector elements.
func newAppender(t *Type, b array.Builder, required bool) Appender {
	s := slot{builder: b, typ: t.String(), required: required}
	switch t.Kind {
	case Ascii:
		return &asciiAppender{s, b.(*array.StringBuilder).BinaryBuilder}
	case Text:
		return &textAppender{s, b.(*array.StringBuilder).BinaryBuilder}
	case Blob:
		return &blobAppender{s, b.(*array.BinaryBuilder)}
	case Boolean:
		return &booleanAppender{s, b.(*array.BooleanBuilder)}
	case Tinyint:
		return &tinyintAppender{s, b.(*array.Int8Builder)}
	case Smallint:
		return &smallintAppender{s, b.(*array.Int16Builder)}
	case Int:
		return &intAppender{slot: s, b: b.(*array.Int32Builder)}
	case Bigint, Counter:
		return &bigintAppender{slot: s, b: b.(*array.Int64Builder)}
	case Float:
		return &floatAppender{s, b.(*array.Float32Builder)}
	case Double:
		return &doubleAppender{s, b.(*array.Float64Builder)}
	case Timestamp:
		return &timestampAppender{slot: s, b: b.(*array.TimestampBuilder)}
	case Date:
		return &dateAppender{s, b.(*array.Date32Builder)}
	case Time:
		return &timeAppender{s, b.(*array.Time64Builder)}
	case UUID, Timeuuid:
		return &uuidAppender{s, b.(*array.FixedSizeBinaryBuilder)}
	case Inet:
		return &inetAppender{slot: s, b: b.(*array.StringBuilder).BinaryBuilder}
	case Varint:
		return &varintAppender{slot: s, b: b.(*array.StringBuilder).BinaryBuilder}
	case Decimal:
		return &decimalAppender{slot: s, b: b.(*array.StringBuilder).BinaryBuilder}
	case Duration:
		return newDurationAppender(s, b.(*array.StructBuilder))
	case List, Set:
		lb := b.(*array.ListBuilder)
		return &listAppender{s, lb, newAppender(t.Elems[0], lb.ValueBuilder(), false)}
	case Map:
		mb := b.(*array.MapBuilder)
		return &mapAppender{
			s, mb, mb.ValueBuilder().(*array.StructBuilder),
			newAppender(t.Elems[0], mb.KeyBuilder(), true), newAppender(t.Elems[1], mb.ItemBuilder(), false),
		}
	case Tuple, UDT:
		return newStructAppender(t, s, b.(*array.StructBuilder))
	case Vector:
		return newVectorAppender(t, s, b.(*array.FixedSizeListBuilder))
	}
	panic("cqltype: no appender of kind " + t.Kind.String())
}

// slot is where an appender puts values: what all appenders share.
type slot struct {
	builder  array.Builder
	typ      string // CQL text of the type, for errors
	required bool   // no nulls: an absent value is an error
}

// null appends NULL, or fails where there can be none.
func (s *slot) null() error {
	if s.required {
		return s.fail(decodeErrorf(s.typ, "null as a map key or vector element"))
	}
	s.builder.AppendNull()
	return nil
}

// fail appends a placeholder for a value that could not be decoded, and returns err.
func (s *slot) fail(err error) error {
	if s.required {
		s.builder.AppendEmptyValue()
	} else {
		s.builder.AppendNull()
	}
	return err
}
