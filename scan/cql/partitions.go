package cql

import (
	"bytes"
	"slices"

	"github.com/gocql/gocql"

	"manifest/internal/schema"
	"manifest/scan"
	"manifest/tokenrange"
)

// keyValue receives one key column's value of the row at hand. The bytes live
// as long as the page.
type keyValue struct{ value []byte }

// UnmarshalCQL takes the serialized value.
func (k *keyValue) UnmarshalCQL(_ gocql.TypeInfo, value []byte) error {
	k.value = value
	return nil
}

// keyColumn receives a key column that is also wanted.
type keyColumn struct {
	plainColumn
	key *keyValue
}

// UnmarshalCQL takes the serialized value.
func (c *keyColumn) UnmarshalCQL(info gocql.TypeInfo, value []byte) error {
	c.key.value = value
	return c.plainColumn.UnmarshalCQL(info, value)
}

// partitions follows which partition the rows of a read are of: what its first
// and last keys are, and which partitions are the largest. Rows of a partition
// are neighbours, so it counts exactly and holds one key at a time.
type partitions struct {
	columns     []schema.Column
	partitioner tokenrange.Partitioner
	// row are the key's values of the row at hand.
	row []*keyValue

	// first and current are copies of the values of the first partition and of
	// the one that is open; begun tells whether there is one.
	first, current [][]byte
	begun          bool
	rows, bytes    int64 // of the open partition
	largest        scan.Largest
	key            []byte // scratch
}

func newPartitions(columns []schema.Column, partitioner tokenrange.Partitioner, row []*keyValue) *partitions {
	return &partitions{columns: columns, partitioner: partitioner, row: row, current: make([][]byte, len(row))}
}

// add counts the row at hand, of which that many bytes were read.
func (p *partitions) add(rowBytes int64) {
	if !p.begun || !p.same() {
		p.end()
		for i, v := range p.row {
			p.current[i] = append(p.current[i][:0], v.value...)
		}
		if !p.begun {
			p.begun = true
			for _, v := range p.current {
				p.first = append(p.first, slices.Clone(v))
			}
		}
	}
	p.rows++
	p.bytes += rowBytes
}

// same tells whether the row at hand is of the open partition.
func (p *partitions) same() bool {
	for i, v := range p.row {
		if !bytes.Equal(v.value, p.current[i]) {
			return false
		}
	}
	return true
}

// end closes the open partition.
func (p *partitions) end() {
	if p.rows > 0 && p.partitioner.Hashes() && p.largest.Wants(p.rows, p.bytes) {
		p.largest.Add(scan.Partition{Key: schema.KeyText(p.columns, p.current), Token: p.token(), Rows: p.rows, Bytes: p.bytes})
	}
	p.rows, p.bytes = 0, 0
}

// token is that of the open partition.
func (p *partitions) token() tokenrange.Token {
	p.key = tokenrange.AppendPartitionKey(p.key[:0], p.current...)
	return p.partitioner.Token(p.key)
}

// last is the key of the last row; "" if there was none.
func (p *partitions) last() string {
	if p == nil || !p.begun {
		return ""
	}
	return schema.KeyText(p.columns, p.current)
}

// describe says what was read. The open partition ends.
func (p *partitions) describe(s *scan.ReadStats) {
	if p == nil || !p.begun {
		return
	}
	p.end()
	s.First, s.Last = schema.KeyText(p.columns, p.first), schema.KeyText(p.columns, p.current)
	s.Largest = p.largest.All()
}
