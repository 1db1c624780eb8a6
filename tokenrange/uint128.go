package tokenrange

import (
	"cmp"
	"math/bits"
)

// uint128 is the width of a range: a number of tokens. Tokens are 128 bits wide
// because the RandomPartitioner's are (0 to 2^127 inclusive), so int64 is not enough.
type uint128 struct{ hi, lo uint64 }

// two64 is 2^64, the weight of uint128.hi.
const two64 = float64(1<<32) * float64(1<<32)

func (u uint128) add(v uint128) uint128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	hi, _ := bits.Add64(u.hi, v.hi, carry)
	return uint128{hi, lo}
}

func (u uint128) sub(v uint128) uint128 {
	lo, borrow := bits.Sub64(u.lo, v.lo, 0)
	hi, _ := bits.Sub64(u.hi, v.hi, borrow)
	return uint128{hi, lo}
}

func (u uint128) compare(v uint128) int {
	if u.hi != v.hi {
		return cmp.Compare(u.hi, v.hi)
	}
	return cmp.Compare(u.lo, v.lo)
}

// mul returns u*n. The caller knows that it fits.
func (u uint128) mul(n uint64) uint128 {
	hi, lo := bits.Mul64(u.lo, n)
	return uint128{hi + u.hi*n, lo}
}

// divmod returns u/n and u%n for n > 0.
func (u uint128) divmod(n uint64) (quotient uint128, remainder uint64) {
	quotient.hi, remainder = u.hi/n, u.hi%n
	quotient.lo, remainder = bits.Div64(remainder, u.lo, n)
	return quotient, remainder
}

// atMost returns the smaller of u and n.
func (u uint128) atMost(n uint64) uint64 {
	if u.hi != 0 || u.lo > n {
		return n
	}
	return u.lo
}

func (u uint128) float() float64 { return float64(u.hi)*two64 + float64(u.lo) }
