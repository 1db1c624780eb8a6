// Package groups finds the group of every row: a hash table of the keys that were seen.
//
// The work is done column by column. Every key column becomes a code per row, an integer in its own width, text the number that a
// dictionary gives it; the codes of a row are packed into 128 bits, and one look-up turns those into the number of the group:
//
//	device_id  "cam-1" "cam-2" "cam-1"  ──dictionary──> 1 2 1 ─┐
//	                                                            ├─pack──> 128 bits ──Table──> group 0 1 0
//	width       4000    640     4000   ──────────────────────> ─┘
//
// So a row costs a few nanoseconds per key column and no memory unless its group is new. Keys that do not fit 128 bits are encoded
// whole, row by row, and the dictionary itself gives the group.
//
// A new group's key is kept as bytes in the order of package ordered, which is the form in which groups leave: for sorting, for files
// and for merging.
//
// Invariant: groups are numbered from 0 in the order in which they are first seen, without gaps.
package groups
