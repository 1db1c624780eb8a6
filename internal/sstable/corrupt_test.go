package sstable_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"manifest/internal/sstable"
	"manifest/internal/sstable/ddl"
	"manifest/internal/sstable/oracle"
)

// readings reads files in the ways that there are: whole, in ranges, and some
// partitions.
func readings(t testing.TB, s sstable.Schema, files map[string][]byte) ([]arrow.Record, error) {
	table, err := sstable.OpenTable(context.Background(), s, storage(files))
	if err != nil {
		return nil, err
	}
	defer table.Close()
	q := sstable.Query{Columns: s.Table.Names(), Now: 1700000005}
	whole, err := scanAll(t, table, q, sstable.Options{})
	if err != nil {
		return nil, err
	}
	var parts []arrow.Record
	for _, r := range table.Partitioner().Ring().Split(5) {
		q.Range = r
		part, err := scanAll(t, table, q, sstable.Options{})
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	q.Range, q.Keys = table.Partitioner().Ring(), func(key []byte) bool { return key[len(key)-1]%2 == 0 }
	some, err := scanAll(t, table, q, sstable.Options{})
	if err != nil {
		return nil, err
	}
	return []arrow.Record{whole, concatenate(t, table, q.Columns, parts), some}, nil
}

// broken reads damaged files, which must fail or give what sound ones do.
func broken(t *testing.T, s sstable.Schema, files map[string][]byte, sound []arrow.Record, damage string) (harmless bool) {
	t.Helper()
	got, err := readings(t, s, files)
	if err != nil {
		return false
	}
	for i := range got {
		if err := compareRecords(got[i], sound[i]); err != nil {
			t.Errorf("%s: reading %d: no error, and %v", damage, i, err)
		}
	}
	return true
}

func soundReadings(t *testing.T, r *oracle.Result) (sstable.Schema, []arrow.Record) {
	t.Helper()
	schemas, err := ddl.Parse(string(r.Files["schema.cql"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := readings(t, schemas[0], r.Files)
	if err != nil {
		t.Fatal(err)
	}
	return schemas[0], sound
}

// components are the names of a fixture's files, but for the schema.
func components(r *oracle.Result) []string {
	var names []string
	for name := range r.Files {
		if name != "schema.cql" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

var deep = flag.Bool("deep", false, "damage files at every byte and bit, which takes minutes")

// samples is how many places of a file to damage, of so many.
func samples(places int) int {
	switch {
	case *deep:
		return places
	case testing.Short():
		return min(places, 20)
	}
	return min(places, 100)
}

// damaged are fixtures with everything that a file can have: several SSTables,
// blocks of rows, chunks stored as they are, static rows, markers.
var damaged = []string{"basics", "deletions", "collections", "chunks_lz4raw", "chunks_plain", "partitions"}

// TestTruncated cuts files short.
func TestTruncated(t *testing.T) {
	for _, version := range versions {
		for _, scenario := range damaged {
			t.Run(version+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				r := fixture(t, version, scenario)
				s, sound := soundReadings(t, r)
				for _, name := range components(r) {
					whole := r.Files[name]
					for n := 0; n < len(whole); n += len(whole) / samples(len(whole)) {
						r.Files[name] = whole[:n]
						harmless := broken(t, s, r.Files, sound, fmt.Sprintf("%s cut to %d of %d bytes", name, n, len(whole)))
						if harmless && !unread(name) {
							t.Errorf("%s cut to %d of %d bytes was not noticed", name, n, len(whole))
						}
					}
					delete(r.Files, name)
					if broken(t, s, r.Files, sound, "no "+name) {
						t.Errorf("the lack of %s was not noticed", name)
					}
					r.Files[name] = whole
				}
			})
		}
	}
}

// unread tells files that need not be as they were.
func unread(name string) bool {
	return strings.HasSuffix(name, "Filter.db") || strings.HasSuffix(name, "Digest.crc32") || strings.HasSuffix(name, "TOC.txt")
}

// TestFlippedBits flips bits of files, one at a time.
func TestFlippedBits(t *testing.T) {
	for _, version := range versions {
		for _, scenario := range damaged {
			t.Run(version+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				r := fixture(t, version, scenario)
				s, sound := soundReadings(t, r)
				random := rand.New(rand.NewPCG(7, 7))
				for _, name := range components(r) {
					b := r.Files[name]
					flips := samples(8 * len(b))
					for i := range flips {
						bit := i
						if flips < 8*len(b) {
							bit = random.IntN(8 * len(b))
						}
						b[bit/8] ^= 1 << (bit % 8)
						harmless := broken(t, s, r.Files, sound, fmt.Sprintf("%s, bit %d", name, bit))
						if harmless && strings.HasSuffix(name, "-Data.db") {
							t.Errorf("%s, bit %d was not noticed", name, bit)
						}
						b[bit/8] ^= 1 << (bit % 8)
					}
				}
			})
		}
	}
}
