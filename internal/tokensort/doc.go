// Package tokensort sorts rows that don't fit in memory, and joins streams that are in the same order.
//
// A row is a key and a value, both of which are bytes without a meaning here. Keys compare as bytes; [AppendKey] makes keys whose order
// is that of tokens and, within one token, that of partition keys, which is how Cassandra orders partitions. So what was sorted here can
// be merged with what a scan gives in the order of the ring:
//
//	Sorter.Add ─ Add ─ Add ─ full: sort, spill ─┐  run 0
//	             Add ─ Add ─ full: sort, spill ─┤  run 1
//	             Add ─ Sort ────────────────────┴─ Merge ──> [k1 a][k1 b][k2 c] ─┐
//	                                                                            Join ──> (k1 a X) (k1 b X) (k2 c missing)
//	                                     a scan in token order ──> [k0 W][k1 X] ─┘
//
// A run is a file of rows in order, in blocks that have a checksum each, with an index of the first key of each block
// at its end, by which [Reader.Seek] finds where to begin. It is of use to one process and to those that resume its work, and is removed
// afterwards; its format may change with any version.
//
// Invariants:
//   - The order is total and stable: rows of equal keys stay in the order in which they were added, or that of the streams they came
//     from. The same rows give the same stream whatever the limit of memory, down to the bytes.
//   - Memory is bounded by [Options.Memory] while rows are added, and by the number of runs that are open, at most [Options.FanIn], while
//     they are read; more runs are merged in passes.
//   - A Reader gives what a Writer wrote or an error that wraps [ErrCorrupt]. It never reads past what has a right checksum.
//   - What a Sorter makes is removed by its Close, after errors too.
package tokensort
