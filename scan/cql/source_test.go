package cql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/gocql/gocql"
	"github.com/google/go-cmp/cmp"

	"manifest/internal/cassandra"
	"manifest/internal/casstest"
	"manifest/scan"
	"manifest/scan/cql"
	"manifest/tokenrange"
)

// fixture is a keyspace of its own on a real node, and a connection to it as
// the product makes it.
type fixture struct {
	keyspace string
	driver   *gocql.Session
	cluster  *cassandra.Cluster
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	server := casstest.Shared(t, casstest.Options{})
	driver, err := server.Session("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(driver.Close)
	f := &fixture{keyspace: "cql_" + strings.ToLower(strings.NewReplacer("/", "_", "#", "_").Replace(t.Name())), driver: driver}
	f.keyspace = f.keyspace[:min(48, len(f.keyspace))]
	f.exec(t, `DROP KEYSPACE IF EXISTS "`+f.keyspace+`"`)
	f.exec(t, `CREATE KEYSPACE "`+f.keyspace+`" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`)
	t.Cleanup(func() { f.exec(t, `DROP KEYSPACE "`+f.keyspace+`"`) })
	f.cluster, err = cassandra.Connect(t.Context(), cassandra.Config{Hosts: server.Hosts(), Port: server.Port(), Consistency: "ONE"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.cluster.Close)
	return f
}

// exec runs statements, in which KS stands for the keyspace.
func (f *fixture) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := f.driver.Query(strings.ReplaceAll(s, "KS.", `"`+f.keyspace+`".`)).Exec(); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func (f *fixture) source(t *testing.T, table string, opts cql.Options) *cql.Source {
	t.Helper()
	schema, err := f.cluster.Table(t.Context(), f.keyspace, table)
	if err != nil {
		t.Fatal(err)
	}
	source, err := cql.New(f.cluster, schema, opts)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// wholeRing is one split that covers everything, served by any node.
func wholeRing(t *testing.T) tokenrange.Split {
	t.Helper()
	murmur3, err := tokenrange.PartitionerByName("Murmur3Partitioner")
	if err != nil {
		t.Fatal(err)
	}
	return tokenrange.Split{ID: murmur3.Ring().ID(), Range: murmur3.Ring()}
}

// readJSON reads a whole table and gives its rows as JSON objects.
func readJSON(t *testing.T, source *cql.Source, columns ...string) []string {
	t.Helper()
	var rows []string
	_, err := source.Read(t.Context(), wholeRing(t), columns, func(rec arrow.Record) error {
		content, err := rec.MarshalJSON()
		if err != nil {
			return err
		}
		var objects []json.RawMessage
		if err := json.Unmarshal(content, &objects); err != nil {
			return err
		}
		for _, o := range objects {
			rows = append(rows, string(o))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestEveryTypeAsServedByARealNode(t *testing.T) {
	f := newFixture(t)
	f.exec(t,
		`CREATE TYPE KS.place (city text, zip int)`,
		`CREATE TYPE KS."Mixed Type" ("The City" text, at frozen<place>)`,
		`CREATE TABLE KS.types (k int PRIMARY KEY, a ascii, bi bigint, bl blob, bo boolean, da date, de decimal, dou double, du duration, f float,
			i inet, si smallint, t text, ti time, ts timestamp, tu timeuuid, tn tinyint, u uuid, v varint,
			l list<int>, s set<text>, m map<text, frozen<list<int>>>, fl frozen<list<text>>, tup tuple<int, text, frozen<set<int>>>,
			p place, fp frozen<"Mixed Type">, vec vector<float, 3>, vt vector<text, 2>, lt frozen<list<frozen<tuple<int, text>>>>)`,
		`INSERT INTO KS.types (k, a, bi, bl, bo, da, de, dou, du, f, i, si, t, ti, ts, tu, tn, u, v, l, s, m, fl, tup, p, fp, vec, vt, lt) VALUES (
			1, 'ascii', -9223372036854775808, 0xCAFE, true, '2025-06-01', -12.3400, 1.5, 1mo2d3ns, -0.25,
			'192.0.2.7', -32768, '叶片病斑', '08:30:00.000000001', '2025-06-01T12:00:00.123Z', 50554d6e-29bb-11e5-b345-feff819cdc9f, -128,
			123e4567-e89b-42d3-a456-426614174000, -170141183460469231731687303715884105729,
			[3, 1, 2], {'b', 'a'}, {'k': [1, 2]}, ['x', ''], (7, null, {2, 1}),
			{city: 'Ulm', zip: null}, {"The City": 'Bonn', at: {city: 'Köln', zip: 50667}}, [1, -2, 0.5], ['eins', ''], [(1, 'a'), (2, null)])`,
		`INSERT INTO KS.types (k) VALUES (2)`,
		`INSERT INTO KS.types (k, t, bl, bi, tup, l, fl) VALUES (3, '', 0x, 0, (null, null, null), [], [])`,
	)
	source := f.source(t, "types", cql.Options{})
	schema, err := source.Schema([]string{"k", "a"})
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.Field(0).Type.String(); got != "int32" {
		t.Errorf("int is %s", got)
	}
	columns := []string{"k", "a", "bi", "bl", "bo", "da", "de", "dou", "du", "f", "i", "si", "t", "ti", "ts", "tu", "tn", "u", "v", "l", "s", "m", "fl", "tup", "p", "fp", "vec", "vt", "lt"}
	want := []string{
		`{"k":1,"a":"ascii","bi":-9223372036854775808,"bl":"yv4=","bo":true,"da":"2025-06-01","de":"-12.3400","dou":1.5,"du":{"months":1,"days":2,"nanoseconds":3},"f":-0.25,` +
			`"i":"192.0.2.7","si":-32768,"t":"叶片病斑","ti":"08:30:00.000000001","ts":"2025-06-01 12:00:00.123Z","tu":"UFVNbim7EeWzRf7/gZzcnw==","tn":-128,` +
			`"u":"Ej5FZ+ibQtOkVkJmFBdAAA==","v":"-170141183460469231731687303715884105729",` +
			`"l":[3,1,2],"s":["a","b"],"m":[{"key":"k","value":[1,2]}],"fl":["x",""],"tup":{"0":7,"1":null,"2":[1,2]},` +
			`"p":{"city":"Ulm","zip":null},"fp":{"The City":"Bonn","at":{"city":"Köln","zip":50667}},"vec":[1,-2,0.5],"vt":["eins",""],"lt":[{"0":1,"1":"a"},{"0":2,"1":null}]}`,
		`{"k":2,"a":null,"bi":null,"bl":null,"bo":null,"da":null,"de":null,"dou":null,"du":null,"f":null,"i":null,"si":null,"t":null,"ti":null,"ts":null,"tu":null,"tn":null,"u":null,"v":null,` +
			`"l":null,"s":null,"m":null,"fl":null,"tup":null,"p":null,"fp":null,"vec":null,"vt":null,"lt":null}`,
		`{"k":3,"a":null,"bi":0,"bl":"","bo":null,"da":null,"de":null,"dou":null,"du":null,"f":null,"i":null,"si":null,"t":"","ti":null,"ts":null,"tu":null,"tn":null,"u":null,"v":null,` +
			`"l":null,"s":null,"m":null,"fl":[],"tup":{"0":null,"1":null,"2":null},"p":null,"fp":null,"vec":null,"vt":null,"lt":null}`,
	}
	if diff := cmp.Diff(normalised(t, want), normalised(t, readJSON(t, source, columns...))); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

// normalised parses JSON texts and sorts them, so that spacing and the order of
// keys and rows don't matter.
func normalised(t *testing.T, texts []string) []any {
	t.Helper()
	values := map[string]any{}
	for _, text := range texts {
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		canonical, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		values[string(canonical)] = v
	}
	if len(values) != len(texts) {
		t.Fatalf("rows occur twice: %v", texts)
	}
	var sorted []any
	for _, canonical := range slices.Sorted(maps.Keys(values)) {
		sorted = append(sorted, values[canonical])
	}
	return sorted
}

func TestNamesNeedNoCare(t *testing.T) {
	f := newFixture(t)
	f.exec(t,
		`CREATE TABLE KS."Select" ("Order" text, "group by" int, "a""b" text, "token" int, PRIMARY KEY (("Order", "group by"), "token"))`,
		`INSERT INTO KS."Select" ("Order", "group by", "a""b", "token") VALUES ('x', 1, 'quote', 7) USING TIMESTAMP 1234567`,
	)
	source := f.source(t, "Select", cql.Options{})
	got := readJSON(t, source, "Order", "group by", `a"b`, "token", `writetime(a"b)`)
	want := []string{`{"Order":"x","group by":1,"a\"b":"quote","token":7,"writetime(a\"b)":1234567}`}
	if diff := cmp.Diff(normalised(t, want), normalised(t, got)); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

func TestStaticColumnsWithAndWithoutRows(t *testing.T) {
	f := newFixture(t)
	f.exec(t,
		`CREATE TABLE KS.statics (k int, c int, s text static, st tuple<int, int> static, v int, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC)`,
		`INSERT INTO KS.statics (k, c, s, v) VALUES (1, 1, 'one', 10)`,
		`INSERT INTO KS.statics (k, c) VALUES (1, 2)`,
		`INSERT INTO KS.statics (k, s, st) VALUES (2, 'alone', (null, null))`,
		`INSERT INTO KS.statics (k, c, v) VALUES (3, 1, 0)`,
	)
	got := readJSON(t, f.source(t, "statics", cql.Options{}), "k", "c", "s", "st", "v")
	want := []string{
		`{"k":1,"c":1,"s":"one","st":null,"v":10}`,
		`{"k":1,"c":2,"s":"one","st":null,"v":null}`,
		`{"k":2,"c":null,"s":"alone","st":{"0":null,"1":null},"v":null}`,
		`{"k":3,"c":1,"s":null,"st":null,"v":0}`,
	}
	if diff := cmp.Diff(normalised(t, want), normalised(t, got)); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

func TestCountersViewsAndTimes(t *testing.T) {
	f := newFixture(t)
	f.exec(t,
		`CREATE TABLE KS.hits (k text PRIMARY KEY, n counter)`,
		`UPDATE KS.hits SET n = n + 5 WHERE k = 'a'`,
		`UPDATE KS.hits SET n = n - 7 WHERE k = 'a'`,
		`CREATE TABLE KS.timed (k int PRIMARY KEY, v text)`,
		`INSERT INTO KS.timed (k, v) VALUES (1, 'x') USING TIMESTAMP 1750000000000000 AND TTL 86400`,
		`INSERT INTO KS.timed (k, v) VALUES (2, 'y') USING TIMESTAMP 1750000000000001`,
	)
	if got, want := readJSON(t, f.source(t, "hits", cql.Options{}), "k", "n"), []string{`{"k":"a","n":-2}`}; !slices.Equal(got, want) {
		t.Errorf("counter: got %v, want %v", got, want)
	}
	got := readJSON(t, f.source(t, "timed", cql.Options{}), "writetime(v)", "ttl(v)", "k")
	if len(got) != 2 || !strings.Contains(got[0], `"writetime(v)":1750000000000000`) && !strings.Contains(got[1], `"writetime(v)":1750000000000000`) {
		t.Errorf("write times: %v", got)
	}
	var withTTL, without int
	for _, row := range got {
		if strings.Contains(row, `"ttl(v)":null`) {
			without++
		} else if strings.Contains(row, `"ttl(v)":86`) { // seconds left: 86,400 less those of this test
			withTTL++
		}
	}
	if withTTL != 1 || without != 1 {
		t.Errorf("times to live: %v", got)
	}
}

func TestPagesOfAWidePartition(t *testing.T) {
	f := newFixture(t)
	f.exec(t, `CREATE TABLE KS.wide (k int, c int, v text, PRIMARY KEY (k, c))`)
	const rows = 2000
	wide := strings.Repeat("x", 2000)
	batch := f.driver.NewBatch(gocql.UnloggedBatch)
	for c := range rows {
		batch.Query(`INSERT INTO "`+f.keyspace+`".wide (k, c, v) VALUES (1, ?, ?)`, c, wide)
		if batch.Size() == 20 {
			if err := f.driver.ExecuteBatch(batch); err != nil {
				t.Fatal(err)
			}
			batch = f.driver.NewBatch(gocql.UnloggedBatch)
		}
	}
	// Most of the partition is deleted: pages of tombstones alone come empty.
	f.exec(t, `DELETE FROM KS.wide WHERE k = 1 AND c >= 100 AND c < 1900`)
	source := f.source(t, "wide", cql.Options{PageSize: 50, PageBytes: 20_000})
	pages, next := 0, 0
	stats, err := source.Read(t.Context(), wholeRing(t), []string{"c"}, func(rec arrow.Record) error {
		pages++
		if rec.NumRows() > 50 {
			t.Errorf("a page of %d rows", rec.NumRows())
		}
		content, err := rec.Column(0).MarshalJSON()
		if err != nil {
			return err
		}
		var values []int
		if err := json.Unmarshal(content, &values); err != nil {
			return err
		}
		for _, c := range values {
			if next == 100 {
				next = 1900
			}
			if c != next {
				return fmt.Errorf("row %d where %d was next", c, next)
			}
			next++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if next != rows || stats.Pages < int64(pages) || pages < 4 || stats.Node == "" {
		t.Errorf("ended before row %d after %d pages, stats %+v", next, pages, stats)
	}
}

func TestPagesShrinkWithWideRows(t *testing.T) {
	f := newFixture(t)
	f.exec(t, `CREATE TABLE KS.blobs (k int PRIMARY KEY, v blob)`)
	for k := range 300 {
		if err := f.driver.Query(`INSERT INTO "`+f.keyspace+`".blobs (k, v) VALUES (?, ?)`, k, make([]byte, 10_000)).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	source := f.source(t, "blobs", cql.Options{PageBytes: 100_000})
	var sizes []int64
	if _, err := source.Read(t.Context(), wholeRing(t), []string{"k", "v"}, func(rec arrow.Record) error {
		sizes = append(sizes, rec.NumRows())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if sizes[0] != 300 { // the size of a row is not known before the first page
		t.Fatalf("pages of %v rows", sizes)
	}
	sizes = nil
	if _, err := source.Read(t.Context(), wholeRing(t), []string{"k", "v"}, func(rec arrow.Record) error {
		sizes = append(sizes, rec.NumRows())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, n := range sizes {
		if n > 10 {
			t.Errorf("100,000 bytes in pages of 10,000-byte rows: pages of %v rows", sizes)
			break
		}
	}
}

func TestRecordsAreReleased(t *testing.T) {
	f := newFixture(t)
	f.exec(t, `CREATE TABLE KS.t (k int PRIMARY KEY, m map<text, int>, p tuple<int, text>)`,
		`INSERT INTO KS.t (k, m, p) VALUES (1, {'a': 1}, (1, 'b'))`)
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	source := f.source(t, "t", cql.Options{Allocator: alloc})
	readJSON(t, source, "k", "m", "p")
	if _, err := source.Read(t.Context(), wholeRing(t), []string{"k"}, func(arrow.Record) error { return context.Canceled }); err != context.Canceled {
		t.Errorf("an error of emit came back as %v", err)
	}
	alloc.AssertSize(t, 0)
}

func TestATableThatGoesAway(t *testing.T) {
	f := newFixture(t)
	f.exec(t, `CREATE TABLE KS.gone (k int PRIMARY KEY, v int)`, `INSERT INTO KS.gone (k, v) VALUES (1, 2)`)
	source := f.source(t, "gone", cql.Options{})
	readJSON(t, source, "k", "v")
	f.exec(t, `ALTER TABLE KS.gone DROP v`)
	_, err := source.Read(t.Context(), wholeRing(t), []string{"k", "v"}, func(arrow.Record) error { return nil })
	if scan.ClassOf(err) != scan.SchemaChanged {
		t.Errorf("dropped column: got %v", err)
	}
	f.exec(t, `DROP TABLE KS.gone`, `CREATE TABLE KS.gone (k int PRIMARY KEY, v text)`, `INSERT INTO KS.gone (k, v) VALUES (1, 'x')`)
	_, err = source.Read(t.Context(), wholeRing(t), []string{"k", "v"}, func(arrow.Record) error { return nil })
	if scan.ClassOf(err) != scan.SchemaChanged {
		t.Errorf("column with another type: got %v", err)
	}
	f.exec(t, `DROP TABLE KS.gone`)
	_, err = source.Read(t.Context(), wholeRing(t), []string{"k"}, func(arrow.Record) error { return nil })
	if scan.ClassOf(err) != scan.SchemaChanged {
		t.Errorf("dropped table: got %v", err)
	}
}
