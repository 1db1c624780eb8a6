// Package parquetfile writes Parquet files from Arrow records, column by
// column, and joins finished files without decoding them.
//
// Words, as the Parquet format uses them:
//
//   - A row group holds a run of rows; in it, a column chunk holds one leaf
//     column of those rows; a chunk is a sequence of pages.
//   - A leaf is a column without children. A list or struct column of Arrow has
//     one or more leaves, and each value of a leaf carries a repetition level
//     (at which list does it continue?) and a definition level (how much of the
//     path to it is there?).
//   - The footer names every chunk with its offset and statistics; the page
//     index, in front of the footer, does the same for pages.
//
// What a file looks like, and which part of the package makes it:
//
//	+------+-------------------------------------+------------+--------+------+
//	| PAR1 | row group 0 | row group 1 | ...     | page index | footer | PAR1 |
//	+------+-------------------------------------+------------+--------+------+
//	        \__ Writer: pages, from records  ___/ \____ footer.go ___________/
//	        \__ Joiner: bytes, from files    ___/
//
// Schema, levels, dictionary indexes and Thrift are encoded by parquet-go, and
// zstd is that of klauspost/compress. This package puts pages, chunks and row
// groups together itself, from Arrow arrays, a column at a time: a parquet.Value
// for each value, as the column writers of parquet-go take them, costs more than
// to encode it. It writes the page index and the footer too, because that is
// where readers get hurt: by a megabyte of text as a column's minimum, by bounds
// that were never computed, by offsets after a copy.
//
// How a column gets into its chunk:
//
//	rows ── shredder ──> slots ── pageValues ──> open page ── codec ──> kept pages ──> row group
//	        (levels)              (PLAIN, or numbers                    (in a file
//	                               of a dictionary; bounds)              without name)
//
// Invariants:
//
//   - The bytes of a file are a function of the schema, the options and the
//     rows; not of how the rows were cut into records, of time, or of
//     parallelism.
//   - A page never splits a row, and a row group ends at the first row at which
//     it has Options.RowGroupRows rows or Options.RowGroupBytes bytes.
//   - Data pages are version 1, compressed with zstd, with a CRC each.
//   - A Joiner copies the bytes of a row group as they are.
//
// What it does not do: convert values (see package shape), choose names or
// places of files, or read Parquet for others.
package parquetfile
