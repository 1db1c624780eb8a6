package cqltype

import (
	"encoding/binary"
	"math"
)

// Span is where in some bytes a value is.
type Span struct{ From, To uint32 }

// NullSpan is that of NULL.
var NullSpan = Span{math.MaxUint32, math.MaxUint32}

// Len is the length of the value, 0 if it is NULL.
func (s Span) Len() int { return int(s.To - s.From) }

// Of gives the value, nil if it is NULL.
func (s Span) Of(b []byte) []byte {
	if s == NullSpan {
		return nil
	}
	return b[s.From:s.To:s.To]
}

// AppendAll appends the values that are at some places of b as so many calls of
// Append do, up to the first that fails, whose number it returns. Integers and
// times of 4 and 8 bytes it hands to the builder together, up to the next NULL.
func AppendAll(a Appender, b []byte, spans []Span) (failed int, err error) {
	switch a := a.(type) {
	case *intAppender:
		return append32(&a.numbers, b, spans, a.b.AppendValues, a.Append)
	case *bigintAppender:
		return append64(&a.numbers, b, spans, a.b.AppendValues, a.Append)
	case *timestampAppender:
		return append64(&a.numbers, b, spans, a.b.AppendValues, a.Append)
	}
	for i, s := range spans {
		if err := a.Append(s.Of(b)); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// append32 appends stretches of values of 4 bytes by all, others by one. numbers
// is memory that is used again.
func append32[T ~int32](numbers *[]T, b []byte, spans []Span, all func([]T, []bool), one func([]byte) error) (failed int, err error) {
	for i := 0; i < len(spans); i++ {
		n := (*numbers)[:0]
		for ; i < len(spans) && spans[i].Len() == 4; i++ {
			n = append(n, T(binary.BigEndian.Uint32(b[spans[i].From:])))
		}
		*numbers = n
		all(n, nil)
		if i == len(spans) {
			break
		}
		if err := one(spans[i].Of(b)); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// append64 is the same of 8 bytes.
func append64[T ~int64](numbers *[]T, b []byte, spans []Span, all func([]T, []bool), one func([]byte) error) (failed int, err error) {
	for i := 0; i < len(spans); i++ {
		n := (*numbers)[:0]
		for ; i < len(spans) && spans[i].Len() == 8; i++ {
			n = append(n, T(binary.BigEndian.Uint64(b[spans[i].From:])))
		}
		*numbers = n
		all(n, nil)
		if i == len(spans) {
			break
		}
		if err := one(spans[i].Of(b)); err != nil {
			return i, err
		}
	}
	return 0, nil
}
