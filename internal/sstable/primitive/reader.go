package primitive

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrShort means that the bytes end inside a value.
var ErrShort = errors.New("data ends inside a value")

// Reader takes values off the front of some bytes. After the first value that
// does not fit, all values are zero and Err tells; so a run of calls needs one
// check, provided that no count read is used before it.
type Reader struct {
	b   []byte
	pos int
	err error
}

// NewReader returns a reader of b. What it hands out are parts of b.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Err is nil or ErrShort.
func (r *Reader) Err() error { return r.err }

// Offset counts the bytes taken.
func (r *Reader) Offset() int { return r.pos }

// Len counts the bytes left.
func (r *Reader) Len() int { return len(r.b) - r.pos }

// Bytes takes n bytes.
func (r *Reader) Bytes(n int) []byte {
	if r.err != nil || n < 0 || n > r.Len() {
		r.err = ErrShort
		return nil
	}
	v := r.b[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return v
}

// Uint8 takes one byte.
func (r *Reader) Uint8() uint8 {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint16 takes two bytes.
func (r *Reader) Uint16() uint16 {
	if b := r.Bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// Uint32 takes four bytes.
func (r *Reader) Uint32() uint32 {
	if b := r.Bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Int32 takes four bytes.
func (r *Reader) Int32() int32 { return int32(r.Uint32()) }

// Uint64 takes eight bytes.
func (r *Reader) Uint64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Int64 takes eight bytes.
func (r *Reader) Int64() int64 { return int64(r.Uint64()) }

// Float64 takes eight bytes.
func (r *Reader) Float64() float64 { return math.Float64frombits(r.Uint64()) }

// Uvint takes an unsigned variable-length integer.
func (r *Reader) Uvint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := Uvint(r.b[r.pos:])
	if n == 0 {
		r.err = ErrShort
	}
	r.pos += n
	return v
}

// Vint takes a signed variable-length integer.
func (r *Reader) Vint() int64 { return Zigzag(r.Uvint()) }

// Length takes a variable-length integer that counts bytes or elements to come,
// each of which takes at least one byte.
func (r *Reader) Length() int {
	v := r.Uvint()
	if v > uint64(r.Len()) {
		r.err = ErrShort
		return 0
	}
	return int(v)
}

// Bytes16 takes a length of 16 bits and that many bytes.
func (r *Reader) Bytes16() []byte { return r.Bytes(int(r.Uint16())) }

// Bytes32 takes a signed length of 32 bits and that many bytes.
func (r *Reader) Bytes32() []byte { return r.Bytes(int(r.Int32())) }

// BytesV takes a variable-length length and that many bytes.
func (r *Reader) BytesV() []byte { return r.Bytes(r.Length()) }
