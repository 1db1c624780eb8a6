package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

var (
	errCounter    = errors.New("malformed counter")
	errLocalShard = errors.New("a counter with local shards, as Cassandra before 2.1 wrote them, is not supported")
)

// A counter's value is a context: what each node has counted.
//
//	count of marks (2 bytes), mark (2 bytes) ..., shard ...
//	shard: id of the node (16 bytes), clock (8), count (8), ascending by id
//	mark:  the number of a shard that is local, or less 32768, global
//
// A shard that is neither is remote.
type shard struct {
	id           []byte
	global       bool
	clock, count int64
}

const shardSize = 32

// appendShards appends the shards of a context.
func appendShards(shards []shard, context []byte) ([]shard, error) {
	if len(context) < 2 {
		return nil, errCounter
	}
	marks := int(int16(binary.BigEndian.Uint16(context)))
	body := 2 + 2*marks
	if marks < 0 || body > len(context) || (len(context)-body)%shardSize != 0 {
		return nil, errCounter
	}
	first := len(shards)
	for b := context[body:]; len(b) > 0; b = b[shardSize:] {
		shards = append(shards, shard{
			id: b[:16], clock: int64(binary.BigEndian.Uint64(b[16:])), count: int64(binary.BigEndian.Uint64(b[24:])),
		})
	}
	for m := context[2:body]; len(m) > 0; m = m[2:] {
		i := int(int16(binary.BigEndian.Uint16(m)))
		if i >= 0 {
			return nil, errLocalShard
		}
		if i += 1 << 15; i >= len(shards)-first {
			return nil, errCounter
		}
		shards[first+i].global = true
	}
	return shards, nil
}

// total is the value that all the shards of some contexts make together.
func total(shards []shard) int64 {
	slices.SortFunc(shards, func(a, b shard) int { return bytes.Compare(a.id, b.id) })
	var sum int64
	for i := 0; i < len(shards); {
		best := shards[i]
		for i++; i < len(shards) && bytes.Equal(shards[i].id, best.id); i++ {
			if shardSupersedes(shards[i], best) {
				best = shards[i]
			}
		}
		sum += best.count
	}
	return sum
}

// shardSupersedes tells whether shard a wins over b of the same node: the one
// of the later clock. Clocks before 0 come from nodes that took a new id.
func shardSupersedes(a, b shard) bool {
	switch {
	case a.global != b.global:
		return a.global
	case a.clock == b.clock:
		return a.count > b.count
	case a.global:
		return a.clock > b.clock
	}
	return a.clock >= 0 && b.clock > 0 && a.clock >= b.clock || a.clock < 0 && (b.clock > 0 || a.clock < b.clock)
}
