package accumulate

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"manifest/queries/internal/ordered"
	"manifest/queries/internal/vector"
)

// decimalSum sums varints and decimals, which come as text, exactly. Its state is the count of values as a varint and, unless that is
// 0, a byte that is 0 if all of them were 0, else 1 and: low as a zigzag varint, high - low as a varint, a byte of the sum's sign plus 1,
// the length of its magnitude as a varint, and the magnitude, big-endian. The sum is magnitude · 10^low.
type decimalSum struct {
	avg    bool
	kind   vector.Kind
	groups []decimalSumState
	size   int // of the magnitudes
	digits []byte
	value  big.Int // scratch
	text   []byte  // of the last result
}

// decimalSumState is sum · 10^low.
type decimalSumState struct {
	n   int64
	sum big.Int
	// The digits of all values that are not 0, if there was one, are those of 10^low up to those below 10^high.
	low, high int64
	seen      bool
}

// maxDecimalDigits bounds high - low, so that 1E+1000000000 and 1 together are an error rather than a gigabyte. As it bounds the values
// and not the sum, it does not depend on their order.
const maxDecimalDigits = 100_000

func (s *decimalSum) Grow(n int) { s.groups = grow(s.groups, n) }

func (s *decimalSum) Update(in *vector.Vector, groups []uint32, lo, hi int) error {
	for i := lo; i < hi; i++ {
		if in.IsNull(i) {
			continue
		}
		d, err := ordered.ParseDecimal(in.Bytes(i), s.digits)
		if err != nil {
			return err
		}
		s.digits = d.Digits
		g := &s.groups[groups[i]]
		g.n++
		if len(d.Digits) == 0 {
			continue
		}
		if len(d.Digits) <= 18 {
			n, _ := strconv.ParseUint(string(d.Digits), 10, 64)
			s.value.SetUint64(n)
		} else {
			s.value.SetString(string(d.Digits), 10)
		}
		if d.Neg {
			s.value.Neg(&s.value)
		}
		if err := s.add(g, &s.value, d.Exp-int64(len(d.Digits)), d.Exp); err != nil {
			return err
		}
	}
	return nil
}

// add adds v · 10^low, whose digits are below 10^high, to g. It may change v.
func (s *decimalSum) add(g *decimalSumState, v *big.Int, low, high int64) error {
	if !g.seen {
		g.low, g.high, g.seen = low, high, true
	}
	g.high = max(g.high, high)
	if g.high-min(g.low, low) > maxDecimalDigits {
		return fmt.Errorf("numbers that span more than %d digits: %w", maxDecimalDigits, ErrOverflow)
	}
	was := len(g.sum.Bits())
	if low < g.low {
		scale(&g.sum, g.low-low)
		g.low = low
	} else if low > g.low {
		scale(v, low-g.low)
	}
	g.sum.Add(&g.sum, v)
	s.size += 8 * (len(g.sum.Bits()) - was)
	return nil
}

// scale multiplies v by 10^n.
func scale(v *big.Int, n int64) {
	v.Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil))
}

func (s *decimalSum) AppendState(dst []byte, group int, _ bool) []byte {
	g := &s.groups[group]
	dst = binary.AppendUvarint(dst, uint64(g.n))
	if g.n == 0 {
		return dst
	}
	if !g.seen {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(append(dst, 1), g.low)
	dst = binary.AppendUvarint(dst, uint64(g.high-g.low))
	dst = append(dst, byte(g.sum.Sign()+1))
	magnitude := g.sum.Bytes()
	dst = binary.AppendUvarint(dst, uint64(len(magnitude)))
	return append(dst, magnitude...)
}

func (s *decimalSum) Merge(group int, src []byte) ([]byte, error) {
	n, src, err := takeCount(src)
	if err != nil || n == 0 {
		return src, err
	}
	g := &s.groups[group]
	g.n += n
	if len(src) == 0 || src[0] > 1 {
		return nil, ErrCorrupt
	}
	if src[0] == 0 {
		return src[1:], nil
	}
	low, src, err := takeVarint(src[1:])
	if err != nil || low < math.MinInt64/4 || low > math.MaxInt64/4 {
		return nil, ErrCorrupt
	}
	span, src, err := takeUvarint(src)
	if err != nil || span > maxDecimalDigits || len(src) == 0 {
		return nil, ErrCorrupt
	}
	sign := int(src[0]) - 1
	length, src, err := takeUvarint(src[1:])
	if err != nil || length > uint64(len(src)) || length > maxDecimalDigits {
		return nil, ErrCorrupt
	}
	s.value.SetBytes(src[:length])
	if s.value.Sign() != sign*sign || sign > 1 {
		return nil, ErrCorrupt
	}
	if sign < 0 {
		s.value.Neg(&s.value)
	}
	return src[length:], s.add(g, &s.value, low, low+int64(span))
}

func (s *decimalSum) Results() []vector.Kind {
	if s.avg {
		return []vector.Kind{vector.Float64}
	}
	return []vector.Kind{s.kind}
}

func (s *decimalSum) Result(group, _ int) (vector.Value, error) {
	g := &s.groups[group]
	if g.n == 0 {
		return vector.Value{Null: true}, nil
	}
	text := g.sum.Append(s.digits[:0], 10)
	s.digits = text
	if s.avg {
		f, err := g.quotient(len(text))
		return vector.Value{Float: f}, err
	}
	text = strconv.AppendInt(append(text, 'E'), g.low, 10)
	d, err := ordered.ParseDecimal(text, nil)
	if err != nil {
		return vector.Value{}, err
	}
	s.text = d.AppendContent(s.text[:0])
	return vector.Value{Bytes: s.text}, nil
}

// quotient returns the sum divided by n, rounded to the nearest double; digits is the length of the sum in decimal.
func (s *decimalSumState) quotient(digits int) (float64, error) {
	// Beyond these sizes the quotient is certainly no double, and computing it could take long.
	const far = 400
	switch size := int64(digits) + s.low; {
	case s.sum.Sign() == 0:
		return 0, nil
	case size > far:
		return math.Inf(s.sum.Sign()), nil
	case size < -far:
		return math.Copysign(0, float64(s.sum.Sign())), nil
	}
	num, den := new(big.Int).Set(&s.sum), big.NewInt(s.n)
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(s.low, -s.low)), nil)
	if s.low > 0 {
		num.Mul(num, ten)
	} else {
		den.Mul(den, ten)
	}
	f, _ := new(big.Rat).SetFrac(num, den).Float64()
	return f, nil
}

func (s *decimalSum) Reset() {
	clear(s.groups)
	s.groups, s.size = s.groups[:0], 0
}

func (s *decimalSum) Size() int { return 64*len(s.groups) + s.size }
