// Package queries aggregates the rows of a table: named statistics of images, and any grouping.
//
// A [Query] is compiled against the columns of a table, so that whatever is wrong with it is said before a row is read. An [Aggregation]
// takes the rows as Arrow records, split by split, in any order and in parallel, and keeps what it needs of each split as a file; when all
// splits are there it merges the files into result tables:
//
//	Compile(table, spec) ──> Query ──New──> Aggregation
//
//	split 1 ──Begin──> Part: Write, Write, ... Commit ──> DIR/1.part ─┐
//	split 2 ──Begin──> Part: Write ... Abort (thrown away)            ├─ Finish ──> Sink(table, day, record)
//	   "    ──Begin──> Part: Write, Write, ... Commit ──> DIR/2.part ─┘
//
// # Words
//
// A group is the rows whose keys are equal; NULL is a key like any other, equal to itself and before all others. A state is what has to
// be known of the rows seen so far to go on with an aggregate. A part is the states of one split, made in one attempt; its file is
// described in docs/format/partials.md. A run is states that were moved out of memory before their part was complete.
//
// # What holds
//
//   - The same rows give the same result, byte for byte, whatever the splits, records, attempts, memory and order of merging, as long as
//     a partition is not divided between splits. Sums are exact until they are rounded once, and sketches are functions of the set of
//     values (see package accumulate).
//   - Memory is bounded by [Options.Memory], not by the number of groups, the size of a partition or of the table: states beyond it are
//     sorted and spilled, and merged again with at most 64 files open.
//   - A part is committed whole, under its final name, or not at all. A second part of the same split replaces the first.
//   - A damaged, missing or foreign part file is an error, never a wrong result.
//
// # Rows that are counted first
//
// Of images the sizes are few. image-sizes has several groupings and sketches, all of them functions of day, width and height: a part
// counts equal rows first, and evaluates the rest once for each different one, with its number. Where most rows differ it stops doing so.
//
// # Groups that lie in a partition
//
// If the keys hold the whole partition key then all rows of a group come together, and a group is complete when its partition is. Such
// groups need no table of all groups: they leave partition by partition, with their results in place of their states. A grouping of this
// kind keeps the token order of its partitions, within which groups come by their keys: nothing has to be sorted. Named statistics, which
// are wanted by day and whose days are all over the ring, are sorted by day and key, on disk beyond the memory. In both cases the order
// is a property of the rows and not of the splits.
//
// # What it does not do
//
// It reads no table and writes no result files, has no goroutines, and does not decide which columns are scanned: several Aggregations
// take the records of one scan, each the columns of its [Query.Columns].
package queries
