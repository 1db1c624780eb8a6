package cql

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/scan"
	"manifest/tokenrange"
)

func column(t testing.TB, name, cql string) schema.Column {
	t.Helper()
	typ, err := cqltype.Parse(cql, nil)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Column{Name: name, Kind: schema.PartitionKey, Type: typ}
}

// Partitions are followed over rows that come one after the other, as they
// would be by grouping all of them at the end.
func TestPartitionsAreFollowed(t *testing.T) {
	columns := []schema.Column{column(t, "a", "int"), column(t, "b", "text")}
	rapid.Check(t, func(t *rapid.T) {
		row := []*keyValue{{}, {}}
		p := newPartitions(columns, tokenrange.Murmur3, row)
		sizes := rapid.SliceOfN(rapid.IntRange(1, 30), 0, 40).Draw(t, "partitions")
		most := scan.Partition{}
		page := make([]byte, 64) // bytes that are used again, as the driver does
		var first, last string
		for i, rows := range sizes {
			var bytes int64
			for range rows {
				clear(page)
				binary.BigEndian.PutUint32(page, uint32(i/2))
				name := append(page[4:4], strings.Repeat("x", i%2)...)
				row[0].value, row[1].value = page[:4], name
				size := int64(rapid.IntRange(0, 50).Draw(t, "bytes"))
				p.add(size)
				bytes += size
			}
			last = fmt.Sprintf("a=%d, b='%s'", i/2, strings.Repeat("x", i%2))
			if i == 0 {
				first = last
			}
			if int64(rows) > most.Rows && rows > 1 {
				most = scan.Partition{Key: last, Rows: int64(rows), Bytes: bytes}
			}
		}
		var s scan.ReadStats
		p.describe(&s)
		if s.First != first || s.Last != last {
			t.Fatalf("from %s to %s, want %s to %s", s.First, s.Last, first, last)
		}
		var l scan.Largest
		for _, found := range s.Largest {
			l.Add(found)
		}
		if most.Rows == 0 {
			return
		}
		// Of equal ones the one with the smaller token stands first.
		if got := l.ByRows[0]; got.Rows != most.Rows || (got.Key == most.Key && got.Bytes != most.Bytes) {
			t.Fatalf("largest is %+v, want %+v", got, most)
		}
	})
}

func TestTheStatementSelectsTheKeyOfWidePartitionsAlone(t *testing.T) {
	key, clustering, value := column(t, "k", "int"), column(t, "c", "int"), column(t, "v", "int")
	clustering.Kind, value.Kind = schema.Clustering, schema.Regular
	for _, c := range []struct {
		name    string
		columns []schema.Column
		wanted  []string
		want    string
		follows bool
	}{
		{"key not wanted", []schema.Column{key, value}, []string{"v"}, `SELECT "v" FROM`, false},
		{"key wanted", []schema.Column{key, value}, []string{"v", "k"}, `SELECT "v","k" FROM`, true},
		{"wide, key not wanted", []schema.Column{key, clustering, value}, []string{"v"}, `SELECT "v","k" FROM`, true},
		{"wide, key wanted", []schema.Column{key, clustering, value}, []string{"k", "v"}, `SELECT "k","v" FROM`, true},
	} {
		p, err := newProjection(&schema.Table{Keyspace: "ks", Name: "t", Columns: c.columns}, c.wanted, tokenrange.Murmur3, false, false)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(p.selection+p.from, c.want) || (len(p.keys) > 0) != c.follows || p.schema.NumFields() != len(c.wanted) {
			t.Errorf("%s: %s, follows %v", c.name, p.selection, p.keys)
		}
	}
}
