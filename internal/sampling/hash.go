package sampling

import (
	"strconv"

	"github.com/zeebo/xxh3"
)

// hash64 is the upper half of XXH3-128 with seed 0 over salt, a zero byte, domain, a zero byte, and data. The domains keep the hashes of
// one image, such as that of its sample and that of its split, independent.
func hash64(salt, domain string, data []byte) uint64 {
	text := make([]byte, 0, 128)
	text = append(append(text, salt...), 0)
	text = append(append(text, domain...), 0)
	return xxh3.Hash128(append(text, data...)).Hi
}

// SampleHash is the sample hash of an image, by its id as text: a number from 0 to 2^63-1.
func SampleHash(salt string, id []byte) int64 { return int64(hash64(salt, "sample", id) >> 1) }

// GroupID identifies a group by its key (see [GroupKey]). It has no salt, so that datasets can be compared by it.
func GroupID(key []byte) int64 { return int64(hash64("", "group", key)) }

// bucket is where a unit lies between 0 and 2^64.
func bucket(salt string, unit int64) uint64 {
	return hash64(salt, "split", strconv.AppendInt(make([]byte, 0, 20), unit, 10))
}

// GroupKey appends the key of a group with those values, of which nil is NULL: each as its length in decimal, a colon, its bytes and a
// comma, and NULL as a minus and a comma. If all are NULL, nothing is known of the group, and the image is a group of its own: ok is
// false, and the key is that of [SingleKey].
func GroupKey(dst []byte, values ...[]byte) (key []byte, ok bool) {
	for _, v := range values {
		if v == nil {
			dst = append(dst, "-,"...)
			continue
		}
		ok = true
		dst = append(strconv.AppendInt(dst, int64(len(v)), 10), ':')
		dst = append(append(dst, v...), ',')
	}
	return dst, ok
}

// SingleKey is the key of a group of one image: an exclamation mark and its id.
func SingleKey(dst, id []byte) []byte { return append(append(dst, '!'), id...) }
