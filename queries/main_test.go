package queries

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain keeps the files of tests in memory where it can: every commit waits for the disk, and property tests commit thousands of
// parts. Benchmarks use the disk.
func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("/dev/shm", "queries-test-*")
	if bench := flag.Lookup("test.bench"); err == nil && bench.Value.String() == "" && os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", dir)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err == nil {
			os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}

// filesIn returns the names in a directory.
func filesIn(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
