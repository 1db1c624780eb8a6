// Package layers checks that imports point down: who may import whom, as
// docs/architecture.md draws it. It has no code of its own.
package layers

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed lists, for each package below the module, which of its packages it
// may import. "..." takes in packages below a folder. What cmd/manifest
// imports is free: it wires everything.
var allowed = map[string][]string{
	"tokenrange":       {},
	"scan":             {"tokenrange"},
	"scan/cql":         {"scan", "tokenrange", "internal/cassandra", "internal/cqltype", "internal/recycle", "internal/schema", "internal/throttle"},
	"scan/snapshot":    {"scan", "tokenrange", "internal/cqltype", "internal/recycle", "internal/schema", "internal/sstable/...", "internal/throttle"},
	"queries":          {"queries/internal/...", "tokenrange", "internal/cqltype"},
	"queries/internal": {"queries/internal/...", "tokenrange", "internal/cqltype"},
	"export":           {"export/internal/...", "tokenrange", "internal/cqltype"},
	"export/internal":  {"export/internal/...", "internal/cqltype"},

	"internal/cassandra":   {"tokenrange", "internal/cqltype", "internal/schema"},
	"internal/schema":      {"internal/cqltype"},
	"internal/cqltype":     {},
	"internal/ledger":      {"scan", "tokenrange"},
	"internal/throttle":    {},
	"internal/metrics":     {"scan", "tokenrange", "internal/throttle"},
	"internal/recycle":     {},
	"internal/selection":   {"internal/cqltype"},
	"internal/tokensort":   {"tokenrange"},
	"internal/sampling":    {"internal/tokensort"},
	"internal/rowform":     {"internal/cqltype"},
	"internal/accesspath":  {"tokenrange", "internal/cqltype", "internal/schema", "internal/selection", "internal/tokensort"},
	"internal/trainset":    {"export", "tokenrange", "internal/accesspath", "internal/cqltype", "internal/recycle", "internal/rowform", "internal/sampling", "internal/schema", "internal/selection", "internal/tokensort"},
	"internal/objectstore": {"internal/objectstore", "internal/s3client"},
	"internal/s3client":    {},
	"internal/sidecar":     {"export", "internal/tokensort"},
	"internal/datasetcard": {"export"},
	"internal/sstable":     {"internal/sstable/...", "internal/s3client", "tokenrange", "internal/cqltype", "internal/schema"},

	// For tests, measurements and the demo alone.
	"internal/sstable/oracle":    {"internal/sstable/...", "internal/casstest", "internal/cqltype"},
	"internal/demodata":          {},
	"internal/demodata/generate": {"internal/demodata", "internal/imagegen", "internal/sstable/oracle"},
	"internal/imagegen":          {},
	"internal/pyenv":             {},
	"internal/maven":             {},
	"internal/casstest":          {"internal/imagegen", "internal/casstest", "internal/maven"},
	"internal/livedemo":          {"internal/casstest", "internal/imagegen"},
	"internal/processcost":       {},
	"internal/loadtest":          {"internal/casstest", "internal/imagegen"},
	"internal/livebench":         {"internal/processcost", "internal/casstest", "internal/imagegen", "internal/cassandra", "scan", "scan/cql", "tokenrange"},
	"internal/snapbench":         {"internal/processcost", "internal/sstable/chunk", "internal/sstable/component", "internal/sstable/oracle"},
	"internal/peerbench":         {"internal/processcost", "internal/casstest", "internal/imagegen", "internal/maven", "internal/pyenv", "internal/sstable/oracle"},
	"internal/e2e":               {},
	"internal/layers":            {},
}

// drivers may be imported by these packages alone.
var drivers = map[string][]string{
	"github.com/gocql/gocql":           {"internal/cassandra", "scan/cql", "internal/casstest", "internal/livebench", "internal/loadtest"},
	"github.com/parquet-go/parquet-go": {"export"},
	"github.com/spf13/cobra":           {"cmd/manifest"},
	"github.com/minio/minio-go/v7":     {"internal/s3client", "internal/sstable/s3", "internal/objectstore/s3"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, "manifest/")
		if strings.HasPrefix(name, "cmd/") {
			continue
		}
		rule, ok := ruleOf(name)
		if !ok {
			t.Errorf("%s is not in the import table", name)
			continue
		}
		for _, imported := range p.Imports {
			if below, ok := strings.CutPrefix(imported, "manifest/"); ok && !matches(below, allowed[rule]) {
				t.Errorf("%s imports %s", name, below)
			}
			if rule == "tokenrange" && strings.Contains(imported, ".") {
				t.Errorf("%s imports %s: it uses the standard library only", name, imported)
			}
		}
	}
}

func TestDriversStayBehindTheirPackages(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, "manifest/")
		for driver, users := range drivers {
			for _, imported := range p.Imports {
				if (imported == driver || strings.HasPrefix(imported, driver+"/")) && !slices.ContainsFunc(users, func(u string) bool { return name == u || strings.HasPrefix(name, u+"/") }) {
					t.Errorf("%s imports %s", name, driver)
				}
			}
		}
	}
}

// ruleOf finds the closest entry at or above a package.
func ruleOf(name string) (string, bool) {
	for at := name; at != ""; {
		if _, ok := allowed[at]; ok {
			return at, true
		}
		i := strings.LastIndex(at, "/")
		if i < 0 {
			break
		}
		at = at[:i]
	}
	return "", false
}

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if folder, ok := strings.CutSuffix(p, "/..."); ok {
			return name == folder || strings.HasPrefix(name, folder+"/")
		}
		return name == p
	})
}

// list asks the go command for the packages and what they import, without
// their tests.
func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "manifest/...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var packages []listed
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 10 {
		t.Fatalf("go list found only %d packages", len(packages))
	}
	return packages
}
