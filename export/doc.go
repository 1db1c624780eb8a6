// Package export makes files of the rows of a scan: Parquet, Arrow IPC, CSV and
// JSON lines, published as one directory at once; and files of statistics, by day.
//
// # Words
//
//   - A dataset is a directory of data files of one schema, with a manifest
//     (manifest.json) and checksums, made by one run.
//   - A part is the rows of one split of the scan, in a file of its own in the
//     work directory, already in the format of the output. It is committed
//     whole or not at all.
//   - A shard is a data file. Shards are put together from parts, in the order
//     of their tokens, after the scan.
//   - Shaping turns the types of CQL into those that all readers know: a UUID
//     becomes text, a map a list of pairs (docs/format/dataset.md has the table).
//
// # From rows to a directory
//
//	Prepare ── refuses a bad place before anything is read
//	   │
//	   │        scan: many splits at a time
//	   │   Begin ─ Write ─ Write ─ Commit        .out.run-ID/parts/SPLIT.parquet
//	   │   Begin ─ Write ─ Commit                .out.run-ID/parts/SPLIT.parquet
//	   │
//	Finish ── strings parts together             .out.run-ID/dataset/data/part-00000-of-00002.parquet
//	   │
//	Publish ─ verifies, describes, renames       out/data/… out/manifest.json out/SHA256SUMS out/_SUCCESS
//
// # Invariants
//
//   - The output directory is not there, or is the old one, until it is the new
//     one, complete, with _SUCCESS.
//   - The bytes of data files are a function of the schema, the options, the
//     rows, and how the plan cut them into splits. They don't depend on the
//     order in which splits were read, on attempts, on the size of records, on
//     time or on parallelism.
//   - A row of the scan is in exactly one file, and files are in the order of
//     the given splits. The rows of the files are counted and compared with
//     those of the parts.
//   - Memory is bounded by the options for each open part (for Parquet some
//     10 MB, plus a page of each column), not by rows, splits or partitions.
//   - A value is written as it is, or the write fails and names it; only with
//     ShapeOptions.Unfit set otherwise is it changed, and then it is counted.
//
// # What it does not do
//
// It reads no database, chooses no rows (Options.Filter does), and merges no
// statistics: it writes what it is given, in the order in which it is given.
package export
