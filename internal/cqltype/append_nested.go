package cqltype

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
)

// Values inside lists, sets, maps, tuples and UDTs are each a 32-bit length and that many bytes; length -1 is NULL. Collections start with
// a 32-bit count. Counts and lengths are checked against the bytes that are there before anything is appended or reserved.

// readCount reads the count of a collection whose elements take at least minBytes each.
func readCount(typ string, v []byte, minBytes int) (n int, rest []byte, err error) {
	if len(v) < 4 {
		return 0, nil, decodeErrorf(typ, "value of %d bytes, want a count of 4", len(v))
	}
	count := int32(binary.BigEndian.Uint32(v))
	rest = v[4:]
	if count < 0 || int64(count)*int64(minBytes) > int64(len(rest)) {
		return 0, nil, decodeErrorf(typ, "count %d in a value of %d bytes", count, len(v))
	}
	return int(count), rest, nil
}

// readValue reads one length and its bytes, nil for NULL.
func readValue(typ string, b []byte) (value, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, decodeErrorf(typ, "%d bytes where a length of 4 should be", len(b))
	}
	n := int32(binary.BigEndian.Uint32(b))
	b = b[4:]
	if n == -1 {
		return nil, b, nil
	}
	if n < -1 || int64(n) > int64(len(b)) {
		return nil, nil, decodeErrorf(typ, "length %d where %d bytes are left", n, len(b))
	}
	return b[:n:n], b[n:], nil
}

func trailingError(typ string, rest []byte) error {
	return decodeErrorf(typ, "%d bytes after the last element", len(rest))
}

// full returns an error if n more elements could not be addressed by 32-bit offsets.
func full(typ string, b array.Builder, n int) error {
	if n > math.MaxInt32-b.Len() {
		return fmt.Errorf("append %s: %w", typ, ErrBuilderFull)
	}
	return nil
}

type listAppender struct {
	slot
	b    *array.ListBuilder
	elem Appender
}

func (a *listAppender) Append(v []byte) error {
	if len(v) == 0 {
		return a.null()
	}
	n, rest, err := readCount(a.typ, v, 4)
	if err == nil {
		err = full(a.typ, a.b.ValueBuilder(), n)
	}
	if err != nil {
		return a.fail(err)
	}
	a.b.Append(true)
	for i := range n {
		var e []byte
		if e, rest, err = readValue(a.typ, rest); err != nil {
			return err
		}
		if err := a.elem.Append(e); err != nil {
			return fmt.Errorf("element %d of %s: %w", i, a.typ, err)
		}
	}
	if len(rest) > 0 {
		return trailingError(a.typ, rest)
	}
	return nil
}

type mapAppender struct {
	slot
	b          *array.MapBuilder
	entries    *array.StructBuilder // the keys and values, appended as structs: the map builder allocates to catch up with bare keys
	key, value Appender
}

func (a *mapAppender) Append(v []byte) error {
	if len(v) == 0 {
		return a.null()
	}
	n, rest, err := readCount(a.typ, v, 8)
	if err == nil {
		err = full(a.typ, a.entries, n)
	}
	if err != nil {
		return a.fail(err)
	}
	a.b.Append(true)
	for i := range n {
		var key, value []byte
		if key, rest, err = readValue(a.typ, rest); err != nil {
			return err
		}
		if value, rest, err = readValue(a.typ, rest); err != nil {
			return err
		}
		a.entries.Append(true)
		keyErr, valueErr := a.key.Append(key), a.value.Append(value)
		if keyErr != nil {
			return fmt.Errorf("key %d of %s: %w", i, a.typ, keyErr)
		}
		if valueErr != nil {
			return fmt.Errorf("value %d of %s: %w", i, a.typ, valueErr)
		}
	}
	if len(rest) > 0 {
		return trailingError(a.typ, rest)
	}
	return nil
}
