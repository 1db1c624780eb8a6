package cqltype

import (
	"errors"
	"fmt"
)

// ErrUnsupportedType marks a type that CQL knows and this package refuses: a custom class, the type "empty", a type nested deeper
// than maxDepth. The message names the type.
var ErrUnsupportedType = errors.New("unsupported CQL type")

// ErrSyntax marks text that is not a CQL type or not a marshal class string. The message holds the text and the byte offset.
var ErrSyntax = errors.New("malformed CQL type")

// ErrBuilderFull is returned when a value would grow a string, blob or collection column past 2 GiB of data or 2^31 elements, the
// most that Arrow's 32-bit offsets can address. The builder holds NULL in the value's place. Callers cut batches long before.
var ErrBuilderFull = errors.New("arrow builder is full")

// DecodeError says that the bytes of a value do not fit its type.
type DecodeError struct {
	Type   string // CQL type of the innermost value that failed
	Reason string // what is wrong, with the lengths or numbers seen
}

func (e *DecodeError) Error() string { return fmt.Sprintf("decode %s: %s", e.Type, e.Reason) }

func decodeErrorf(typ, format string, args ...any) error {
	return &DecodeError{Type: typ, Reason: fmt.Sprintf(format, args...)}
}

func lengthError(typ string, got, want int) error {
	return decodeErrorf(typ, "value of %d bytes, want %d", got, want)
}
