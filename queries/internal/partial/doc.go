// Package partial reads, writes and merges files of group states.
//
// An entry is the key of a group and its state, both of which are bytes without a meaning here. A file holds the entries of a part of a
// table, in blocks that are compressed and have a checksum each; docs/format/partials.md draws it byte by byte. There are two orders:
//
//   - by key: keys ascend strictly, so that any number of files can be merged in memory for one block of each
//   - by token: as the entries came, for groups that lie in one partition; such files follow each other in the order of their splits
//
// Merging brings the states of a key together, whatever file they are in:
//
//	a  ──[k1 s][k3 s]────┐
//	b  ──[k1 s][k2 s]────┼─ Merger ──> (k1, s+s+s) (k2, s) (k3, s)
//	c  ──[k1 s]──────────┘
//
// Up to [Merger.FanIn] files are open at a time; more are merged in passes.
//
// Invariants: a Reader returns what a Writer wrote or an error that wraps [ErrCorrupt]; a file that ends early, has more behind its end,
// or has a bit flipped is an error, and so is one whose keys are not in the order that it promises. Its memory is bounded by 255 times
// the size of the file, which is what LZ4 can expand, and in use by a block.
package partial
