package cqltype

import (
	"fmt"
	"math"
	"net/netip"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/array"
)

// appendBytes appends v unless the builder's 32-bit offsets could no longer address it.
func (s *slot) appendBytes(b *array.BinaryBuilder, v []byte) error {
	if len(v) > math.MaxInt32-b.DataLen() {
		return s.fail(fmt.Errorf("append %s: %w", s.typ, ErrBuilderFull))
	}
	b.Append(v)
	return nil
}

// textAppender keeps empty text apart from NULL. Bytes that are no UTF-8 would make files that other programs refuse, so they are an error.
type textAppender struct {
	slot
	b *array.BinaryBuilder
}

func (a *textAppender) Append(v []byte) error {
	if v == nil {
		return a.null()
	}
	if !utf8.Valid(v) {
		return a.fail(decodeErrorf(a.typ, "value of %d bytes is not UTF-8", len(v)))
	}
	return a.appendBytes(a.b, v)
}

type asciiAppender struct {
	slot
	b *array.BinaryBuilder
}

func (a *asciiAppender) Append(v []byte) error {
	if v == nil {
		return a.null()
	}
	for _, c := range v {
		if c >= utf8.RuneSelf {
			return a.fail(decodeErrorf(a.typ, "value of %d bytes holds byte %#x", len(v), c))
		}
	}
	return a.appendBytes(a.b, v)
}

type blobAppender struct {
	slot
	b *array.BinaryBuilder
}

func (a *blobAppender) Append(v []byte) error {
	if v == nil {
		return a.null()
	}
	return a.appendBytes(a.b, v)
}

// inetAppender writes addresses as text. An IPv4 address stored in 16 bytes keeps its IPv6 form, ::ffff:192.0.2.1.
type inetAppender struct {
	slot
	b    *array.BinaryBuilder
	text []byte // reused
}

func (a *inetAppender) Append(v []byte) error {
	switch len(v) {
	case 0:
		return a.null()
	case 4:
		a.text = netip.AddrFrom4([4]byte(v)).AppendTo(a.text[:0])
	case 16:
		a.text = netip.AddrFrom16([16]byte(v)).AppendTo(a.text[:0])
	default:
		return a.fail(decodeErrorf(a.typ, "value of %d bytes, want 4 or 16", len(v)))
	}
	return a.appendBytes(a.b, a.text)
}
