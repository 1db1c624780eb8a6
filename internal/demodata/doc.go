// Package demodata is a small set of real SSTables, for a demo that needs no
// server: snapshots of the four image tables from two nodes, written by
// Cassandra's own storage engine.
//
//	node1   format nb, as Cassandra 4 writes it: three generations of each table
//	node2   format oa, of Cassandra 5: the same, some of them compacted
//
// Each of the nodes has missed some writes and some deletions, as nodes do, so
// that only both together show what is there. There are updates, deletions of
// rows, ranges, partitions and single columns, and rows that expire: some before
// [Now], others long after it. Tags and devices are in many scripts.
//
// Beside the set are [Figures]: what a third engine, which has missed nothing,
// answered at [Now].
//
// Command generate makes the set, from package imagegen and a few statements; it
// needs Java.
package demodata

//go:generate go run ./generate set.tar.zst figures.json
