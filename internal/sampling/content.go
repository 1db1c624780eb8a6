package sampling

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"

	"manifest/internal/tokensort"
)

// content brings rows of one content hash together, the one that stays first: those of the older manifest before others, then by time,
// rows without one last, then by name.
//
//	key: content hash, 0 if pinned else 1, time, name
type content struct {
	decider *Decider
	rows    *tokensort.Sorter
	// edges takes the groups that share a hash, where all rows stay; nil where duplicates are left out.
	edges *tokensort.Sorter

	key, value []byte
}

func (c *content) add(it item, r Row) error {
	c.key = tokensort.AppendText(c.key[:0], r.ContentHash)
	pinned := byte(1)
	if r.Pinned {
		pinned = 0
	}
	time := uint64(math.MaxUint64)
	if r.HasTime {
		time = uint64(r.Time) ^ 1<<63
	}
	c.key = binary.BigEndian.AppendUint64(append(c.key, pinned), time)
	c.key = tokensort.AppendText(c.key, r.Name)
	c.value = it.append(c.value[:0])
	return c.rows.Add(c.key, c.value)
}

func (c *content) finish(ctx context.Context) error {
	var hash, ownerBytes []byte
	var owner item
	have := false
	hand := func() error { // on the row that stays, when all of its duplicates are known
		if !have || c.edges != nil {
			return nil
		}
		return c.decider.sampled(owner)
	}
	err := eachItem(ctx, c.rows, func(key []byte, it item) error {
		n, err := textLen(key)
		if err != nil {
			return err
		}
		if !have || !bytes.Equal(hash, key[:n]) {
			if err := hand(); err != nil {
				return err
			}
			hash, have = append(hash[:0], key[:n]...), true
			ownerBytes = it.append(ownerBytes[:0])
			owner = item{}
			if err := owner.parse(ownerBytes); err != nil {
				return err
			}
			if c.edges == nil {
				return nil
			}
		}
		if c.edges == nil {
			owner.duplicates++
			c.decider.counts.Duplicates++
			return c.decider.decide(it, Decision{Outcome: Duplicate, Of: owner.name})
		}
		if it.group != owner.group {
			if err := addEdge(c.edges, owner.group, it.group); err != nil {
				return err
			}
		}
		return c.decider.sampled(it)
	})
	if err != nil {
		return err
	}
	return errors.Join(hand(), c.rows.Close())
}

// textLen is the length of the text at the beginning of a key, as it stands there.
func textLen(key []byte) (int, error) {
	for at := 0; ; {
		i := bytes.IndexByte(key[at:], 0)
		if i < 0 || at+i+1 >= len(key) {
			_, _, err := tokensort.TakeText(nil, key) // tells what is wrong
			return len(key), err
		}
		at += i + 2
		if key[at-1] == 0 {
			return at, nil
		}
	}
}
