package index

import (
	"encoding/binary"
	"errors"
)

// node is a node of a trie in the form of
// org.apache.cassandra.io.tries.TrieNode. Its first byte is the type (4 bits)
// and what the payload needs to be known of (4 bits); children are at distances
// before the node:
//
//	 0 PAYLOAD_ONLY
//	 1 SINGLE_NOPAYLOAD_4      (the 4 bits are the distance) byte
//	 3 SINGLE_NOPAYLOAD_12     (the 4 bits begin it) 8 bits of distance, byte
//	 2 SINGLE_8, 4 SINGLE_16   byte, distance
//	 5 SPARSE_8, 6 _12, 7 _16, 8 _24, 9 _40     count, bytes, distances
//	10 DENSE_12, 11 _16, 12 _24, 13 _32, 14 _40, 15 _LONG
//	                           first byte, last - first, distances; 0 is no child
//
// A payload stands behind the node.
type node struct {
	position int64
	typ      byte
	flags    byte // of the payload; 0 is none
	payload  []byte
	children int    // of a dense node with those that there are not
	first    byte   // of a dense node
	bytes    []byte // of the others
	deltas   []byte
}

var errNode = errors.New("malformed trie node")

// widths are the bits of a distance by type.
var widths = [16]int{0, 4, 8, 12, 16, 8, 12, 16, 24, 40, 12, 16, 24, 32, 40, 64}

// heads are the bytes that tell the length of a node, by type.
var heads = [16]int{1, 2, 2, 3, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3}

// parseNode reads the node and its payload at the front of b. It errs where b
// does not have all of them.
func parseNode(b []byte, position int64) (node, error) {
	if len(b) == 0 || len(b) < heads[b[0]>>4] {
		return node{}, errNode
	}
	n := node{position: position, typ: b[0] >> 4, flags: b[0] & 0xf}
	at, bits := 1, widths[n.typ] // place of the distances
	switch {
	case n.typ == 0:
	case n.typ == 1:
		n.flags, n.children, n.bytes, at = 0, 1, b[1:2], 0
	case n.typ == 3:
		n.flags, n.children, n.bytes, at = 0, 1, b[2:3], 0
	case n.typ <= 4:
		n.children, n.bytes, at = 1, b[1:2], 2
	case n.typ <= 9:
		n.children = int(b[1])
		if at = 2 + n.children; n.children == 0 || at > len(b) {
			return n, errNode
		}
		n.bytes = b[2:at]
	default:
		n.first, n.children, at = b[1], 1+int(b[2]), 3
		if int(n.first)+n.children > 256 {
			return n, errNode
		}
	}
	end := at + (n.children*bits+7)/8
	switch n.typ {
	case 1:
		end = 2
	case 3:
		end = 3
	}
	size := int(n.flags)
	if size >= 8 {
		size -= 6 // a byte of a hash, then 1 to 8
	}
	if end+size > len(b) {
		return n, errNode
	}
	n.deltas, n.payload = b[at:end], b[end:end+size]
	return n, nil
}

// child gives the byte that leads to the i-th child and the child's position,
// -1 if there is no such child.
func (n *node) child(i int) (byte, int64) {
	c := n.first + byte(i)
	if n.typ < 10 {
		c = n.bytes[i]
	}
	delta := n.delta(i)
	if delta == 0 {
		return c, -1
	}
	return c, n.position - delta
}

func (n *node) delta(i int) int64 {
	d := n.deltas
	switch n.typ {
	case 1:
		return int64(d[0] & 0xf)
	case 3:
		return int64(binary.BigEndian.Uint16(d) & 0xfff)
	case 6, 10:
		v := binary.BigEndian.Uint16(d[3*i/2:])
		if i%2 == 0 {
			v >>= 4
		}
		return int64(v & 0xfff)
	}
	size := widths[n.typ] / 8
	var v uint64
	for _, c := range d[size*i : size*(i+1)] {
		v = v<<8 | uint64(c)
	}
	return int64(v)
}

// value is the number that the payload is, a signed one.
func (n *node) value() int64 {
	p := n.payload
	if n.flags >= 8 {
		p = p[1:]
	}
	v := int64(int8(p[0]))
	for _, c := range p[1:] {
		v = v<<8 | int64(c)
	}
	return v
}
