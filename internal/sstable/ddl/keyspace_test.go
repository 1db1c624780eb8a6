package ddl

import (
	"errors"
	"maps"
	"testing"
)

func TestReplication(t *testing.T) {
	simple := map[string]string{"class": "SimpleStrategy", "replication_factor": "3"}
	for _, c := range []struct {
		name, cql string
		want      map[string]string
	}{
		{"as a driver writes it", `CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': '3'}  AND durable_writes = true;`, simple},
		{"a number, other options first", "create keyspace if not exists Ks with durable_writes = true and REPLICATION = { 'class' : 'SimpleStrategy', 'replication_factor' : 3 }", simple},
		{
			"datacentres, among tables and types", `CREATE TYPE ks.x (a frozen<list<int>>); CREATE KEYSPACE other WITH replication = {'class': 'LocalStrategy'};
CREATE KEYSPACE "ks" WITH replication = {'class': 'org.apache.cassandra.locator.NetworkTopologyStrategy', 'dc1': '3', 'dc-2': '2/1'};
CREATE TABLE ks.t (a int PRIMARY KEY, replication text) WITH comment = 'replication = {}';`,
			map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3", "dc-2": "2/1"},
		},
		{"altered", `CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}; ALTER KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};`, simple},
		{"another keyspace", `CREATE KEYSPACE "KS" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`, nil},
		{"a snapshot's schema.cql", `CREATE TABLE IF NOT EXISTS ks.t (a int PRIMARY KEY) WITH ID = e49e22d0-ecea-11f1-a29b-99d233e1b3a2 AND caching = {'keys': 'ALL'};`, nil},
		{"nothing", "", nil},
	} {
		got, err := Replication(c.cql, "ks")
		if err != nil || !maps.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	for _, cql := range []string{
		"CREATE KEYSPACE ks WITH replication = {'class': }",
		"CREATE KEYSPACE ks WITH replication = {'class' 'x'}",
		"CREATE KEYSPACE ks WITH replication = {'class': 'x'",
		"CREATE KEYSPACE ks WITH replication {",
		"CREATE KEYSPACE ; CREATE TABLE",
		"CREATE KEYSPACE ks WITH x = 'open",
	} {
		if got, err := Replication(cql, "ks"); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v, %v", cql, got, err)
		}
	}
}
