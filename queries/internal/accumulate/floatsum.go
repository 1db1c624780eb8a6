package accumulate

import (
	"encoding/binary"
	"math"
	"math/big"
	"unsafe"

	"manifest/queries/internal/vector"
)

// floatSum sums doubles exactly, in any order: as a fixed-point number whose unit is the smallest double, 2^-1074.
//
// The number is kept in digits of 32 bits, each in an int64 that takes more additions than its digit is wide; carries are moved up only
// now and then (the "small superaccumulator" of Neal, "Fast Exact Summation Using Small and Large Superaccumulators", 2015). Of the 67
// digits that all doubles may touch a group keeps those in use.
//
// Its state is the count of values as a varint and, unless that is 0, a byte of flags, the index of the lowest digit (one byte), the
// number of digits (one byte), and the digits as zigzag varints from low to high, carries moved up.
type floatSum struct {
	avg    bool
	groups []floatSumState
	size   int // of the digits
}

const (
	digitBits = 32
	unitExp   = -1074 // of the smallest double
	digits    = 67    // 2098 bits, so that the largest double added 2^46 times fits
	// maxPending is how often a double may be added before carries must be moved: each adds less than 2^32 to a digit.
	maxPending = 1 << 30
)

// Flags of values that are no numbers.
const (
	sawNaN = 1 << iota
	sawPosInf
	sawNegInf
)

type floatSumState struct {
	n       int64
	digits  []int64 // from digit base on
	base    int
	pending int
	flags   byte
}

func (s *floatSum) Grow(n int) { s.groups = grow(s.groups, n) }

func (s *floatSum) Update(in *vector.Vector, groups []uint32, lo, hi int) error {
	for i := lo; i < hi; i++ {
		if in.IsNull(i) {
			continue
		}
		g := &s.groups[groups[i]]
		g.n++
		s.add(g, in.Floats[i])
	}
	return nil
}

// add adds one double to the digits of g.
func (s *floatSum) add(g *floatSumState, v float64) {
	b := math.Float64bits(v)
	exp, mantissa := int(b>>52&0x7ff), b&(1<<52-1)
	switch {
	case exp == 0x7ff && mantissa != 0:
		g.flags |= sawNaN
		return
	case exp == 0x7ff && v > 0:
		g.flags |= sawPosInf
		return
	case exp == 0x7ff:
		g.flags |= sawNegInf
		return
	case exp > 0:
		mantissa |= 1 << 52
		exp-- // The exponent field 1 is the unit 2^-1074, as is 0.
	}
	if mantissa == 0 {
		return
	}
	at, shift := exp/digitBits, uint(exp%digitBits)
	low := int64(uint32(mantissa << shift))
	middle := int64(uint32(mantissa >> (digitBits - shift)))
	high := int64(mantissa >> digitBits >> (digitBits - shift))
	if g.pending++; g.pending == maxPending {
		s.carry(g)
	}
	d := s.window(g, at, at+3)
	if int64(b) < 0 {
		low, middle, high = -low, -middle, -high
	}
	d[0] += low
	d[1] += middle
	d[2] += high
}

// window returns digits lo to hi of g, making room for them.
func (s *floatSum) window(g *floatSumState, lo, hi int) []int64 {
	if len(g.digits) == 0 {
		g.base = lo
	}
	if from, to := min(lo, g.base), max(hi, g.base+len(g.digits)); from < g.base || to > g.base+len(g.digits) {
		if from == g.base && to-from <= cap(g.digits) {
			had := len(g.digits)
			g.digits = g.digits[:to-from]
			clear(g.digits[had:])
		} else {
			wider := make([]int64, to-from, to-from+1) // One more for a carry.
			copy(wider[g.base-from:], g.digits)
			s.size += 8 * (cap(wider) - cap(g.digits))
			g.digits, g.base = wider, from
		}
	}
	return g.digits[lo-g.base : hi-g.base]
}

// carry brings every digit into 0 to 2^32-1, but for the highest of a negative number, which is -1, and drops digits at the high end that
// the number does not need.
func (s *floatSum) carry(g *floatSumState) {
	g.pending = 0
	var up int64
	for i := range g.digits {
		sum := g.digits[i] + up
		g.digits[i], up = sum&(1<<digitBits-1), sum>>digitBits
	}
	for up != 0 {
		top := s.window(g, g.base+len(g.digits), g.base+len(g.digits)+1)
		if up == -1 {
			top[0], up = -1, 0
		} else {
			top[0], up = up&(1<<digitBits-1), up>>digitBits
		}
	}
	d := g.digits
	for len(d) > 1 && (d[len(d)-1] == 0 || d[len(d)-1] == -1 && d[len(d)-2] == 1<<digitBits-1) {
		if d[len(d)-1] == -1 {
			d[len(d)-2] = -1
		}
		d = d[:len(d)-1]
	}
	g.digits = d
}

func (s *floatSum) AppendState(dst []byte, group int, _ bool) []byte {
	g := &s.groups[group]
	dst = binary.AppendUvarint(dst, uint64(g.n))
	if g.n == 0 {
		return dst
	}
	s.carry(g)
	base, d := g.base, g.digits
	for len(d) > 0 && d[0] == 0 {
		base, d = base+1, d[1:]
	}
	if len(d) == 0 {
		base = 0
	}
	dst = append(dst, g.flags, byte(base), byte(len(d)))
	for _, digit := range d {
		dst = binary.AppendVarint(dst, digit)
	}
	return dst
}

func (s *floatSum) Merge(group int, src []byte) ([]byte, error) {
	n, src, err := takeCount(src)
	if err != nil || n == 0 {
		return src, err
	}
	if len(src) < 3 || src[0] > sawNaN|sawPosInf|sawNegInf || int(src[1])+int(src[2]) > digits {
		return nil, ErrCorrupt
	}
	g := &s.groups[group]
	g.n += n
	g.flags |= src[0]
	lo, count := int(src[1]), int(src[2])
	src = src[3:]
	if count == 0 {
		return src, nil
	}
	if g.pending++; g.pending == maxPending {
		s.carry(g)
	}
	d := s.window(g, lo, lo+count)
	for i := range d {
		var digit int64
		if digit, src, err = takeVarint(src); err != nil || digit >= 1<<digitBits || digit < -1 {
			return nil, ErrCorrupt
		}
		d[i] += digit
	}
	return src, nil
}

func (s *floatSum) Results() []vector.Kind { return []vector.Kind{vector.Float64} }

func (s *floatSum) Result(group, _ int) (vector.Value, error) {
	g := &s.groups[group]
	posInf, negInf := g.flags&sawPosInf != 0, g.flags&sawNegInf != 0
	switch {
	case g.n == 0:
		return vector.Value{Null: true}, nil
	case g.flags&sawNaN != 0 || posInf && negInf:
		return vector.Value{Float: math.NaN()}, nil
	case posInf:
		return vector.Value{Float: math.Inf(1)}, nil
	case negInf:
		return vector.Value{Float: math.Inf(-1)}, nil
	}
	sum := new(big.Int)
	for i := len(g.digits) - 1; i >= 0; i-- {
		sum.Lsh(sum, digitBits)
		sum.Add(sum, big.NewInt(g.digits[i]))
	}
	quotient, divisor := new(big.Rat), big.NewInt(1)
	if exp := g.base*digitBits + unitExp; exp >= 0 {
		sum.Lsh(sum, uint(exp))
	} else {
		divisor.Lsh(divisor, uint(-exp))
	}
	if s.avg {
		divisor.Mul(divisor, big.NewInt(g.n))
	}
	f, _ := quotient.SetFrac(sum, divisor).Float64()
	return vector.Value{Float: f}, nil
}

func (s *floatSum) Reset() {
	clear(s.groups)
	s.groups, s.size = s.groups[:0], 0
}

func (s *floatSum) Size() int { return int(unsafe.Sizeof(floatSumState{}))*len(s.groups) + s.size }
