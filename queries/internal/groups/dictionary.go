package groups

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

// dictionary numbers byte strings from 0 in the order in which they are first seen. It is an open-addressing table over an arena.
type dictionary struct {
	slots []dictionarySlot // a power of two long, at most half in use
	arena []byte
	ends  []int // of string i in arena; it starts where the one before ends
	last  int   // the string looked up last: rows of a partition have the same
}

type dictionarySlot struct {
	hash uint32
	code uint32 // number + 1, 0 if free
}

// bytes returns string i, valid until reset.
func (d *dictionary) bytes(i int) []byte {
	start := 0
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.arena[start:d.ends[i]:d.ends[i]]
}

// code returns the number of a string, which it copies if it is new.
func (d *dictionary) code(s []byte) int {
	if d.last < len(d.ends) && bytes.Equal(d.bytes(d.last), s) {
		return d.last
	}
	if 2*len(d.ends) >= len(d.slots) {
		d.widen()
	}
	hash := xxh3.Hash(s)
	mask := uint64(len(d.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := &d.slots[at]
		if slot.code == 0 {
			d.arena = append(d.arena, s...)
			d.ends = append(d.ends, len(d.arena))
			d.last = len(d.ends) - 1
			*slot = dictionarySlot{hash: uint32(hash >> 32), code: uint32(len(d.ends))}
			return d.last
		}
		if slot.hash == uint32(hash>>32) && bytes.Equal(d.bytes(int(slot.code-1)), s) {
			d.last = int(slot.code - 1)
			return d.last
		}
	}
}

// widen makes room for one more string.
func (d *dictionary) widen() {
	d.slots = make([]dictionarySlot, slotsFor(len(d.ends)+1))
	mask := uint64(len(d.slots) - 1)
	for i := range d.ends {
		hash := xxh3.Hash(d.bytes(i))
		at := hash & mask
		for d.slots[at].code != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = dictionarySlot{hash: uint32(hash >> 32), code: uint32(i + 1)}
	}
}

// reset forgets all strings and keeps the memory.
func (d *dictionary) reset() {
	clear(d.slots)
	d.arena, d.ends, d.last = d.arena[:0], d.ends[:0], 0
}

// size returns the bytes that the strings take.
func (d *dictionary) size() int { return 8*slotsFor(len(d.ends)) + len(d.arena) + 8*len(d.ends) }

// allocated returns the bytes that the dictionary takes, with those that are kept.
func (d *dictionary) allocated() int { return 8*len(d.slots) + cap(d.arena) + 8*cap(d.ends) }
