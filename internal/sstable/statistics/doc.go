// Package statistics reads Statistics.db: what is needed to understand the rows
// of an SSTable, and figures about them.
//
//	Statistics.db:  count | (type, offset) ... | component | component | ...
//
// Since version na a checksum follows the count, the table, and each component.
//
//	VALIDATION   the partitioner
//	HEADER       types and names of the columns, and what times are counted from
//	STATS        figures: rows, times, sizes, first and last key
//	COMPACTION   a sketch of the keys, not read here
//
// HEADER must be understood to the last byte, for every value in Data.db is
// framed by it; a table's present schema does not matter for that. STATS serves
// estimates alone: it differs from version to version and, in builds of
// vendors, from what its version says, so it may be missing from what Read
// returns.
package statistics
