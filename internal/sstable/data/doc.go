// Package data reads Data.db: partitions, rows, cells and tombstones, as they
// are stored.
//
// # Grammar
//
// Numbers in angle brackets are variable-length integers (primitive.Uvint).
// Times are counted from the minima in the header of Statistics.db.
//
//	Data      = Partition*                                    to the last byte
//	Partition = key length (2 bytes) key deletion [StaticRow] (Row | Marker)* 0x01
//	            |                        |        |                           end of partition
//	            serialized key           |        if the header has static columns, even an empty one
//	                                     1 or 12 bytes, see primitive.PartitionDeletion
//
//	Row       = flags [more flags] Clustering <size> <size of the one before> Body
//	StaticRow = flags more flags              <size> <size of the one before> Body
//	            |                             |
//	            see rowFlags                  bytes that follow it
//
//	Body      = [<timestamp> [<ttl> <expires>]]     liveness: written by INSERT
//	            [<deleted at> <deletion time>]      row deletion
//	            [<subset>]                          which columns are missing
//	            Column*                             in the header's order
//	Column    = Cell                                a simple column
//	          | [<deleted at> <deletion time>] <n> Cell*n     a complex one: collection, UDT
//	Cell      = flags [<timestamp>] [<deletion time>] [<ttl>] [Path] [Value]
//	Path      = <length> bytes                      key of a map, element of a set, ...
//	Value     = bytes                               of types whose values all have one length
//	          | <length> bytes
//
//	Marker    = 0x02 kind, count (2 bytes) Clustering <size> <size of the one before> Deletion [Deletion]
//	Deletion  = <deleted at> <deletion time>        a boundary has that which ends, then that which starts
//
//	Clustering = (<absent> Value*32)*               2 bits per value: 1 empty, 2 null, 0 a value follows
//
// Since a row's size stands before its body, a row can be skipped, and so can
// the rest of a row of which no further column is wanted.
//
// # Cursor
//
// A [Cursor] walks one Data.db. NextPartition and Next read heads; Row and
// Plain read the body of the row whose head was read last:
//
//	for NextPartition {
//		if HasStatic { Static }
//		for Next {
//			case a row: Row, or Plain, or neither
//			case a marker: Closed, Open
//		}
//	}
//
// Of tables without a clustering key most partitions are one row as an INSERT
// writes it. Behind such a partition ReadRun reads those that follow in one go, by
// column and not by cell. Whatever else it meets it leaves to NextPartition, so
// that there is one place that knows everything and says what is wrong.
//
// Invariants that every cursor checks: partitions ascend by token and key, rows
// and markers by clustering key; a row ends where its size says; range
// tombstones open and close in turn; the file ends behind a partition. Errors
// are *fault.Error with the place, the partition and the column.
//
// What a cursor hands out are parts of its window's bytes. Keys stay valid until
// the next partition, clustering values until the next but one row or marker,
// all else until the cursor is moved.
//
// It does not decide what is visible: tombstones, shadowed and expired cells all
// come out. That is for package merge.
package data
