package vector

import (
	"errors"
	"fmt"
	"math"

	"manifest/queries/internal/ordered"
)

// ErrOutOfRange is wrapped by the error of a value whose result its type cannot hold.
var ErrOutOfRange = errors.New("out of range")

// Content adds the bytes whose order is that of the values of in, for a kind that [Kind.HasContent]; in itself for any other.
func (p *Program) Content(in Slot) Slot {
	kind := p.Kind(in)
	var convert func(dst, value []byte) ([]byte, error)
	switch kind {
	case TimeUUID:
		convert = func(dst, value []byte) ([]byte, error) { return ordered.AppendTimeUUID(dst, value), nil }
	case Inet:
		convert = ordered.AppendInet
	case Varint, Decimal:
		convert = func(dst, value []byte) ([]byte, error) {
			var digits [64]byte
			d, err := ordered.ParseDecimal(value, digits[:0])
			return d.AppendContent(dst), err
		}
	default:
		return in
	}
	return p.derive("content", kind, func(out *Vector, in []*Vector) error {
		src := in[0]
		out.reset(kind, src.Len)
		out.shareNull(src)
		out.data = out.data[:0]
		for i := range src.Len {
			out.Starts[i] = int32(len(out.data))
			if !src.IsNull(i) {
				var err error
				if out.data, err = convert(out.data, src.Bytes(i)); err != nil {
					return err
				}
			}
			if len(out.data) > math.MaxInt32 {
				return fmt.Errorf("%d bytes in %d values: %w", len(out.data), i, ErrOutOfRange)
			}
			out.Ends[i] = int32(len(out.data))
		}
		out.Data = out.data
		return nil
	}, in)
}

// Megapixels adds width · height / 10^6 of two integers. It is NULL unless both are positive.
func (p *Program) Megapixels(width, height Slot) Slot {
	return p.ofSides("megapixels", width, height, func(w, h float64) float64 { return w * h / 1e6 })
}

// Aspect adds width / height of two integers. It is NULL unless both are positive.
func (p *Program) Aspect(width, height Slot) Slot {
	return p.ofSides("aspect", width, height, func(w, h float64) float64 { return w / h })
}

func (p *Program) ofSides(name string, width, height Slot, f func(w, h float64) float64) Slot {
	return p.derive(name, Float64, func(out *Vector, in []*Vector) error {
		w, h := in[0], in[1]
		out.reset(Float64, w.Len)
		for i := range w.Len {
			if w.IsNull(i) || h.IsNull(i) || w.Ints[i] <= 0 || h.Ints[i] <= 0 {
				out.setNull(i)
				continue
			}
			out.Floats[i] = f(float64(w.Ints[i]), float64(h.Ints[i]))
		}
		return nil
	}, width, height)
}

// Difference adds a - b of two integer kinds, as a bigint.
func (p *Program) Difference(a, b Slot) Slot {
	return p.derive("difference", Int64, func(out *Vector, in []*Vector) error {
		a, b := in[0], in[1]
		out.reset(Int64, a.Len)
		for i := range a.Len {
			if a.IsNull(i) || b.IsNull(i) {
				out.setNull(i)
				continue
			}
			x, y := a.Ints[i], b.Ints[i]
			if out.Ints[i] = x - y; (x < y) != (out.Ints[i] < 0) {
				return fmt.Errorf("%d - %d: %w", x, y, ErrOutOfRange)
			}
		}
		return nil
	}, a, b)
}

// Bucket adds the number of bounds, which ascend, that are at most the value of in: 0 below the first bound, len(bounds) from the last
// one on. NaN is in the last bucket.
func (p *Program) Bucket(in Slot, bounds []float64) Slot {
	if p.Kind(in).Physical() == Floats {
		return p.derive(fmt.Sprint("bucket", bounds), Int16, func(out *Vector, in []*Vector) error {
			out.reset(Int16, in[0].Len)
			out.shareNull(in[0])
			for i, v := range in[0].Floats {
				var n int64
				for _, b := range bounds {
					if !(v < b) {
						n++
					}
				}
				out.Ints[i] = n
			}
			return nil
		}, in)
	}
	whole := make([]int64, len(bounds))
	for i, b := range bounds {
		whole[i] = int64(math.Ceil(b))
	}
	return p.derive(fmt.Sprint("bucket", bounds), Int16, func(out *Vector, in []*Vector) error {
		out.reset(Int16, in[0].Len)
		out.shareNull(in[0])
		for i, v := range in[0].Ints {
			var n int64
			for _, b := range whole {
				if v >= b {
					n++
				}
			}
			out.Ints[i] = n
		}
		return nil
	}, in)
}
