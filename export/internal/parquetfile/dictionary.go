package parquetfile

import (
	"encoding/binary"
	"hash/maphash"
)

// dictionary numbers the different values of a column in the order in which they
// come. A value is its bytes: a text, or a number as PLAIN encodes it.
//
// It is a hash table of value numbers with open addressing. The seed of the hash
// differs from process to process, which changes no number.
type dictionary struct {
	seed   maphash.Seed
	table  []uint32 // value number + 1, 0 for a free place; a power of two long
	hashes []uint32 // of each value
	ends   []uint32 // of each value in bytes
	bytes  []byte
	page   []uint32 // the last page that each value was on
}

const smallestTable = 256

func newDictionary() *dictionary {
	return &dictionary{seed: maphash.MakeSeed(), table: make([]uint32, smallestTable)}
}

func (d *dictionary) reset() {
	clear(d.table)
	d.hashes, d.ends, d.bytes, d.page = d.hashes[:0], d.ends[:0], d.bytes[:0], d.page[:0]
}

func (d *dictionary) len() int { return len(d.ends) }

// value gives the bytes of a value, valid until the next one is added.
func (d *dictionary) value(i uint32) []byte {
	start := uint32(0)
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.bytes[start:d.ends[i]]
}

// number gives the number of a value, adding it when it is new, and whether this is
// its first time on the page of that number, which begins at 1.
func (d *dictionary) number(value []byte, page uint32) (number uint32, first bool) {
	hash := uint32(maphash.Bytes(d.seed, value))
	mask := uint32(len(d.table) - 1)
	at := hash & mask
	for ; d.table[at] != 0; at = (at + 1) & mask {
		n := d.table[at] - 1
		if d.hashes[n] == hash && string(d.value(n)) == string(value) {
			first = d.page[n] != page
			d.page[n] = page
			return n, first
		}
	}
	number = uint32(len(d.ends))
	d.table[at] = number + 1
	d.hashes = append(d.hashes, hash)
	d.bytes = append(d.bytes, value...)
	d.ends = append(d.ends, uint32(len(d.bytes)))
	d.page = append(d.page, page)
	if 2*len(d.ends) > len(d.table) {
		d.grow()
	}
	return number, true
}

func (d *dictionary) grow() {
	d.table = make([]uint32, 2*len(d.table))
	mask := uint32(len(d.table) - 1)
	for n, hash := range d.hashes {
		at := hash & mask
		for d.table[at] != 0 {
			at = (at + 1) & mask
		}
		d.table[at] = uint32(n) + 1
	}
}

// appendPlain appends the values PLAIN encoded, with lengths where they vary.
func (d *dictionary) appendPlain(dst []byte, lengths bool) []byte {
	if !lengths {
		return append(dst, d.bytes...)
	}
	start := uint32(0)
	for _, end := range d.ends {
		dst = binary.LittleEndian.AppendUint32(dst, end-start)
		dst = append(dst, d.bytes[start:end]...)
		start = end
	}
	return dst
}
