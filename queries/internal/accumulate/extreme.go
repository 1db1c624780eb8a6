package accumulate

import (
	"bytes"
	"encoding/binary"

	"manifest/queries/internal/ordered"
	"manifest/queries/internal/vector"
)

// wordExtreme is the least or greatest of values of 64 bits or less. Its state is a byte, 0 if there was no value, else 1 and 64 bits,
// big-endian, whose order is that of the values.
type wordExtreme struct {
	kind   vector.Kind
	max    bool
	groups []wordExtremeState
}

type wordExtremeState struct {
	word uint64 // complemented for max, so that the least is wanted
	seen bool
}

func (s *wordExtremeState) see(word uint64) {
	if !s.seen || word < s.word {
		s.word, s.seen = word, true
	}
}

func (e *wordExtreme) Grow(n int) { e.groups = grow(e.groups, n) }

func (e *wordExtreme) Update(in *vector.Vector, groups []uint32, lo, hi int) error {
	var flip uint64
	if e.max {
		flip = ^flip
	}
	floats := e.kind.Physical() == vector.Floats
	for i := lo; i < hi; i++ {
		if in.IsNull(i) {
			continue
		}
		var word uint64
		if floats {
			word = ordered.FloatBits(in.Floats[i])
		} else {
			word = uint64(in.Ints[i]) ^ 1<<63
		}
		e.groups[groups[i]].see(word ^ flip)
	}
	return nil
}

func (e *wordExtreme) AppendState(dst []byte, g int, _ bool) []byte {
	st := e.groups[g]
	if !st.seen {
		return append(dst, 0)
	}
	return binary.BigEndian.AppendUint64(append(dst, 1), e.value(st))
}

// value returns the word as the values order it.
func (e *wordExtreme) value(st wordExtremeState) uint64 {
	if e.max {
		return ^st.word
	}
	return st.word
}

func (e *wordExtreme) Merge(g int, src []byte) ([]byte, error) {
	if len(src) == 0 || src[0] > 1 {
		return nil, ErrCorrupt
	}
	if src[0] == 0 {
		return src[1:], nil
	}
	word, rest, err := takeUint64(src[1:])
	if err != nil {
		return nil, err
	}
	if e.max {
		word = ^word
	}
	e.groups[g].see(word)
	return rest, nil
}

func (e *wordExtreme) Results() []vector.Kind { return []vector.Kind{e.kind} }

func (e *wordExtreme) Result(g, _ int) (vector.Value, error) {
	st := e.groups[g]
	switch word := e.value(st); {
	case !st.seen:
		return vector.Value{Null: true}, nil
	case e.kind.Physical() == vector.Floats:
		return vector.Value{Float: ordered.FloatOf(word)}, nil
	default:
		return vector.Value{Int: int64(word ^ 1<<63)}, nil
	}
}

func (e *wordExtreme) Reset() { e.groups = e.groups[:0] }

func (e *wordExtreme) Size() int { return 16 * len(e.groups) }

// bytesExtreme is the least or greatest of values whose content has their order. Its state is 0 if there was no value, else the length
// plus 1 as a varint, and the content.
type bytesExtreme struct {
	kind   vector.Kind
	max    bool
	groups []bytesExtremeState
	size   int // of the values
}

type bytesExtremeState struct {
	value []byte
	seen  bool
}

func (e *bytesExtreme) see(g *bytesExtremeState, value []byte) {
	if g.seen && (bytes.Compare(value, g.value) < 0) == e.max {
		return
	}
	was := cap(g.value)
	g.value, g.seen = append(g.value[:0], value...), true
	e.size += cap(g.value) - was
}

func (e *bytesExtreme) Grow(n int) { e.groups = grow(e.groups, n) }

func (e *bytesExtreme) Update(in *vector.Vector, groups []uint32, lo, hi int) error {
	for i := lo; i < hi; i++ {
		if !in.IsNull(i) {
			e.see(&e.groups[groups[i]], in.Bytes(i))
		}
	}
	return nil
}

func (e *bytesExtreme) AppendState(dst []byte, g int, _ bool) []byte {
	st := e.groups[g]
	if !st.seen {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(len(st.value))+1)
	return append(dst, st.value...)
}

func (e *bytesExtreme) Merge(g int, src []byte) ([]byte, error) {
	length, src, err := takeUvarint(src)
	if err != nil || length == 0 {
		return src, err
	}
	if length--; length > uint64(len(src)) {
		return nil, ErrCorrupt
	}
	e.see(&e.groups[g], src[:length])
	return src[length:], nil
}

func (e *bytesExtreme) Results() []vector.Kind { return []vector.Kind{e.kind} }

func (e *bytesExtreme) Result(g, _ int) (vector.Value, error) {
	st := e.groups[g]
	return vector.Value{Null: !st.seen, Bytes: st.value}, nil
}

func (e *bytesExtreme) Reset() {
	clear(e.groups)
	e.groups, e.size = e.groups[:0], 0
}

func (e *bytesExtreme) Size() int { return 32*len(e.groups) + e.size }
