package ddl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"manifest/internal/cqltype"
	"manifest/internal/sstable"
	"manifest/internal/sstable/fault"
)

// describe gives a schema in one line.
func describe(s sstable.Schema) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", s.Table, s.Table.ID)
	if s.Table.View {
		b.WriteString(" view")
	}
	for _, c := range s.Table.Columns {
		fmt.Fprintf(&b, "; %s %s %s", c.Name, c.Type, c.Kind)
		if c.Descending {
			b.WriteString(" desc")
		}
	}
	for _, d := range s.Dropped {
		fmt.Fprintf(&b, "; dropped %s %t %d", d.Name, d.Static, d.At)
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, cql, want string }{
		{
			"one key column", `CREATE TABLE ks.t (id timeuuid PRIMARY KEY, v int);`,
			"ks.t ; id timeuuid partition_key; v int regular",
		},
		{
			"a snapshot of Cassandra 5.0",
			`CREATE TABLE IF NOT EXISTS ks.t (
    a int,
    b text,
    s int static,
    v text,
    m map<text, int>,
    PRIMARY KEY ((a), b)
) WITH ID = e49e22d0-ecea-11f1-a29b-99d233e1b3a2
    AND CLUSTERING ORDER BY (b DESC)
    AND additional_write_policy = '99p'
    AND caching = {'keys': 'ALL', 'rows_per_partition': 'NONE'}
    AND comment = 'a ; in a string, and it''s CREATE TABLE x (y int)'
    AND crc_check_chance = 1.0
    AND extensions = {}
    AND speculative_retry = '99p';
CREATE INDEX IF NOT EXISTS i ON ks.t (v);`,
			"ks.t e49e22d0-ecea-11f1-a29b-99d233e1b3a2; a int partition_key; b text clustering desc; s int static; m map<text, int> regular; v text regular",
		},
		{
			"dropped columns, one of which came back",
			`CREATE TABLE ks.t (a int PRIMARY KEY, gone frozen<tuple<int, text>>, back text, s int static) WITH ID = 949e22d0-ecea-11f1-a29b-99d233e1b3a2;
ALTER TABLE ks.t DROP gone USING TIMESTAMP 1700000000000000;
ALTER TABLE ks.t DROP back USING TIMESTAMP 1700000000000001;
ALTER TABLE ks.t ADD back int static;`,
			"ks.t 949e22d0-ecea-11f1-a29b-99d233e1b3a2; a int partition_key; back int static; s int static; dropped gone false 1700000000000000; dropped back false 1700000000000001",
		},
		{
			"quoted names and reserved words",
			`create table "Ks"."My ""Table""" ("Partition Key" text, "from" int, "static" text static, primary key ("Partition Key", "from")) with clustering order by ("from" desc);`,
			`Ks.My "Table" ; Partition Key text partition_key; from int clustering desc; static text static`,
		},
		{
			"user types, one in another, written with their keyspace",
			`CREATE TYPE ks.inner_type (a int, "B" frozen<list<text>>); CREATE TYPE IF NOT EXISTS ks.outer_type (i frozen<ks.inner_type>);
CREATE TABLE ks.t (id int PRIMARY KEY, o outer_type, l list<frozen<outer_type>>);`,
			`ks.t ; id int partition_key; l list<frozen<outer_type>> regular; o outer_type regular`,
		},
		{
			"comments, masks, composite key, vector",
			`-- a comment
// another
/* and
   one more; */ CREATE TABLE ks.t (a int, b int, c text MASKED WITH mask_inner(1, null), d vector<float, 3>, PRIMARY KEY ((a, b), c)); USE ks; CREATE KEYSPACE x WITH replication = {'class': 'SimpleStrategy'};`,
			"ks.t ; a int partition_key; b int partition_key; c text clustering; d vector<float, 3> regular",
		},
		{
			"a view",
			`CREATE TABLE ks.t (a int, b int, c text, d int, PRIMARY KEY (a, b));
CREATE MATERIALIZED VIEW IF NOT EXISTS ks.v AS SELECT a, b, c FROM ks.t WHERE a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, a, b) WITH ID = 949e22d0-ecea-11f1-a29b-99d233e1b3a2 AND CLUSTERING ORDER BY (a DESC, b ASC);`,
			"ks.v 949e22d0-ecea-11f1-a29b-99d233e1b3a2 view; c text partition_key; a int clustering desc; b int clustering",
		},
		{
			"no semicolon at the end", `CREATE TABLE ks.t (id int PRIMARY KEY) WITH comment = 'x'`,
			"ks.t ; id int partition_key",
		},
	} {
		schemas, err := Parse(c.cql, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := describe(schemas[len(schemas)-1]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestParseAsksForTypes(t *testing.T) {
	place := &cqltype.Type{Kind: cqltype.UDT, Keyspace: "ks", Name: "place", Fields: []string{"x"}, Elems: []*cqltype.Type{{Kind: cqltype.Int}}}
	schemas, err := Parse(`CREATE TABLE ks.t (id int PRIMARY KEY, l list<frozen<place>>)`, func(keyspace, name string) (*cqltype.Type, error) {
		if keyspace != "ks" || name != "place" {
			t.Errorf("asked for %s.%s", keyspace, name)
		}
		return place, nil
	})
	if err != nil || describe(schemas[0]) != "ks.t ; id int partition_key; l list<frozen<place>> regular" {
		t.Errorf("%v, %v", schemas, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		cql, text string
		is        error
	}{
		{"CREATE TABLE ks.t (a int PRIMARY KEY) WITH COMPACT STORAGE;", "COMPACT STORAGE", fault.ErrUnsupported},
		{"CREATE TABLE ks.t (a int PRIMARY KEY, b place)", "place", nil},
		{"CREATE TABLE ks.t (a int PRIMARY KEY, b 'org.apache.cassandra.db.marshal.EmptyType')", "EmptyType", cqltype.ErrUnsupportedType},
		{"CREATE TABLE ks.t (a int, b int)", "no primary key", ErrSyntax},
		{"CREATE TABLE ks.t (a int, PRIMARY KEY (b))", `no column "b"`, ErrSyntax},
		{"CREATE TABLE ks.t (a int PRIMARY KEY, a text)", "twice", ErrSyntax},
		{"CREATE TABLE ks.t (a int PRIMARY KEY) WITH CLUSTERING ORDER BY (a DESC)", "no clustering column", ErrSyntax},
		{"CREATE TABLE ks.t (a int PRIMARY KEY\n, b list<int", "line 2", ErrSyntax},
		{"\n\nDELETE FROM ks.t", "line 3", ErrSyntax},
		{"CREATE TABLE ks.t (a int PRIMARY KEY); ALTER TABLE ks.t DROP b USING TIMESTAMP 1", `no column "b"`, ErrSyntax},
		{"CREATE TABLE ks.t (a int PRIMARY KEY, b int); ALTER TABLE ks.t DROP b", "time of the drop", ErrSyntax},
		{"ALTER TABLE ks.t DROP b USING TIMESTAMP 1", "no table ks.t", ErrSyntax},
		{"CREATE MATERIALIZED VIEW ks.v AS SELECT * FROM ks.t PRIMARY KEY (a)", "no table ks.t", ErrSyntax},
		{`CREATE TABLE ks."t (a int PRIMARY KEY)`, "no closing", ErrSyntax},
		{"/* no end", "comment", ErrSyntax},
		{"CREATE TABLE ks.t (a int PRIMARY KEY) WITH comment = $$no end", "string", ErrSyntax},
		{"CREATE", "statement", ErrSyntax},
	} {
		_, err := Parse(c.cql, nil)
		if err == nil || !strings.Contains(err.Error(), c.text) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %q", c.cql, err, c.text)
		}
	}
}

// FuzzParse reads what is no schema.
func FuzzParse(f *testing.F) {
	f.Add("CREATE TABLE ks.t (a int, b map<text, frozen<list<int>>> static, PRIMARY KEY ((a), b)) WITH ID = 949e22d0-ecea-11f1-a29b-99d233e1b3a2 AND CLUSTERING ORDER BY (b DESC);")
	f.Add("CREATE TYPE ks.u (a int); ALTER TABLE ks.t DROP a USING TIMESTAMP 5; ALTER TABLE ks.t ADD (a int, b text);")
	f.Add("CREATE MATERIALIZED VIEW ks.v AS SELECT a FROM ks.t WHERE a IS NOT NULL PRIMARY KEY (a) /* */ -- \n $$ $$ 'x' \"y\"")
	f.Fuzz(func(t *testing.T, cql string) {
		schemas, err := Parse(cql, nil)
		for _, s := range schemas {
			if err == nil && len(s.Table.Columns) == 0 {
				t.Error("a table without columns")
			}
		}
	})
}
