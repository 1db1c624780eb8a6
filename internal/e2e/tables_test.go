package e2e

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/gocql/gocql"
)

//go:embed testdata/tables/*.cql
var tableFiles embed.FS

// tableFile is a file of statements that make tables of one kind and fill them.
type tableFile struct {
	name       string // without .cql
	statements []string
	tables     []string // names as CQL writes them, in the order of their making
}

var madeTable = regexp.MustCompile(`^CREATE (?:TABLE|MATERIALIZED VIEW) ("(?:[^"]|"")+"|\w+)`)

// readTableFiles reads testdata/tables. A statement ends with a semicolon at the end of a line; a line that begins with -- is a comment.
func readTableFiles(t testing.TB) []tableFile {
	t.Helper()
	paths, err := fs.Glob(tableFiles, "testdata/tables/*.cql")
	if err != nil {
		t.Fatal(err)
	}
	var files []tableFile
	for _, p := range paths {
		content, err := tableFiles.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for line := range strings.Lines(string(content)) {
			if !strings.HasPrefix(line, "--") {
				text.WriteString(line)
			}
		}
		file := tableFile{name: strings.TrimSuffix(path.Base(p), ".cql")}
		for statement := range strings.SplitSeq(text.String(), ";\n") {
			if statement = strings.TrimSpace(statement); statement == "" {
				continue
			}
			file.statements = append(file.statements, statement)
			if made := madeTable.FindStringSubmatch(statement); made != nil {
				file.tables = append(file.tables, made[1])
			}
		}
		files = append(files, file)
	}
	return files
}

// The replication of keyspaces, for a number of replicas.
const (
	simpleReplication  = "{'class': 'SimpleStrategy', 'replication_factor': %d}"
	networkReplication = "{'class': 'NetworkTopologyStrategy', 'dc1': %d}" // of clusters that casstest starts
)

// createKeyspace makes an empty keyspace.
func createKeyspace(ctx context.Context, session *gocql.Session, keyspace, replication string) error {
	for _, statement := range []string{
		"DROP KEYSPACE IF EXISTS " + quoted(keyspace),
		"CREATE KEYSPACE " + quoted(keyspace) + " WITH replication = " + replication,
	} {
		if err := session.Query(statement).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// load runs the statements of a file in a session's keyspace.
func (f tableFile) load(ctx context.Context, session *gocql.Session) error {
	for _, statement := range f.statements {
		if err := session.Query(statement).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("%s.cql: %s: %w", f.name, statement, err)
		}
	}
	return nil
}
