package tokenrange

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
)

// tokenOffset is what is added to a token's value to store it unsigned.
const tokenOffset = 1 << 63

// Token is a place on the ring: the hash of a partition key.
//
// It holds any value from -2^63 to 2^128-2^63-1, enough for the Murmur3Partitioner (64 bits,
// signed) and the RandomPartitioner (-1 to 2^127), as the unsigned number value+2^63. Tokens
// are comparable with ==, ordered by [Token.Compare], and usable as map keys. The zero Token
// is -2^63, the minimum of the Murmur3Partitioner. The JSON form is a decimal string, because
// numbers in JSON lose digits above 2^53 in most readers.
type Token struct{ hi, lo uint64 }

// Int64Token returns the token with the value v, such as the Murmur3Partitioner's.
func Int64Token(v int64) Token { return Token{0, uint64(v) ^ tokenOffset} }

// ParseToken reads a token in decimal, with an optional sign. It errs with [ErrMalformed] on
// anything else and with [ErrOutOfRing] on a value that no [Token] can hold; whether the token
// is on a partitioner's ring is for [Partitioner.Parse] to say.
func ParseToken(s string) (Token, error) {
	digits, negative := s, false
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		negative, digits = digits[0] == '-', digits[1:]
	}
	if digits == "" {
		return Token{}, fmt.Errorf("parse token %q: %w", s, ErrMalformed)
	}
	var value uint128
	overflow := false
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return Token{}, fmt.Errorf("parse token %q: %w", s, ErrMalformed)
		}
		// value*10 + c, watching both halves for what falls off the top.
		carry, lo := bits.Mul64(value.lo, 10)
		spill, hi := bits.Mul64(value.hi, 10)
		var c1, c2 uint64
		lo, c1 = bits.Add64(lo, uint64(c-'0'), 0)
		hi, c2 = bits.Add64(hi, carry, c1)
		overflow = overflow || spill != 0 || c2 != 0
		value = uint128{hi, lo}
	}
	var t Token
	if negative {
		overflow = overflow || value.hi != 0 || value.lo > tokenOffset
		t = Token{0, tokenOffset - value.lo}
	} else {
		var carry uint64
		t.lo, carry = bits.Add64(value.lo, tokenOffset, 0)
		t.hi, carry = bits.Add64(value.hi, 0, carry)
		overflow = overflow || carry != 0
	}
	if overflow {
		return Token{}, fmt.Errorf("parse token %q: %w", s, ErrOutOfRing)
	}
	return t, nil
}

// Compare returns -1, 0 or +1 as t lies before, on or after u.
func (t Token) Compare(u Token) int { return uint128(t).compare(uint128(u)) }

// Less reports whether t lies before u.
func (t Token) Less(u Token) bool { return t.hi < u.hi || t.hi == u.hi && t.lo < u.lo }

// Int64 returns the token's value where it fits 64 bits, which every token of the
// Murmur3Partitioner does.
func (t Token) Int64() (value int64, ok bool) { return int64(t.lo ^ tokenOffset), t.hi == 0 }

// Big returns the token's value as a new number.
func (t Token) Big() *big.Int {
	v := new(big.Int).SetUint64(t.hi)
	v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(t.lo))
	return v.Sub(v, new(big.Int).SetUint64(tokenOffset))
}

// String returns the token's value in decimal.
func (t Token) String() string {
	if v, ok := t.Int64(); ok {
		return strconv.FormatInt(v, 10)
	}
	return t.Big().String()
}

// MarshalText returns the token's value in decimal.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what [ParseToken] reads.
func (t *Token) UnmarshalText(text []byte) error {
	parsed, err := ParseToken(string(text))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}

// distance returns the number of tokens in (t, u], for t <= u.
func (t Token) distance(u Token) uint128 { return uint128(u).sub(uint128(t)) }

// plus returns the token n places on. The caller knows that it exists.
func (t Token) plus(n uint128) Token { return Token(uint128(t).add(n)) }

// minToken and maxToken are built on Compare, since Token is not an ordered type of the language.
func minToken(a, b Token) Token {
	if b.Less(a) {
		return b
	}
	return a
}

func maxToken(a, b Token) Token {
	if a.Less(b) {
		return b
	}
	return a
}

// appendKey appends the token as text whose order as bytes is the order of tokens, also
// between tokens of both widths: 16 hexadecimal digits where the token fits 64 bits, otherwise
// an "x", which sorts after every digit, and 32 digits.
func (t Token) appendKey(dst []byte) []byte {
	if t.hi == 0 {
		return fmt.Appendf(dst, "%016x", t.lo)
	}
	return fmt.Appendf(dst, "x%016x%016x", t.hi, t.lo)
}

// AppendBytes appends the token as 16 bytes, whose order is that of tokens.
func (t Token) AppendBytes(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, t.hi), t.lo)
}

// TokenOfBytes is the token that AppendBytes wrote.
func TokenOfBytes(b [16]byte) Token {
	return Token{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}
