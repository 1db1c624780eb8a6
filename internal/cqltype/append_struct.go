package cqltype

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
)

// oneNull is passed to builders' AppendValues to append NULL without their AppendNull, which puts nulls into children that are not nullable.
var oneNull = []bool{false}

// structAppender takes tuples and UDTs. A value may stop early: the fields it lacks, added to the type after it was written, are NULL.
type structAppender struct {
	slot
	b      *array.StructBuilder
	t      *Type
	fields []Appender
}

func newStructAppender(t *Type, s slot, b *array.StructBuilder) *structAppender {
	a := &structAppender{slot: s, b: b, t: t, fields: make([]Appender, len(t.Elems))}
	for i, e := range t.Elems {
		a.fields[i] = newAppender(e, b.FieldBuilder(i), false)
	}
	return a
}

func (a *structAppender) Append(v []byte) error {
	if len(v) == 0 {
		if a.required {
			return a.null()
		}
		a.b.AppendValues(oneNull)
		a.nullFrom(0)
		return nil
	}
	a.b.Append(true)
	for i, f := range a.fields {
		if len(v) == 0 {
			a.nullFrom(i)
			return nil
		}
		value, rest, err := readValue(a.typ, v)
		if err != nil {
			a.nullFrom(i)
			return err
		}
		v = rest
		if err := f.Append(value); err != nil {
			a.nullFrom(i + 1)
			return fmt.Errorf("field %q of %s: %w", a.t.fieldName(i), a.typ, err)
		}
	}
	if len(v) > 0 {
		return trailingError(a.typ, v)
	}
	return nil
}

// nullFrom appends NULL to the fields from i on.
func (a *structAppender) nullFrom(i int) {
	for _, f := range a.fields[i:] {
		_ = f.Append(nil) // only map keys and vector elements refuse NULL
	}
}

// durationAppender takes durations: months, days and nanoseconds as three vints.
type durationAppender struct {
	slot
	b            *array.StructBuilder
	months, days *array.Int32Builder
	nanos        *array.Int64Builder
}

func newDurationAppender(s slot, b *array.StructBuilder) *durationAppender {
	return &durationAppender{
		s, b, b.FieldBuilder(0).(*array.Int32Builder), b.FieldBuilder(1).(*array.Int32Builder), b.FieldBuilder(2).(*array.Int64Builder),
	}
}

func (a *durationAppender) Append(v []byte) error {
	if len(v) == 0 {
		return a.absent(nil)
	}
	var part [3]int64
	rest := v
	for i := range part {
		n := 0
		if part[i], n = vint(rest); n == 0 {
			return a.absent(decodeErrorf(a.typ, "value of %d bytes ends inside its vints", len(v)))
		}
		rest = rest[n:]
	}
	months, days := int32(part[0]), int32(part[1])
	switch {
	case len(rest) > 0:
		return a.absent(decodeErrorf(a.typ, "%d bytes after the three vints", len(rest)))
	case int64(months) != part[0]:
		return a.absent(decodeErrorf(a.typ, "%d months do not fit 32 bits", part[0]))
	case int64(days) != part[1]:
		return a.absent(decodeErrorf(a.typ, "%d days do not fit 32 bits", part[1]))
	}
	a.b.Append(true)
	a.put(months, days, part[2])
	return nil
}

// absent appends NULL, for an error or a NULL. The parts are not nullable: they are zero under it.
func (a *durationAppender) absent(err error) error {
	switch {
	case a.required && err == nil:
		return a.null()
	case a.required:
		return a.fail(err)
	}
	a.b.AppendValues(oneNull)
	a.put(0, 0, 0)
	return err
}

func (a *durationAppender) put(months, days int32, nanos int64) {
	a.months.Append(months)
	a.days.Append(days)
	a.nanos.Append(nanos)
}

// vectorAppender takes vectors: the elements one after the other, each with its length before it (a uvint) if the type's values do not
// all have the same. Elements are never NULL.
type vectorAppender struct {
	slot
	b     *array.FixedSizeListBuilder
	elem  Appender
	size  int // elements
	width int // bytes of an element, 0 if they vary
}

func newVectorAppender(t *Type, s slot, b *array.FixedSizeListBuilder) *vectorAppender {
	width, _ := t.Elems[0].FixedLen()
	return &vectorAppender{s, b, newAppender(t.Elems[0], b.ValueBuilder(), true), t.Size, width}
}

func (a *vectorAppender) Append(v []byte) error {
	switch {
	case len(v) == 0:
		return a.absent(nil)
	case a.width > 0 && len(v) != a.width*a.size:
		return a.absent(lengthError(a.typ, len(v), a.width*a.size))
	case a.width == 0 && len(v) < a.size:
		return a.absent(decodeErrorf(a.typ, "value of %d bytes for %d elements", len(v), a.size))
	}
	a.b.Append(true)
	for i := range a.size {
		e, rest, err := a.next(v)
		if err != nil {
			a.b.ValueBuilder().AppendEmptyValues(a.size - i)
			return err
		}
		v = rest
		if err := a.elem.Append(e); err != nil {
			a.b.ValueBuilder().AppendEmptyValues(a.size - i - 1)
			return fmt.Errorf("element %d of %s: %w", i, a.typ, err)
		}
	}
	if len(v) > 0 {
		return trailingError(a.typ, v)
	}
	return nil
}

// next splits the first element off v.
func (a *vectorAppender) next(v []byte) (elem, rest []byte, err error) {
	if a.width > 0 {
		return v[:a.width], v[a.width:], nil
	}
	length, n := uvint(v)
	if n == 0 || length > uint64(min(len(v)-n, math.MaxInt32)) {
		return nil, nil, decodeErrorf(a.typ, "element length %d where %d bytes are left", length, len(v)-n)
	}
	end := n + int(length)
	return v[n:end:end], v[end:], nil
}

// absent appends NULL, for an error or a NULL. The elements are not nullable: they are zero or empty under it.
func (a *vectorAppender) absent(err error) error {
	switch {
	case a.required && err == nil:
		return a.null()
	case a.required:
		return a.fail(err)
	}
	a.b.AppendValues(oneNull)
	a.b.ValueBuilder().AppendEmptyValues(a.size)
	return err
}
