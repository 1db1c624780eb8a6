// Package scan reads a whole table, split by split, and hands every row to its
// consumers exactly once.
//
// # Words
//
//   - A split is a token range (start, end] with the nodes that hold it: the
//     unit of work, of retry and of commit.
//   - A plan is a list of splits that tile the asked part of the ring exactly
//     once (package tokenrange makes it).
//   - A [Source] gives the rows of a split as Arrow records. Package scan/cql
//     reads them from live nodes, scan/snapshot from SSTables.
//   - A [Consumer] makes something of the rows: a statistic, a dataset. It
//     gathers the rows of one split in a [Part], which is committed whole or
//     thrown away.
//   - A [Receipt] says what one committed split was: its range, its rows, who
//     answered, the files of its parts. A [Ledger] keeps the receipts; the set
//     of their ranges is the proof of coverage.
//
// # The life of a split
//
//	plan ──> node queues ──> worker ──> Source.Read ──> records
//	             ^             |                          |
//	             |             |            one Part per consumer: Write
//	   halves, retries         |                          |
//	             └──── error ──┤                          v
//	                           └── end of split ──> Commit every Part
//	                                                      |
//	                                              Ledger.Commit(Receipt)
//
// A worker takes a split for a node that has room, opens one part per
// consumer, and reads. When the source ends without an error, every part is
// committed and then the receipt is recorded. When it ends with an error,
// every part is aborted and nothing of that attempt remains: the split is
// read again, from another replica, or as two halves.
//
// What is tried again, how, and when it ends, is the [Policy] of the failure's
// [Class]. A split whose replicas are down is put aside until they return; a
// range that replicas fail on is halved down to the partition at fault; a split
// that straggles at the end is read a second time from another replica, and the
// first of both reads that comes to its end is committed.
//
// # Invariants
//
//   - A split is in the ledger only after every part of it has been committed.
//   - A run is complete only if the ranges of its receipts tile the asked part
//     of the ring exactly once. [Run] checks this at its end with
//     tokenrange.CheckTiling, and says so with an [IncompleteError] otherwise.
//   - Of two reads of a split, one commits its parts, and the other none.
//   - The consistency level is never lowered.
//   - Memory does not grow with the table: a worker holds one record at a
//     time, whatever its consumers keep is theirs to bound.
//   - Nodes are asked for no more than the allowed number of splits at a time.
//
// # What it does not do
//
// It knows no driver, no CQL and no file format. It does not lower a
// consistency level, does not skip what it cannot read, and does not call a
// run complete that is not.
package scan
