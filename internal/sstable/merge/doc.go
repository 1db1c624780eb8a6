// Package merge makes the rows that a query shows out of what any number of
// SSTables hold of them.
//
// A row is spread over SSTables: each holds the cells and the deletions that
// were written to it in some span of time. What is visible follows from all of
// them, whatever their number and order:
//
//	SSTable 1   row a:  x = 1 (at 10)   y = 2 (at 10)
//	SSTable 2   row a:  x = 3 (at 20)
//	SSTable 3   row a:  deleted at 15
//	            -----------------------------------------
//	visible     row a:  x = 3
//
// # Rules
//
// They are those of Cassandra 5.0 (db.rows: Row.Merger, Cells, BTreeRow;
// db: LivenessInfo, DeletionTime).
//
//   - A deletion of a partition, a range, a row or a collection deletes what was
//     written at its time or before. The latest one that applies counts.
//   - Of several cells of a column, or of an element of a collection, the latest
//     counts; of the same time, a tombstone before an expiring cell before a live
//     one, then the later local deletion time, the shorter TTL, the larger value.
//   - Of several livenesses likewise.
//   - Counters add up what each node counted.
//   - Then, at one moment for the whole read, what has expired goes. A row is
//     visible if its liveness or one of its cells is left; a partition of which
//     only static columns are left shows as one row without clustering key.
//
// Tombstones stay in the merge whatever their age; a replica may have dropped an
// old one before it could hide an older value elsewhere, so that a query shows
// what is hidden here.
//
// # Speed
//
// Most rows are in one SSTable. A [Merger] compares keys, and takes the short
// way where a partition, or a row of it, comes from one source and no deletion
// is about: the cursor then reads only the wanted columns (data.Cursor.Plain)
// and nothing is merged. Partitions of one such row, which follow one another in
// one source, it has the cursor read together (data.Cursor.ReadRun).
package merge
