package groups

import (
	"manifest/queries/internal/ordered"
	"manifest/queries/internal/vector"
)

// Shape is how a group's key is written: its values in order, with Mark, which tells groups of different groupings in one file apart,
// before value MarkAt.
type Shape struct {
	Kinds  []vector.Kind
	Mark   byte
	MarkAt int
}

// canonical returns the float by which floats that are equal as keys are known.
func canonical(v float64) float64 {
	if v == 0 {
		return 0 // Not -0.
	}
	return v
}

// appendValue appends row i of v to a key.
func appendValue(dst []byte, v *vector.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, ordered.Null)
	}
	dst = append(dst, ordered.Present)
	switch width := v.Kind.Width(); v.Kind.Physical() {
	case vector.Ints:
		return ordered.AppendInt(dst, v.Ints[i], width)
	case vector.Floats:
		return ordered.AppendFloat(dst, canonical(v.Floats[i]))
	default:
		if width > 0 {
			return append(dst, v.Bytes(i)...)
		}
		return ordered.AppendBytes(dst, v.Bytes(i))
	}
}

// Append appends the key of row i of the columns.
func (s *Shape) Append(dst []byte, columns []*vector.Vector, i int) []byte {
	for at, v := range columns {
		if at == s.MarkAt {
			dst = append(dst, s.Mark)
		}
		dst = appendValue(dst, v, i)
	}
	if s.MarkAt == len(columns) {
		dst = append(dst, s.Mark)
	}
	return dst
}

// MarkOf returns the mark of a key whose values before the mark are of the given kinds.
func MarkOf(key []byte, before []vector.Kind) (byte, error) {
	for _, kind := range before {
		_, rest, err := takeValue(kind, key, nil)
		if err != nil {
			return 0, err
		}
		key = rest
	}
	if len(key) == 0 {
		return 0, ordered.ErrCorrupt
	}
	return key[0], nil
}

// Decode puts the values of a key into values, which has one element per kind and whose memory is used again. Bytes of a kind that has
// content are content.
func (s *Shape) Decode(key []byte, values []vector.Value) error {
	for i, kind := range s.Kinds {
		if i == s.MarkAt {
			if len(key) == 0 {
				return ordered.ErrCorrupt
			}
			key = key[1:]
		}
		v, rest, err := takeValue(kind, key, values[i].Bytes[:0])
		if err != nil {
			return err
		}
		values[i], key = v, rest
	}
	if s.MarkAt == len(s.Kinds) && len(key) > 0 {
		key = key[1:]
	}
	if len(key) > 0 {
		return ordered.ErrCorrupt
	}
	return nil
}

// Prefix returns the length of the first n values of a key, with the mark if it is before the next one.
func (s *Shape) Prefix(key []byte, n int) (int, error) {
	rest := key
	for i := range n + 1 {
		if i == s.MarkAt && len(rest) > 0 {
			rest = rest[1:]
		}
		if i == n {
			break
		}
		var err error
		if _, rest, err = takeValue(s.Kinds[i], rest, nil); err != nil {
			return 0, err
		}
	}
	return len(key) - len(rest), nil
}

// takeValue reads a value, whose bytes it puts into buf, and returns the bytes behind it.
func takeValue(kind vector.Kind, key, buf []byte) (vector.Value, []byte, error) {
	if len(key) == 0 || key[0] > ordered.Present {
		return vector.Value{}, nil, ordered.ErrCorrupt
	}
	v := vector.Value{Null: key[0] == ordered.Null, Bytes: buf}
	rest := key[1:]
	if v.Null {
		return v, rest, nil
	}
	var err error
	switch width := kind.Width(); {
	case kind.Physical() == vector.Ints:
		v.Int, rest, err = ordered.Int(rest, width)
	case kind.Physical() == vector.Floats:
		v.Float, rest, err = ordered.Float(rest)
	case width > len(rest):
		err = ordered.ErrCorrupt
	case width > 0:
		v.Bytes, rest = append(buf, rest[:width]...), rest[width:]
	default:
		v.Bytes, rest, err = ordered.Bytes(buf, rest)
	}
	return v, rest, err
}
