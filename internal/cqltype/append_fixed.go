package cqltype

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Appenders of the types whose values have one length. An empty value of these has no meaning to the server, which shows it as null.

type booleanAppender struct {
	slot
	b *array.BooleanBuilder
}

func (a *booleanAppender) Append(v []byte) error {
	switch len(v) {
	case 1:
		a.b.Append(v[0] != 0)
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 1))
}

type tinyintAppender struct {
	slot
	b *array.Int8Builder
}

func (a *tinyintAppender) Append(v []byte) error {
	switch len(v) {
	case 1:
		a.b.Append(int8(v[0]))
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 1))
}

type smallintAppender struct {
	slot
	b *array.Int16Builder
}

func (a *smallintAppender) Append(v []byte) error {
	switch len(v) {
	case 2:
		a.b.Append(int16(binary.BigEndian.Uint16(v)))
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 2))
}

type intAppender struct {
	slot
	b       *array.Int32Builder
	numbers []int32 // of AppendAll
}

func (a *intAppender) Append(v []byte) error {
	switch len(v) {
	case 4:
		a.b.Append(int32(binary.BigEndian.Uint32(v)))
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 4))
}

// bigintAppender also takes counters, whose values a coordinator sends as one sum. The contexts that SSTables hold are not values.
type bigintAppender struct {
	slot
	b       *array.Int64Builder
	numbers []int64 // of AppendAll
}

func (a *bigintAppender) Append(v []byte) error {
	switch len(v) {
	case 8:
		a.b.Append(int64(binary.BigEndian.Uint64(v)))
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 8))
}

type floatAppender struct {
	slot
	b *array.Float32Builder
}

func (a *floatAppender) Append(v []byte) error {
	switch len(v) {
	case 4:
		a.b.Append(math.Float32frombits(binary.BigEndian.Uint32(v)))
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 4))
}

type doubleAppender struct {
	slot
	b *array.Float64Builder
}

func (a *doubleAppender) Append(v []byte) error {
	switch len(v) {
	case 8:
		a.b.Append(math.Float64frombits(binary.BigEndian.Uint64(v)))
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 8))
}

// timestampAppender keeps milliseconds since 1970 of the whole 64-bit range.
type timestampAppender struct {
	slot
	b       *array.TimestampBuilder
	numbers []arrow.Timestamp // of AppendAll
}

func (a *timestampAppender) Append(v []byte) error {
	switch len(v) {
	case 8:
		a.b.Append(arrow.Timestamp(binary.BigEndian.Uint64(v)))
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 8))
}

// dateAppender turns days with 2^31 at 1970-01-01, unsigned, into days since 1970, signed: the top bit flips.
type dateAppender struct {
	slot
	b *array.Date32Builder
}

func (a *dateAppender) Append(v []byte) error {
	switch len(v) {
	case 4:
		a.b.Append(arrow.Date32(binary.BigEndian.Uint32(v) ^ 1<<31))
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 4))
}

// nanosPerDay bounds a time of day, which does not reach it.
const nanosPerDay = 24 * 60 * 60 * 1_000_000_000

type timeAppender struct {
	slot
	b *array.Time64Builder
}

func (a *timeAppender) Append(v []byte) error {
	switch len(v) {
	case 8:
		ns := int64(binary.BigEndian.Uint64(v))
		if ns < 0 || ns >= nanosPerDay {
			return a.fail(decodeErrorf(a.typ, "%d ns is outside a day", ns))
		}
		a.b.Append(arrow.Time64(ns))
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 8))
}

// uuidAppender takes uuids of any version, timeuuids too.
type uuidAppender struct {
	slot
	b *array.FixedSizeBinaryBuilder
}

func (a *uuidAppender) Append(v []byte) error {
	switch len(v) {
	case 16:
		a.b.Append(v)
		return nil
	case 0:
		return a.null()
	}
	return a.fail(lengthError(a.typ, len(v), 16))
}
