package index

import (
	"context"
	"encoding/binary"
	"io"
	"math"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
	"manifest/internal/sstable/primitive"
	"manifest/tokenrange"
)

// trie is Partitions.db with Rows.db.
type trie struct {
	version              component.Version
	partitions, rows     component.File
	path, rowsPath       string
	root, end, keysCount int64
	first, last          []byte // keys
}

func openTrie(ctx context.Context, set *component.Set) (*trie, error) {
	t := &trie{version: set.Version, path: set.Path(component.Partitions), rowsPath: set.Path(component.Rows)}
	for _, name := range []string{component.Partitions, component.Rows} {
		if !set.Has(name) {
			return nil, fault.Missing(set.Path(name))
		}
	}
	var err error
	if t.partitions, err = set.Open(ctx, component.Partitions); err != nil {
		return nil, err
	}
	if t.rows, err = set.Open(ctx, component.Rows); err != nil {
		t.partitions.Close()
		return nil, err
	}
	if err := t.open(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// open reads the end of Partitions.db: first key, last key, and
//
//	place of the first key (8 bytes), count of keys (8), place of the root (8)
func (t *trie) open() error {
	const footer = 24
	size := t.partitions.Size()
	var b [footer]byte
	if size < footer {
		return fault.Corruptf(t.path, -1, "%d bytes", size)
	}
	if err := component.ReadAt(t.partitions, t.path, b[:], size-footer); err != nil {
		return err
	}
	r := primitive.NewReader(b[:])
	t.end, t.keysCount, t.root = r.Int64(), r.Int64(), r.Int64()
	if t.end < 0 || t.end > size-footer-4 || t.root < 0 || t.root >= t.end || t.keysCount < 1 {
		return fault.Corruptf(t.path, size-footer, "%d keys, root at %d, ends at %d", t.keysCount, t.root, t.end)
	}
	at := t.end
	for _, key := range []*[]byte{&t.first, &t.last} {
		var n [2]byte
		if err := component.ReadAt(t.partitions, t.path, n[:], at); err != nil {
			return err
		}
		*key = make([]byte, binary.BigEndian.Uint16(n[:]))
		if err := component.ReadAt(t.partitions, t.path, *key, at+2); err != nil {
			return err
		}
		at += 2 + int64(len(*key))
	}
	if at != size-footer {
		return fault.Corruptf(t.path, t.end, "the last key ends at %d, not at %d", at, size-footer)
	}
	return nil
}

// Close is part of Index.
func (t *trie) Close() error {
	err := t.partitions.Close()
	if e := t.rows.Close(); err == nil {
		err = e
	}
	return err
}

// Bounds is part of Index.
func (t *trie) Bounds() (first, last []byte) { return t.first, t.last }

// separator stands before each component of a path.
const separator = 0x40

// From is part of Index.
func (t *trie) From(after tokenrange.Token) (Entries, error) {
	v, ok := after.Int64()
	if !ok || v == math.MaxInt64 {
		return ended{}, nil
	}
	e := &trieEntries{trie: t, pages: pages{file: t.partitions, path: t.path, limit: t.end}, last: -1, whole: v == math.MinInt64}
	var bound [9]byte
	bound[0] = separator
	binary.BigEndian.PutUint64(bound[1:], uint64(v+1)^1<<63)
	return e, e.push(t.root, bound[:])
}

// trieEntries walks a trie in order.
type trieEntries struct {
	trie  *trie
	pages pages
	stack []frame
	path  []byte // the bytes that lead to the last of the stack
	key   []byte
	last  int64 // offset in Data.db
	whole bool  // from the first key on
	count int64
}

// frame is a node on the path, of which the children from next on are to come.
type frame struct {
	node node
	next int
	// bound is what is left of the bound that the path may not be less than.
	bound []byte
	given bool // the payload was
}

func (e *trieEntries) corrupt(position int64, format string, args ...any) error {
	return fault.Corruptf(e.trie.path, position, format, args...)
}

// push goes down to a node.
func (e *trieEntries) push(position int64, bound []byte) error {
	n, err := e.pages.node(position)
	if err != nil {
		return err
	}
	if n.children == 0 && n.flags == 0 {
		return e.corrupt(position, "a node without children and payload")
	}
	e.stack = append(e.stack, frame{node: n, bound: bound})
	return nil
}

// Next is part of Entries.
func (e *trieEntries) Next() (Entry, error) {
	for len(e.stack) > 0 {
		f := &e.stack[len(e.stack)-1]
		if f.node.flags != 0 && !f.given {
			f.given = true
			// A path that is a prefix of the bound may be of a key on either side.
			return e.entry(f.node)
		}
		if f.next == f.node.children {
			e.stack = e.stack[:len(e.stack)-1]
			e.path = e.path[:max(0, len(e.path)-1)]
			continue
		}
		c, child := f.node.child(f.next)
		f.next++
		if child == -1 || len(f.bound) > 0 && c < f.bound[0] {
			continue
		}
		if child < 0 || child >= f.node.position {
			return Entry{}, e.corrupt(f.node.position, "a child at %d", child)
		}
		var bound []byte
		if len(f.bound) > 0 && c == f.bound[0] {
			bound = f.bound[1:]
		}
		e.path = append(e.path, c)
		if err := e.push(child, bound); err != nil {
			return Entry{}, err
		}
	}
	if e.whole && e.count != e.trie.keysCount {
		return Entry{}, e.corrupt(-1, "%d keys, where the file says %d", e.count, e.trie.keysCount)
	}
	return Entry{}, io.EOF
}

// entry finds the partition that a payload stands for.
func (e *trieEntries) entry(n node) (Entry, error) {
	v := n.value()
	entry := Entry{Offset: ^v, path: e.path}
	if v >= 0 {
		var err error
		if entry, err = e.row(v); err != nil {
			return Entry{}, err
		}
	}
	if e.count++; e.count > e.trie.keysCount {
		return Entry{}, e.corrupt(n.position, "more keys than the %d that the file says", e.trie.keysCount)
	}
	if entry.Offset <= e.last {
		return Entry{}, e.corrupt(n.position, "position %d after %d", entry.Offset, e.last)
	}
	e.last = entry.Offset
	return entry, nil
}

// row reads a long partition's entry in Rows.db:
//
//	key length (2 bytes) key <position> <place of its trie> <count of blocks> deletion
func (e *trieEntries) row(offset int64) (Entry, error) {
	t := e.trie
	var head [2]byte
	if err := component.ReadAt(t.rows, t.rowsPath, head[:], offset); err != nil {
		return Entry{}, err
	}
	const behindKey = 3*9 + 12 // numbers and deletion, at most
	size := int64(len(head)) + int64(binary.BigEndian.Uint16(head[:])) + behindKey
	b := make([]byte, min(size, t.rows.Size()-offset))
	if err := component.ReadAt(t.rows, t.rowsPath, b, offset); err != nil {
		return Entry{}, err
	}
	r := primitive.NewReader(b)
	key := r.Bytes16()
	base := offset + int64(r.Offset()) // of the trie's place
	position, root, blocks := int64(r.Uvint()), base+r.Vint(), r.Uvint()
	_, n, err := primitive.PartitionDeletion(b[r.Offset():], t.version.HasUnsignedDeletionTime())
	if r.Err() != nil || n == 0 || err != nil || position < 0 || root < 0 || root >= base || blocks == 0 {
		return Entry{}, fault.Corruptf(t.rowsPath, offset, "malformed entry of a partition")
	}
	e.key = append(e.key[:0], key...)
	return Entry{Key: e.key, Offset: position}, nil
}
