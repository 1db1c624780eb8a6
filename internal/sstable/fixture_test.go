package sstable_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"manifest/internal/sstable/oracle"
)

//go:generate go run ./oracle/fixtures testdata/scenarios testdata/fixtures.tar.zst

// versions are those of the fixtures.
var versions = []string{"nb", "oa", "da"}

var fixtures = sync.OnceValues(func() (map[string]*oracle.Result, error) {
	return oracle.ReadResults("testdata/fixtures.tar.zst")
})

// fixture gives what a scenario left in a version. The files are the caller's to
// change.
func fixture(t testing.TB, version, scenario string) *oracle.Result {
	t.Helper()
	all, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	r := all[version+"/"+scenario]
	if r == nil {
		t.Fatalf("no fixture of %s in %s: run go generate", scenario, version)
	}
	c := *r
	c.Files = map[string][]byte{}
	for name, b := range r.Files {
		c.Files[name] = append([]byte(nil), b...)
	}
	return &c
}

// TestFixtures compares with what Cassandra read when the fixtures were made.
func TestFixtures(t *testing.T) {
	for _, version := range versions {
		for _, s := range scenarios(t) {
			t.Run(version+"/"+s.Name, func(t *testing.T) {
				r := fixture(t, version, s.Name)
				check(t, s, r)
				checkRanges(t, s, r)
				checkKeys(t, s, r)
			})
		}
	}
}

// TestVersionsAgree guards against a scenario whose answers depend on more than
// its statements.
func TestVersionsAgree(t *testing.T) {
	for _, s := range scenarios(t) {
		nb := fixture(t, "nb", s.Name)
		for _, version := range versions[1:] {
			if diff := cmp.Diff(nb.Answers, fixture(t, version, s.Name).Answers); diff != "" {
				t.Errorf("%s in nb and %s:\n%s", s.Name, version, diff)
			}
		}
		for name := range nb.Files {
			if strings.HasSuffix(name, "-Data.db") && len(nb.Dumps[name]) == 0 {
				t.Errorf("%s: %s is empty", s.Name, name)
			}
		}
	}
}
