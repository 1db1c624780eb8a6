package index

import (
	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
)

const pageSize = 4096

// pages keeps some pages of a file of trie nodes, for a walk that mostly stays
// near where it was.
type pages struct {
	file  component.File
	path  string
	limit int64 // nodes end before it
	cache [32]page
	clock int
}

type page struct {
	number int64 // of the page plus one
	bytes  []byte
	used   bool
}

// node reads a node.
func (p *pages) node(position int64) (node, error) {
	b, err := p.page(position / pageSize)
	if err != nil {
		return node{}, err
	}
	b = b[min(int64(len(b)), position%pageSize):]
	n, err := parseNode(b, position)
	if err == nil {
		return n, nil
	}
	// Writers keep nodes from crossing pages, but the format does not need it.
	more, err := p.page(position/pageSize + 1)
	if err != nil {
		return node{}, err
	}
	if n, err = parseNode(append(b[:len(b):len(b)], more...), position); err != nil {
		return node{}, fault.Corruptf(p.path, position, "%w", err)
	}
	return n, nil
}

// page reads a page. Its memory is not used again, for nodes are parts of it.
func (p *pages) page(number int64) ([]byte, error) {
	for i := range p.cache {
		if p.cache[i].number == number+1 {
			p.cache[i].used = true
			return p.cache[i].bytes, nil
		}
	}
	b := make([]byte, max(0, min(pageSize, p.limit-number*pageSize)))
	if err := component.ReadAt(p.file, p.path, b, number*pageSize); err != nil {
		return nil, err
	}
	for p.cache[p.clock].used {
		p.cache[p.clock].used = false
		p.clock = (p.clock + 1) % len(p.cache)
	}
	p.cache[p.clock] = page{number: number + 1, bytes: b, used: true}
	p.clock = (p.clock + 1) % len(p.cache)
	return b, nil
}
