package casstest

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gocql/gocql"
)

var keyspaces atomic.Int64

// Keyspace creates a keyspace for one test, with rf replicas, and drops it when the test ends. It returns its name and a session for which
// it is the default keyspace. Tests that share a cluster, in this process or in others, get different names.
func Keyspace(t testing.TB, c *Cluster, rf int) (*gocql.Session, string) {
	t.Helper()
	name := keyspaceName(t.Name(), os.Getpid(), keyspaces.Add(1))
	creator, err := c.Session("")
	if err != nil {
		t.Fatal(err)
	}
	defer creator.Close()
	statement := fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}", name, rf)
	if err := creator.Query(statement).WithContext(t.Context()).Exec(); err != nil {
		t.Fatalf("create keyspace: %v", err)
	}
	session, err := c.Session(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer session.Close()
		if c.crippled() { // the driver would wait a minute until the node agrees on the schema
			return
		}
		if err := session.Query("DROP KEYSPACE " + name).Exec(); err != nil {
			t.Errorf("drop keyspace: %v", err)
		}
	})
	return session, name
}

// keyspaceName makes a name of at most 48 characters, Cassandra's limit, that needs no quotes.
func keyspaceName(test string, pid int, number int64) string {
	plain := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9') {
			return r
		}
		return '_'
	}, strings.ToLower(test))
	return fmt.Sprintf("t%d_%d_%s", pid, number, plain[:min(len(plain), 28)])
}
