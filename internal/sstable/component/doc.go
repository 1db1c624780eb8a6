// Package component knows the files of an SSTable: their names, the version of
// their format, and which of them there must be.
//
// An SSTable is a set of files whose names differ in the last part:
//
//	nb-1-big-Data.db             the rows
//	nb-1-big-Statistics.db       what is needed to understand them, and figures about them
//	nb-1-big-CompressionInfo.db  where the compressed chunks of the rows are
//	nb-1-big-CRC.db              checksums of the rows, where they are not compressed
//	nb-1-big-Digest.crc32        the checksum of Data.db as a whole
//	nb-1-big-Index.db ...        where which partition is
//	nb-1-big-TOC.txt             the list of these files
//	|  |  |   |
//	|  |  |   component
//	|  |  format: big, or bti since 5.0
//	|  id: a number, or a uuid in base 36
//	version of the format
//
// [Find] groups the names of a folder into SSTables. Ids repeat on every node,
// so an SSTable is known by its folder and [Descriptor], never by the
// descriptor alone.
//
// Files come from a [Storage]: a local folder ([Dir]), or whatever else can
// read a part of a file at an offset.
package component
