// Package snapshot reads splits from the SSTables of snapshots and backups: it is
// the scan.Source over internal/sstable, which does the reading.
//
//	SSTables of all nodes ──> those with partitions in (start, end]
//	                               │ merged, cell by cell
//	                               v
//	                          what a query would show ──> Arrow records
//
// What is read are all copies that there are: a row that one replica has missed
// comes from another, as a read at consistency level ALL would show it. Of an
// SSTable that is restricted, only what its node replicates is a copy. The
// records are those that package scan/cql gives for the same columns.
//
// # Plan
//
// Nobody is asked for splits, and none has a replica. [Source.Plan] cuts the ring
// by the sizes of the SSTables, where each has its partitions:
//
//	SSTable 1   |-------- 40 MiB --------|
//	SSTable 2                   |--------------- 90 MiB ---------------|
//	SSTable 3          |---- 20 MiB ----|
//	splits      |-----------|----|--|---|----|--------|--------|-------|
//
// The order of work is shuffled, and the splits that come last in it are cut
// smaller, so that no worker waits long for another at the end.
//
// # Invariants
//
//   - All splits of a source are read as of one moment, [Options].Now: what has
//     expired by then is gone in all of them.
//   - A fault in a file is a *scan.ReadError of the class Protocol, for no retry
//     helps; it wraps the error that names file and place.
//   - Memory is bounded by [Options] for each split that is read at a time.
//
// # What it does not do
//
// It does not look for snapshots, nor open or close their files: that is for
// internal/sstable/snapshot. It never leaves an SSTable out.
package snapshot
