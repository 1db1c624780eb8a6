// Package fault names what can be wrong with an SSTable, for all packages that
// read one.
//
// A reader that meets any of these gives up the SSTable: there is no such thing
// as a row that was nearly read.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrCorrupt means that bytes are not what a writer can have written: a
	// checksum, a length, an order, a flag or the end of a file is wrong.
	ErrCorrupt = errors.New("corrupt SSTable")
	// ErrUnsupported means that the SSTable may be sound but is of a kind that
	// is not read here: a version, a compressor, a partitioner, a type.
	ErrUnsupported = errors.New("unsupported SSTable")
	// ErrMissing means that a file that belongs to the SSTable is not there.
	ErrMissing = errors.New("missing SSTable component")
)

// Error says where a fault was found. It wraps one of the sentinels of this
// package or an error of the storage.
type Error struct {
	// File is the component's path or URL.
	File string
	// Offset counts the bytes of the file's content, for Data.db those of the
	// uncompressed content; -1 where there is no such place.
	Offset int64
	// Key is the serialized key of the partition; nil where none is being read.
	Key []byte
	// Column is the name of the column being read, or "".
	Column string
	Err    error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, ", offset %d", e.Offset)
	}
	if e.Key != nil {
		const most = 64
		if len(e.Key) > most {
			fmt.Fprintf(&b, ", partition key 0x%x... of %d bytes", e.Key[:most], len(e.Key))
		} else {
			fmt.Fprintf(&b, ", partition key 0x%x", e.Key)
		}
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ", column %q", e.Column)
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Corruptf reports corruption at a place of a file.
func Corruptf(file string, offset int64, format string, args ...any) error {
	return &Error{File: file, Offset: offset, Err: fmt.Errorf("%w: %w", ErrCorrupt, fmt.Errorf(format, args...))}
}

// Unsupportedf reports something of a file that is not read here.
func Unsupportedf(file, format string, args ...any) error {
	return &Error{File: file, Offset: -1, Err: fmt.Errorf("%w: %w", ErrUnsupported, fmt.Errorf(format, args...))}
}

// Missing reports that a file is not there.
func Missing(file string) error {
	return &Error{File: file, Offset: -1, Err: ErrMissing}
}
