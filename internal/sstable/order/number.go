package order

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/big"
)

// compareVarint orders two's complement numbers of any length. Leading bytes
// that only repeat the sign do not count.
func compareVarint(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
	}
	a, b = shortest(a), shortest(b)
	aNegative, bNegative := a[0] >= 0x80, b[0] >= 0x80
	switch {
	case aNegative != bNegative:
		if aNegative {
			return -1
		}
		return 1
	case len(a) != len(b):
		// A longer number is further from zero.
		if aNegative {
			return cmp.Compare(len(b), len(a))
		}
		return cmp.Compare(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

func shortest(v []byte) []byte {
	for len(v) > 1 && (v[0] == 0 && v[1] < 0x80 || v[0] == 0xff && v[1] >= 0x80) {
		v = v[1:]
	}
	return v
}

// compareDecimal orders a scale of four bytes and an unscaled number behind it.
func compareDecimal(a, b []byte) int {
	if len(a) < 5 || len(b) < 5 {
		return bytes.Compare(a, b)
	}
	x, y := bigInt(a[4:]), bigInt(b[4:])
	if c := cmp.Compare(x.Sign(), y.Sign()); c != 0 || x.Sign() == 0 {
		return c
	}
	// The place of the first digit decides; only numbers that begin at the same
	// place are brought to the same scale, which takes no more digits than they have.
	xScale, yScale := int64(int32(binary.BigEndian.Uint32(a))), int64(int32(binary.BigEndian.Uint32(b)))
	if c := cmp.Compare(digits(x)-xScale, digits(y)-yScale); c != 0 {
		return c * x.Sign()
	}
	if xScale < yScale {
		x.Mul(x, pow10(yScale-xScale))
	} else {
		y.Mul(y, pow10(xScale-yScale))
	}
	return x.Cmp(y)
}

func pow10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

func digits(x *big.Int) int64 { return int64(len(new(big.Int).Abs(x).Text(10))) }

// bigInt reads a two's complement number.
func bigInt(v []byte) *big.Int {
	x := new(big.Int).SetBytes(v)
	if v[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v))))
	}
	return x
}
