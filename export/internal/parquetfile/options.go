package parquetfile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Options say how the files of one schema are written. The zero value is good.
type Options struct {
	// RowGroupRows ends a row group at so many rows. Default 131,072: large
	// enough for a scan thread of DuckDB (122,880 rows each), small enough for
	// viewers that read a whole group to show a few rows.
	RowGroupRows int

	// RowGroupBytes ends a row group at so many bytes, before encoding and
	// compression. Default 64 MiB: readers that can't chunk nested columns
	// need groups under 256 MiB, and a writer holds one group, compressed.
	RowGroupBytes int64

	// PageBytes and PageRows end a page. Default 1 MiB and 20,000 rows, as
	// other writers do; a page is the unit in which readers skip.
	PageBytes int
	PageRows  int

	// Dictionary turns dictionary encoding on or off by column. A key is a
	// column's name, or the dotted path of a leaf ("attributes.list.element.key"),
	// which goes first. Columns without an entry follow DictionaryByDefault.
	Dictionary map[string]bool

	// NoBounds names columns (or leaf paths) without minimum and maximum, such
	// as long URIs. Binary columns never have them.
	NoBounds []string

	// Sorting tells readers how rows are sorted within each row group. The
	// writer trusts it: set it only where it is true.
	Sorting []SortingColumn

	// Metadata goes into the footer as key and value pairs, sorted by key.
	Metadata map[string]string

	// TempDir is where the pages of the open row group are kept until it ends,
	// in a file without a name. Empty keeps them in memory.
	TempDir string

	// Parallelism is how many columns are encoded at the same time. Default 1.
	// Output does not depend on it.
	Parallelism int
}

// SortingColumn names one column that rows are sorted by.
type SortingColumn struct {
	Path       string // a column's name, or the dotted path of a leaf
	Descending bool
	NullsFirst bool
}

const (
	defaultRowGroupRows  = 131_072
	defaultRowGroupBytes = 64 << 20
	defaultPageBytes     = 1 << 20
	defaultPageRows      = 20_000

	// dictionaryMaxBytes ends dictionary encoding for the rest of a row group:
	// a column with so many different bytes in its dictionary gains nothing.
	dictionaryMaxBytes = 256 << 10

	// boundsMaxBytes is the longest text kept as a chunk's minimum or maximum;
	// longer ones are shortened to a lower or upper bound.
	boundsMaxBytes = 64
)

// WithDefaults fills in what is not set.
func (o Options) WithDefaults() Options {
	o.RowGroupRows = cmp.Or(o.RowGroupRows, defaultRowGroupRows)
	o.RowGroupBytes = cmp.Or(o.RowGroupBytes, defaultRowGroupBytes)
	o.PageBytes = cmp.Or(o.PageBytes, defaultPageBytes)
	o.PageRows = cmp.Or(o.PageRows, defaultPageRows)
	o.Parallelism = cmp.Or(o.Parallelism, 1)
	return o
}

// Validate reports all settings that make no sense, joined.
func (o Options) Validate() error {
	var errs []error
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"row group rows", int64(o.RowGroupRows)},
		{"row group bytes", o.RowGroupBytes},
		{"page bytes", int64(o.PageBytes)},
		{"page rows", int64(o.PageRows)},
		{"parallelism", int64(o.Parallelism)},
	} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("%s is %d, but can't be negative", n.name, n.value))
		}
	}
	const maxPageBytes = 512 << 20 // page sizes are 32-bit signed numbers in the format
	if o.PageBytes > maxPageBytes {
		errs = append(errs, fmt.Errorf("page bytes are %d, the most is %d", o.PageBytes, maxPageBytes))
	}
	return errors.Join(errs...)
}

// sortedMetadata gives the metadata in the order in which it is written.
func (o Options) sortedMetadata() [][2]string {
	var pairs [][2]string
	for _, key := range slices.Sorted(maps.Keys(o.Metadata)) {
		pairs = append(pairs, [2]string{key, o.Metadata[key]})
	}
	return pairs
}
