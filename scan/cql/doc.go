// Package cql reads splits from live Cassandra nodes: it is the scan.Source
// over gocql.
//
//	split (start, end] ──> SELECT … WHERE token(pk) > ? AND token(pk) <= ?
//	                            │ one page at a time, from a replica
//	                            v
//	                       frame bytes ──> Arrow builders ──> one record per page
//
// Values go from the bytes of the driver's frame straight into the builders of
// their columns; nothing is allocated per cell.
//
// # Invariants
//
//   - The statement asks for named columns of a token range, or of what is left
//     of a partition, and nothing else.
//     Names are always quoted.
//   - A page is asked of the replicas of the split in turn, and goes on from
//     the paging state of the page before: no row is read twice, and none is
//     left out. An empty page with a paging state is not the end.
//   - Where paging states lead no further within a wide partition, the read
//     goes on behind the last row by its key (position.go). The clustering key
//     is selected for that only once a wide partition has been met.
//   - Of tables with clustering columns the partition key is read with every
//     row, wanted or not: that is how partitions are counted exactly.
//   - The consistency level is the cluster's, for every page.
//   - A page is kept near Options.PageBytes: rows per page shrink for wide rows
//     and after time-outs, so that memory does not depend on the table.
//   - The columns and types of each answer are compared with what was planned.
//
// # What it does not do
//
// It does not read a split again after an error: package scan decides that, and
// [Watch] only tells it what has changed. It never aggregates or filters on the
// cluster.
package cql
