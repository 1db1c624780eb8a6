package sstable

import (
	"fmt"

	"manifest/internal/cqltype"
)

// UserTypes looks up user types by keyspace and name in the headers of SSTables:
// for schemas that do not define them, as the schema.cql of a snapshot leaves out
// those that occur only inside of collections and tuples. Where SSTables differ,
// the one with the most fields is the latest, for types only gain fields.
func UserTypes(readers ...*Reader) func(keyspace, name string) (*cqltype.Type, error) {
	found := map[[2]string]*cqltype.Type{}
	var collect func(t *cqltype.Type)
	collect = func(t *cqltype.Type) {
		if key := [2]string{t.Keyspace, t.Name}; t.Kind == cqltype.UDT && (found[key] == nil || len(found[key].Fields) < len(t.Fields)) {
			c := *t
			c.Frozen = false // whether it is, is said where it is used
			found[key] = &c
		}
		for _, e := range t.Elems {
			collect(e)
		}
	}
	for _, r := range readers {
		h := r.Header()
		for _, t := range h.Key {
			collect(t)
		}
		for _, c := range h.Clustering {
			collect(c.Type)
		}
		for _, c := range h.Static {
			collect(c.Type)
		}
		for _, c := range h.Regular {
			collect(c.Type)
		}
	}
	return func(keyspace, name string) (*cqltype.Type, error) {
		if t := found[[2]string{keyspace, name}]; t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("type %s.%s is neither defined nor in an SSTable", keyspace, name)
	}
}
