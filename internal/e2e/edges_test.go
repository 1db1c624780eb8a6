package e2e

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/gocql/gocql"
)

// The table edges has partitions exactly on, before and after the tokens where ranges end, and at both ends of the ring: each must be read
// by exactly one split. Its keys are made by running Murmur3 backwards.

// The constants of MurmurHash3's x64 128-bit variant (Austin Appleby, public domain).
const (
	murmurC1 = 0x87c37b91114253d5
	murmurC2 = 0x4cf5ad432745937f
)

// keyOf returns a key of 16 bytes whose Murmur3 token is the given one. Among the keys of a token, lower chooses one.
func keyOf(token int64, lower uint64) []byte {
	h1, h2 := uint64(token), lower
	h2 -= h1
	h1 -= h2
	h1, h2 = unmixed(h1), unmixed(h2)
	h2 -= h1
	h1 -= h2
	h1 ^= 16 // the key's length
	h2 ^= 16
	h2 = (h2 - 0x38495ab5) * inverse(5)
	h2 = bits.RotateLeft64(h2-h1, -31)
	h1 = (h1 - 0x52dce729) * inverse(5)
	h1 = bits.RotateLeft64(h1, -27)
	k1 := bits.RotateLeft64(h1*inverse(murmurC2), -31) * inverse(murmurC1)
	k2 := bits.RotateLeft64(h2*inverse(murmurC1), -33) * inverse(murmurC2)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, k1), k2)
}

// unmixed undoes the finalization mix.
func unmixed(h uint64) uint64 {
	h ^= h >> 33
	h *= inverse(0xc4ceb9fe1a85ec53)
	h ^= h >> 33
	h *= inverse(0xff51afd7ed558ccd)
	return h ^ h>>33
}

// inverse returns the number whose product with an odd number is 1 modulo 2^64, by Newton's method.
func inverse(odd uint64) uint64 {
	x := odd
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}

// ringTokens returns the tokens that the nodes own.
func ringTokens(ctx context.Context, session *gocql.Session) ([]int64, error) {
	var tokens []int64
	for _, statement := range []string{"SELECT tokens FROM system.local", "SELECT tokens FROM system.peers"} {
		iter := session.Query(statement).WithContext(ctx).Iter()
		for texts := []string(nil); iter.Scan(&texts); {
			for _, text := range texts {
				token, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return nil, fmt.Errorf("token of a node: %w", err)
				}
				tokens = append(tokens, token)
			}
		}
		if err := iter.Close(); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return tokens, nil
}

// loadEdges makes the table edges: partitions at the given tokens and beside them.
func loadEdges(ctx context.Context, session *gocql.Session, keyspace string, ends []int64) error {
	if err := session.Query(fmt.Sprintf("CREATE TABLE %q.edges (k blob PRIMARY KEY, wanted bigint, lower bigint)", keyspace)).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("create edges: %w", err)
	}
	tokens := []int64{math.MinInt64 + 1, math.MinInt64 + 2, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	for _, end := range ends {
		tokens = append(tokens, max(end, math.MinInt64+2)-1, end, min(end, math.MaxInt64-1)+1)
	}
	tokens = slices.DeleteFunc(tokens, func(token int64) bool { return token == math.MinInt64 }) // no key has it
	slices.Sort(tokens)
	for _, token := range slices.Compact(tokens) {
		for lower := range int64(2) { // two partitions of one token
			statement := fmt.Sprintf("INSERT INTO %q.edges (k, wanted, lower) VALUES (?, ?, ?)", keyspace)
			if err := session.Query(statement, keyOf(token, uint64(lower)), token, lower).WithContext(ctx).Exec(); err != nil {
				return fmt.Errorf("write edges: %w", err)
			}
		}
	}
	// A hash of -2^63 counts as the highest token.
	statement := fmt.Sprintf("INSERT INTO %q.edges (k, wanted, lower) VALUES (?, ?, ?)", keyspace)
	if err := session.Query(statement, keyOf(math.MinInt64, 7), int64(math.MaxInt64), int64(7)).WithContext(ctx).Exec(); err != nil {
		return fmt.Errorf("write edges: %w", err)
	}
	var misplaced int
	iter := session.Query(fmt.Sprintf("SELECT token(k), wanted FROM %q.edges", keyspace)).WithContext(ctx).Iter()
	for token, wanted := int64(0), int64(0); iter.Scan(&token, &wanted); {
		if token != wanted {
			misplaced++
		}
	}
	if err := iter.Close(); err != nil {
		return fmt.Errorf("read edges: %w", err)
	}
	if misplaced > 0 {
		return fmt.Errorf("the server puts %d keys at other tokens", misplaced)
	}
	return nil
}
