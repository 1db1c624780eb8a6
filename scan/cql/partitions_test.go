package cql

import (
	"encoding/binary"
	"encoding/hex"
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

func TestKeysAsText(t *testing.T) {
	columns := []schema.Column{column(t, "device_id", "text"), column(t, "day_bucket", "date")}
	day := binary.BigEndian.AppendUint32(nil, 1<<31+20455) // days since 1970-01-01, by the protocol's offset
	if got, want := keyText(columns, [][]byte{[]byte("cam '7' ☃"), day}), "device_id='cam ''7'' ☃', day_bucket=2026-01-02"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, c := range []struct{ cql, value, want string }{
		{"int", "fffffff6", "-10"},
		{"bigint", "8000000000000000", "-9223372036854775808"},
		{"boolean", "01", "true"},
		{"blob", "cafe", "0xcafe"},
		{"timeuuid", "f81d4fae7dec11d0a76500a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		{"timestamp", "0000018df53c1a00", "2024-02-29 14:19:33.248Z"},
		{"inet", "c0000207", "192.0.2.7"},
		{"varint", "80", "-128"},
		{"int", "ff", "0xff"}, // not an int: shown as it is
	} {
		value, err := hex.DecodeString(c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := literal(column(t, "k", c.cql).Type, value); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.cql, c.value, got, c.want)
		}
	}
	if got := literal(columns[0].Type, []byte(strings.Repeat("☃", 1000))); len(got) > literalLimit+5 || !strings.HasSuffix(got, "☃…'") {
		t.Errorf("a long key is %s", got)
	}
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
