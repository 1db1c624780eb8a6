package trainset

import (
	"fmt"

	"github.com/google/uuid"

	"manifest/internal/cqltype"
	"manifest/internal/sampling"
	"manifest/internal/tokensort"
	"manifest/tokenrange"
)

// nameOf is the id of an image as text.
func (p *Plan) nameOf(dst, id []byte) ([]byte, error) {
	switch p.joined[idCell].typ.Kind {
	case cqltype.UUID, cqltype.Timeuuid:
		if len(id) != 16 {
			return dst, fmt.Errorf("%w: a uuid of %d bytes", ErrInput, len(id))
		}
		return cqltype.AppendUUID(dst, id), nil
	}
	return append(dst, id...), nil
}

// ImageKey appends the key of an image, by its id as text: that of candidates and of [Pins].
func (p *Plan) ImageKey(dst []byte, partitioner tokenrange.Partitioner, name string) ([]byte, error) {
	id := []byte(name)
	switch p.joined[idCell].typ.Kind {
	case cqltype.UUID, cqltype.Timeuuid:
		if len(name) == 16 { // as --uuid binary writes it
			break
		}
		parsed, err := uuid.Parse(name)
		if err != nil {
			return dst, fmt.Errorf("%w: image %q: %w", ErrInput, name, err)
		}
		id = parsed[:]
	}
	return p.appendKey(dst, partitioner, id)
}

// appendKey appends the key by which the rows of an image are sorted and joined, by its id as the server serializes it: in the order of
// tokens, or in that of sample hashes, which then stand in the place of tokens.
func (p *Plan) appendKey(dst []byte, partitioner tokenrange.Partitioner, id []byte) ([]byte, error) {
	if !p.bySample {
		return tokensort.AppendKey(dst, partitioner.Token(id), id), nil
	}
	var buf [64]byte
	name, err := p.nameOf(buf[:0], id)
	if err != nil {
		return dst, err
	}
	return tokensort.AppendKey(dst, tokenrange.Int64Token(sampling.SampleHash(p.spec.Salt, name)), id), nil
}
