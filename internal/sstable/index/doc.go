// Package index finds partitions in an SSTable without reading its data.
//
// # The big format
//
//	Summary.db    every 128th key or so, with its place in Index.db
//	    |
//	Index.db      every key, with its place in the content of Data.db, and for a
//	    |         long partition the places of blocks of rows in it
//	Data.db
//
//	Index.db   = Entry*           in the order of Data.db
//	Entry      = key length (2 bytes) key <position> <size> block index of that size
//	Summary.db = head offset* (key position)* first key, last key
//
// # The bti format
//
//	Partitions.db   a trie of the shortest prefixes that tell the keys apart
//	    |    |
//	    |  Rows.db  of long partitions the key, the place in Data.db, and a trie of
//	    |    |      the rows
//	Data.db
//
// A path through the trie spells 0x40, the token of the key as an unsigned
// number, 0x40, the key; it ends as soon as it is that of one key alone. So
// walking the trie in order gives the partitions in their order, but a path does
// not tell the whole key, nor always the whole token.
//
// # What may be relied on
//
// No checksum covers these files. So an [Index] is only told where to look, and
// whoever reads Data.db there compares: the key at that place, and that adjacent
// ranges meet at the same place. What can be verified here is verified: the order
// of keys and places, the framing of each entry, Summary.db against Index.db, the
// count of keys.
package index
