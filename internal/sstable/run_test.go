package sstable_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"manifest/internal/cqltype"
	"manifest/internal/sstable"
	"manifest/internal/sstable/oracle"
	"manifest/tokenrange"
)

// simpleColumns are those that each have one cell, or are of the key.
func simpleColumns(s sstable.Schema) []string {
	var names []string
	for _, c := range s.Table.Columns {
		switch {
		case c.Type.Frozen, !slices.Contains([]cqltype.Kind{cqltype.List, cqltype.Set, cqltype.Map, cqltype.UDT}, c.Type.Kind):
			names = append(names, c.Name)
		}
	}
	return names
}

// sameInRuns reads files with and without runs, which must give the same rows or
// the same error; then the same within every other piece of the ring.
func sameInRuns(t *testing.T, r *oracle.Result, damage string) {
	t.Helper()
	for _, restricted := range []bool{false, true} {
		table, err := openFolders(string(r.Files["schema.cql"]), storage(r.Files))
		if err != nil {
			t.Fatal(err)
		}
		var owned []tokenrange.Range
		for i, piece := range table.Partitioner().Ring().Split(31) {
			if i%2 == 0 {
				owned = append(owned, piece)
			}
		}
		for _, r := range table.Readers() {
			if restricted {
				r.Restrict(tokenrange.NewIntervalSet(owned...))
			}
		}
		sameTableInRuns(t, table, fmt.Sprintf("%s, restricted %t", damage, restricted))
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
}

func sameTableInRuns(t *testing.T, table *sstable.Table, damage string) {
	t.Helper()
	simple := simpleColumns(table.Schema())
	for _, columns := range [][]string{simple, simple[:1], simple[len(simple)-1:], {}} {
		for _, opts := range []sstable.Options{{}, {RecordRows: 3, ReadBytes: 1}, {RecordBytes: 100}} {
			var told [2][]string // of partitions
			q := func(i int) sstable.Query {
				return sstable.Query{Columns: columns, Now: 1700000005, Partition: func(p sstable.Partition) {
					told[i] = append(told[i], fmt.Sprintf("%x %s %d %d", p.Key, p.Token, p.Rows, p.Bytes))
				}}
			}
			want, wantErr := scanAll(t, table, q(0), sstable.OneByOne(opts))
			got, err := scanAll(t, table, q(1), opts)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%s, %v, %+v: error %v, one by one %v", damage, columns, opts, err, wantErr)
			} else if err == nil {
				if err := compareRecords(got, want); err != nil {
					t.Errorf("%s, %v, %+v: %v", damage, columns, opts, err)
				}
				if !slices.Equal(told[0], told[1]) {
					t.Errorf("%s, %v, %+v: partitions %q, one by one %q", damage, columns, opts, told[1], told[0])
				}
			}
		}
	}
}

func TestRunsGiveTheSameRows(t *testing.T) {
	for _, version := range versions {
		for _, s := range scenarios(t) {
			sameInRuns(t, fixture(t, version, s.Name), version+"/"+s.Name)
		}
	}
}

// TestRunsOfDamagedContent damages content whose checksums are then made right, so
// that it is for the parsing to notice.
func TestRunsOfDamagedContent(t *testing.T) {
	for _, version := range versions {
		r := fixture(t, version, "chunks_plain")
		i := slices.IndexFunc(components(r), func(name string) bool { return strings.HasSuffix(name, "-Data.db") })
		name := components(r)[i]
		b, sums := r.Files[name], r.Files[strings.Replace(name, "-Data.db", "-CRC.db", 1)]
		length := int(binary.BigEndian.Uint32(sums))
		random := rand.New(rand.NewPCG(7, 7))
		for range samples(8 * len(b)) {
			bit := random.IntN(8 * len(b))
			b[bit/8] ^= 1 << (bit % 8)
			at := bit / 8 / length
			chunk := b[at*length : min((at+1)*length, len(b))]
			binary.BigEndian.PutUint32(sums[4+4*at:], crc32.ChecksumIEEE(chunk))
			sameInRuns(t, r, fmt.Sprintf("%s, bit %d", version, bit))
			b[bit/8] ^= 1 << (bit % 8)
			binary.BigEndian.PutUint32(sums[4+4*at:], crc32.ChecksumIEEE(chunk))
		}
	}
}
