package order

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"manifest/internal/cqltype"
	"manifest/internal/sstable/primitive"
)

// sequence orders frozen collections: their elements one by one, then the
// number of them. parts are compared in turn: of a map the key and the value of
// each entry.
func sequence(parts ...Comparator) Comparator {
	return func(a, b []byte) int {
		if len(a) < 4 || len(b) < 4 {
			return cmp.Compare(len(a), len(b))
		}
		aCount, bCount := int32(binary.BigEndian.Uint32(a)), int32(binary.BigEndian.Uint32(b))
		a, b = a[4:], b[4:]
		for range min(aCount, bCount) {
			for _, compare := range parts {
				var x, y []byte
				x, a = cut(a)
				y, b = cut(b)
				if c := compare(x, y); c != 0 {
					return c
				}
			}
			if len(a) == 0 || len(b) == 0 {
				break
			}
		}
		return cmp.Compare(aCount, bCount)
	}
}

// cut takes a value with a length of 32 bits off the front: nil for null, and
// for what is cut off.
func cut(b []byte) (value, rest []byte) {
	if len(b) < 4 {
		return nil, nil
	}
	n := int32(binary.BigEndian.Uint32(b))
	b = b[4:]
	switch {
	case n < 0:
		return nil, b
	case int64(n) > int64(len(b)):
		return b, nil
	}
	return b[:n:n], b[n:]
}

// tuple orders tuples and UDTs field by field; null comes first, and fields that
// are not there are null.
func tuple(fields []Comparator) Comparator {
	return func(a, b []byte) int {
		for _, compare := range fields {
			if len(a) == 0 && len(b) == 0 {
				return 0
			}
			var x, y []byte
			x, a = cut(a)
			y, b = cut(b)
			if x == nil || y == nil {
				if c := cmp.Compare(present(x), present(y)); c != 0 {
					return c
				}
				continue
			}
			if c := compare(x, y); c != 0 {
				return c
			}
		}
		return 0
	}
}

func present(v []byte) int {
	if v == nil {
		return 0
	}
	return 1
}

// vector orders vectors element by element.
func vector(t *cqltype.Type) Comparator {
	compare := Of(t.Elems[0])
	length, fixed := t.Elems[0].FixedLen()
	next := func(b []byte) (value, rest []byte) {
		n, skip := uint64(length), 0
		if !fixed {
			if n, skip = primitive.Uvint(b); skip == 0 {
				return b, nil
			}
		}
		b = b[skip:]
		if n > uint64(len(b)) {
			return b, nil
		}
		return b[:n:n], b[n:]
	}
	return func(a, b []byte) int {
		for len(a) > 0 && len(b) > 0 {
			var x, y []byte
			x, a = next(a)
			y, b = next(b)
			if c := compare(x, y); c != 0 {
				return c
			}
		}
		return bytes.Compare(a, b)
	}
}
