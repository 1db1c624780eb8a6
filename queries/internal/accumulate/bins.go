package accumulate

import (
	"encoding/binary"

	"github.com/DataDog/sketches-go/ddsketch/store"
)

// bins are counts of consecutive bins from index base on.
type bins struct {
	base   int
	counts []uint64
}

func (b *bins) append(dst []byte) []byte {
	n := uint64(0)
	for _, count := range b.counts {
		if count > 0 {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, n)
	last, first := 0, true
	for i, count := range b.counts {
		switch index := b.base + i; {
		case count == 0:
			continue
		case first:
			dst = binary.AppendVarint(dst, int64(index))
			last, first = index, false
		default:
			dst = binary.AppendUvarint(dst, uint64(index-last))
			last = index
		}
		dst = binary.AppendUvarint(dst, count)
	}
	return dst
}

func (b *bins) addTo(s store.Store) {
	for i, count := range b.counts {
		if count > 0 {
			s.AddWithCount(b.base+i, float64(count))
		}
	}
}
