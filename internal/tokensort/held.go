package tokensort

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sync"
)

// held keeps rows in memory, and sorts them. What is held is never copied to make room: keys and values are in chunks, each of which the
// next sorter uses again.
//
//	chunks   [k0 v0 k1 v1 ...][k7 v7 ...][a row that is larger than a chunk]
//	rows     prefix of the key, place, lengths
type held struct {
	chunks [][]byte
	rows   []heldRow
	size   int64 // of keys and values
	spare  []heldRow
}

// heldRow is a row in memory. Rows are added at ascending places, which keeps equal keys in their order.
type heldRow struct {
	prefix     uint64
	at         uint32 // number of the chunk, and where in it
	key, value uint32 // lengths
}

const (
	// heldBytes is what a row takes beside its key and value: a heldRow, and another one while rows are sorted.
	heldBytes = 2 * 24

	chunkBits = 18
	chunkSize = 1 << chunkBits
	// maxChunks is what places of 32 bits reach.
	maxChunks = 1 << (32 - chunkBits)
	// maxRow is what lengths of 32 bits reach; a row has at most maxBlock.
	maxRow = maxBlock
)

// chunks are those of sorters that were closed.
var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// fits tells whether a row can be added, whatever the memory.
func (h *held) fits(size int) bool { return h.room() >= size || len(h.chunks) < maxChunks }

// room is what is left of the last chunk.
func (h *held) room() int {
	if len(h.chunks) == 0 {
		return 0
	}
	last := h.chunks[len(h.chunks)-1]
	return cap(last) - len(last)
}

// add copies a row, which fits.
func (h *held) add(key, value []byte) {
	if need := len(key) + len(value); h.room() < need {
		if need > chunkSize {
			h.chunks = append(h.chunks, make([]byte, need)[:0:need])
		} else {
			h.chunks = append(h.chunks, chunks.Get().(*[chunkSize]byte)[:0])
		}
	}
	if len(h.rows) == cap(h.rows) { // twice as many: to copy them less often than append does
		h.rows = slices.Grow(h.rows, max(1024, len(h.rows)))
	}
	last := &h.chunks[len(h.chunks)-1]
	at := (len(h.chunks)-1)<<chunkBits | len(*last)&(chunkSize-1)
	h.rows = append(h.rows, heldRow{prefix: sortPrefix(key), at: uint32(at), key: uint32(len(key)), value: uint32(len(value))})
	*last = append(append(*last, key...), value...)
	h.size += int64(len(key)) + int64(len(value))
}

// memory is about what the rows take.
func (h *held) memory() int64 { return h.size + int64(len(h.rows))*heldBytes }

func (h *held) key(r heldRow) []byte {
	from := r.at & (chunkSize - 1)
	return h.chunks[r.at>>chunkBits][from : from+r.key]
}

func (h *held) value(r heldRow) []byte {
	from := r.at&(chunkSize-1) + r.key
	return h.chunks[r.at>>chunkBits][from : from+r.value]
}

// clear forgets the rows, whose chunks others may use.
func (h *held) clear() {
	for _, c := range h.chunks {
		if cap(c) == chunkSize {
			chunks.Put((*[chunkSize]byte)(c[:chunkSize]))
		}
	}
	clear(h.chunks)
	h.chunks, h.rows, h.size = h.chunks[:0], h.rows[:0], 0
}

// fewRows are sorted by comparing them.
const fewRows = 256

// sort sorts by the prefixes, digit by digit from the last, and then what has equal prefixes by whole keys.
func (h *held) sort() {
	if slices.IsSortedFunc(h.rows, h.compare) { // which ends at the first row that is not
		return
	}
	if len(h.rows) < fewRows {
		slices.SortFunc(h.rows, h.compare)
		return
	}
	h.sortByPrefix()
	for from := 0; from < len(h.rows); {
		to := from + 1
		for to < len(h.rows) && h.rows[to].prefix == h.rows[from].prefix {
			to++
		}
		if to > from+1 {
			slices.SortFunc(h.rows[from:to], h.compare)
		}
		from = to
	}
}

func (h *held) compare(a, b heldRow) int {
	if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
		return c
	}
	if c := bytes.Compare(h.key(a), h.key(b)); c != 0 {
		return c
	}
	return cmp.Compare(a.at, b.at)
}

// sortByPrefix is a radix sort of bytes. Bytes that are the same in all rows take no pass.
func (h *held) sortByPrefix() {
	var counts [8][256]int
	for _, r := range h.rows {
		for digit := range counts {
			counts[digit][byte(r.prefix>>(8*digit))]++
		}
	}
	h.spare = slices.Grow(h.spare[:0], len(h.rows))[:len(h.rows)]
	for digit := range counts {
		places := &counts[digit]
		if places[byte(h.rows[0].prefix>>(8*digit))] == len(h.rows) {
			continue
		}
		at := 0
		for i, n := range places {
			places[i] = at
			at += n
		}
		for _, r := range h.rows {
			place := &places[byte(r.prefix>>(8*digit))]
			h.spare[*place] = r
			*place++
		}
		h.rows, h.spare = h.spare, h.rows
	}
}

// sortPrefix is a number by which rows are compared first: where it differs, keys compare as it does. Keys with a token of 64 bits begin
// with 8 zeros, and get the 63 bits behind them; others get the first 63, above all of those.
func sortPrefix(key []byte) uint64 {
	if p := first8(key); p != 0 {
		return p>>1 | 1<<63
	}
	return first8(key[min(8, len(key)):]) >> 1
}

// first8 reads 8 bytes as a number, as if zeros followed the end.
func first8(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var padded [8]byte
	copy(padded[:], key)
	return binary.BigEndian.Uint64(padded[:])
}
