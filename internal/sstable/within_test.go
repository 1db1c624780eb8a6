package sstable_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"manifest/internal/sstable"
	"manifest/tokenrange"
)

// TestRestrict reads a table whose SSTables are restricted to ranges that are
// drawn, each to its own, and compares with what the SSTables of each piece of the
// ring show on their own: a table of those alone, none of them restricted.
func TestRestrict(t *testing.T) {
	for _, version := range versions {
		for _, indexed := range []bool{true, false} {
			if version == "da" && !indexed {
				continue // there is always one
			}
			t.Run(fmt.Sprintf("%s indexed %t", version, indexed), func(t *testing.T) {
				files := fixture(t, version, "partitions").Files
				if !indexed {
					for name := range files {
						if strings.HasSuffix(name, "-Summary.db") {
							delete(files, name)
						}
						if strings.HasSuffix(name, "-TOC.txt") {
							files[name] = []byte(strings.ReplaceAll(string(files[name]), "Summary.db\n", ""))
						}
					}
				}
				subsets := make([]*sstable.Table, 4) // by bits: none, the first, the second, both SSTables
				for bits := range subsets {
					subsets[bits] = openTable(t, files)
					var readers []*sstable.Reader
					for i, r := range subsets[bits].Readers() {
						if bits>>i&1 != 0 {
							readers = append(readers, r)
						}
					}
					var err error
					if subsets[bits], err = sstable.NewTable(subsets[bits].Schema(), readers); err != nil {
						t.Fatal(err)
					}
				}
				rapid.Check(t, func(rt *rapid.T) { checkRestrict(t, rt, openTable(t, files), subsets) })
			})
		}
	}
}

func checkRestrict(t *testing.T, rt *rapid.T, table *sstable.Table, subsets []*sstable.Table) {
	ring := table.Partitioner().Ring()
	columns := table.Schema().Table.Names()
	const now = 1_700_000_100
	// Few places, so that ranges begin where others end.
	places := ring.Split(23)
	owned := make([]tokenrange.IntervalSet, len(table.Readers()))
	for i, r := range table.Readers() {
		var ranges []tokenrange.Range
		for j, in := range rapid.SliceOfN(rapid.Bool(), len(places), len(places)).Draw(rt, fmt.Sprintf("owned by %d", i)) {
			if in {
				ranges = append(ranges, places[j])
			}
		}
		owned[i] = tokenrange.NewIntervalSet(ranges...)
		r.Restrict(owned[i])
	}
	var parts []arrow.Record
	var keys []string
	for _, place := range places {
		bits := 0
		for i := range owned {
			if owned[i].ContainsRange(place) {
				bits |= 1 << i
			}
		}
		alone := subsets[bits]
		q := sstable.Query{Range: place, Columns: columns, Now: now}
		part, err := scanAll(rt, alone, q, sstable.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		parts = append(parts, part)
		keys = append(keys, keysOf(rt, t, alone, place)...)
	}
	want := concatenate(rt, table, columns, parts)
	splits := ring.Split(rapid.IntRange(1, 9).Draw(rt, "splits"))
	wanted := func(key []byte) bool { return key[len(key)-1]%3 != 0 }
	var got, few []arrow.Record
	var gotKeys []string
	for _, split := range splits {
		q := sstable.Query{Range: split, Columns: columns, Now: now}
		all, err := scanAll(rt, table, q, sstable.Options{ReadBytes: 5000})
		if err != nil {
			rt.Fatal(err)
		}
		got = append(got, all)
		q.Keys = wanted
		some, err := scanAll(rt, table, q, sstable.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		few = append(few, some)
		gotKeys = append(gotKeys, keysOf(rt, t, table, split)...)
	}
	if err := compareRecords(concatenate(rt, table, columns, got), want); err != nil {
		rt.Errorf("%d splits: %v", len(splits), err)
	}
	if diff := cmp.Diff(keys, gotKeys); diff != "" {
		rt.Errorf("keys (-want +got):\n%s", diff)
	}
	// Of text alone, which the partition key is.
	lacks := func(line string) bool { pk, _, _ := strings.Cut(line, " ck="); return pk[len(pk)-1]%3 == 0 }
	if diff := cmp.Diff(slices.DeleteFunc(lines(want), lacks), lines(concatenate(rt, table, columns, few))); diff != "" {
		rt.Errorf("rows of some keys (-want +got):\n%s", diff)
	}
}

func keysOf(rt *rapid.T, t *testing.T, table *sstable.Table, tokens tokenrange.Range) []string {
	var keys []string
	err := table.Keys(t.Context(), tokens, func(key []byte) error {
		keys = append(keys, string(key))
		return nil
	})
	if err != nil {
		rt.Fatal(err)
	}
	return keys
}
