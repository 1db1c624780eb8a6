// Package sstable reads tables from the SSTables of Cassandra: from snapshots and
// backups, without a server.
//
// # Words
//
//   - SSTable: an immutable set of files with some partitions of a table, as
//     they were at a flush or a compaction; [Reader] is one that is open.
//   - Table: all SSTables of a table, of one node or of several, with the schema
//     that says how to show them; [Table].
//   - Scan: a pass over a token range of a table, from all SSTables merged into
//     what a query shows, as Arrow records; [Table.Scan].
//
// # Layers
//
//	snapshot               which folders hold which tables; ddl: their schema
//	   |                   s3: folders in a bucket
//	   |
//	sstable                Table, Scan: Arrow records
//	   |
//	   +-- merge           the rows that are visible, out of many SSTables
//	   |     |
//	   +-- index           where in Data.db a token or a key is
//	   |     |
//	   +-- data            Data.db: partitions, rows, cells, tombstones
//	   |     |
//	   |   order           how values compare
//	   |     |
//	   +-- chunk           decompressed and verified bytes
//	   +-- statistics      types of the columns
//	   +-- component       names, versions, which files there are
//	         |
//	       primitive, fault
//
// Formats: big (versions ma to me, na, nb, oa) and bti (da), written by Cassandra
// 3.0 to 5.0. docs/format/sstable.md describes them byte by byte.
//
// # What is guaranteed
//
// A scan gives what SELECT would show of these SSTables at one moment, or an
// error. Whatever is not understood is an error: a version, a compressor, a
// type, a column that the schema does not have; a checksum, a length or an order
// that is wrong; a file that is missing or too short. Every chunk that is
// decompressed is verified. Scans of adjacent ranges check each other: where one
// ends in a file, the next must begin.
//
// Memory is bounded by [Options], whatever the size of tables and partitions.
// Values are slices of the decompressed bytes until they are appended to the
// columns of a record; nothing is allocated for a row or a cell.
//
// # What it does not do
//
// It writes nothing, and never reads the files of a running server. Commit logs
// are not read: a snapshot holds what was flushed. It knows no replicas: it merges
// what it is given, within the tokens that it is told of each SSTable. Tables with
// COMPACT STORAGE, counters from before Cassandra 2.1, and partitioners other than
// Murmur3 and Random are refused.
package sstable
