package tokenrange

import (
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// partitionerPackage is the Java package in whose names Cassandra reports its own partitioners.
const partitionerPackage = "org.apache.cassandra.dht."

// hashFunction tells the partitioners apart.
type hashFunction uint8

const (
	murmur3 hashFunction = iota
	random
	unknownHash
)

// Partitioner is the rule that gives a partition key its token. It is a small value, comparable
// and safe for use by many goroutines. The zero Partitioner is [Murmur3], Cassandra's default.
type Partitioner struct {
	hash hashFunction
	name string // of a partitioner that is known by its name alone
}

// The partitioners whose tokens this package computes.
var (
	// Murmur3 hashes to a signed 64-bit token; the ring is (-2^63, 2^63-1].
	Murmur3 = Partitioner{hash: murmur3}
	// Random takes the absolute value of an MD5 sum; the ring is (-1, 2^127].
	Random = Partitioner{hash: random}
)

// PartitionerByName returns the partitioner of a Java class as system.local names it, with or
// without its package. It errs with [ErrUnsupportedPartitioner] on any class but
// Murmur3Partitioner and RandomPartitioner.
func PartitionerByName(class string) (Partitioner, error) {
	switch strings.TrimPrefix(class, partitionerPackage) {
	case "Murmur3Partitioner":
		return Murmur3, nil
	case "RandomPartitioner":
		return Random, nil
	}
	return Partitioner{}, fmt.Errorf("%w %q", ErrUnsupportedPartitioner, class)
}

// ExplicitPartitioner returns a stand-in for a partitioner whose tokens are integers computed in
// a way unknown here. Its ring is everything a [Token] can hold, its tokens can't be computed
// from keys, and a plan for it needs ranges given by the user, see [PlanOptions].
func ExplicitPartitioner(class string) Partitioner {
	return Partitioner{hash: unknownHash, name: class}
}

// Name returns the partitioner's Java class as Cassandra names it.
func (p Partitioner) Name() string {
	switch p.hash {
	case murmur3:
		return partitionerPackage + "Murmur3Partitioner"
	case random:
		return partitionerPackage + "RandomPartitioner"
	}
	return p.name
}

// Hashes reports whether [Partitioner.Token] can be called: false for an [ExplicitPartitioner].
func (p Partitioner) Hashes() bool { return p.hash != unknownHash }

// Token returns the token of a serialized partition key (see [PartitionKey]), which it neither
// keeps nor changes. It allocates nothing. The empty key, which no row can have, gets the token
// at the exclusive start of the ring, as in Cassandra. Token panics on an [ExplicitPartitioner].
func (p Partitioner) Token(partitionKey []byte) Token {
	switch {
	case p.hash == unknownHash:
		panic("tokenrange: tokens of " + p.name + " are not computable")
	case len(partitionKey) == 0:
		return p.Ring().Start
	case p.hash == random:
		return randomToken(partitionKey)
	}
	return Int64Token(murmur3Token(partitionKey))
}

// Ring returns the range of all tokens that a row can have.
func (p Partitioner) Ring() Range {
	switch p.hash {
	case murmur3:
		return Range{Int64Token(math.MinInt64), Int64Token(math.MaxInt64)}
	case random:
		return Range{Int64Token(-1), Token{1 << 63, tokenOffset}}
	}
	return Range{Token{}, Token{math.MaxUint64, math.MaxUint64}}
}

// Parse reads a token in decimal and checks that it is on the ring or at its exclusive start.
// It errs as [ParseToken] does, and with [ErrOutOfRing].
func (p Partitioner) Parse(token string) (Token, error) {
	t, err := ParseToken(token)
	if err != nil {
		return Token{}, err
	}
	return t, p.check(t)
}

// check errs with ErrOutOfRing where t is neither on the ring nor at its exclusive start.
func (p Partitioner) check(t Token) error {
	ring := p.Ring()
	if t.Less(ring.Start) || ring.End.Less(t) {
		return fmt.Errorf("token %s of %s: %w %s", t, p.Name(), ErrOutOfRing, ring)
	}
	return nil
}

// checkRange errs with ErrEmptyRange where r is not valid and as check does.
func (p Partitioner) checkRange(r Range) error {
	if !r.IsValid() {
		return fmt.Errorf("%s: %w", r, ErrEmptyRange)
	}
	return errors.Join(p.check(r.Start), p.check(r.End))
}

// randomToken is org.apache.cassandra.dht.RandomPartitioner's: the MD5 sum of the key read as a
// signed big-endian number, without its sign.
func randomToken(key []byte) Token {
	sum := md5.Sum(key)
	v := uint128{binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:])}
	if v.hi>>63 == 1 {
		v = uint128{}.sub(v)
	}
	return Token(v.add(uint128{0, tokenOffset}))
}

// murmur3Token is org.apache.cassandra.dht.Murmur3Partitioner's: the first half of
// MurmurHash3_x64_128 with seed 0, except that the bytes after the last whole block of 16 are
// sign-extended (Cassandra computes with Java's signed bytes, and can't change it any more), and
// that the ring's minimum becomes its maximum, so that no key falls outside (-2^63, 2^63-1].
func murmur3Token(key []byte) int64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	var h1, h2 uint64
	length := uint64(len(key))
	for len(key) >= 16 {
		k1, k2 := binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])
		key = key[16:]
		h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	if len(key) > 0 { // a uuid alone has nothing left
		var k1, k2 uint64
		for i := len(key) - 1; i >= 8; i-- {
			k2 ^= uint64(int8(key[i])) << (8 * (i - 8))
		}
		for i := min(len(key), 8) - 1; i >= 0; i-- {
			k1 ^= uint64(int8(key[i])) << (8 * i)
		}
		h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
		h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
	}
	h1 ^= length
	h2 ^= length
	h1 += h2
	h2 += h1
	h1 = finalMix(h1) + finalMix(h2)
	if int64(h1) == math.MinInt64 {
		return math.MaxInt64
	}
	return int64(h1)
}

// finalMix makes every bit of a half depend on every other.
func finalMix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
