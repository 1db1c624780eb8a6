// Package chunk gives the content of Data.db: decompressed, verified, in order.
//
// Data.db is cut into chunks of the same content length, usually 16 KiB. Where
// it is compressed, CompressionInfo.db has the place of each, and a checksum
// stands behind it:
//
//	CompressionInfo.db:  compressor, options, chunk length, [max compressed length],
//	                     content length, chunk count, offset of each chunk
//
//	Data.db:   | payload 0 | crc | payload 1 | crc | ... | payload n-1 | crc |
//	           ^ offset 0        ^ offset 1              ^ offset n-1        ^ end of file
//
// A payload no shorter than the maximum compressed length is the content as it
// is. Where Data.db is not compressed, the chunks' checksums are in CRC.db:
//
//	CRC.db:    | chunk length | crc 0 | crc 1 | ... |
//	Data.db:   the content
//
// A writer may leave one more chunk, an empty one, at the end of either table.
//
// # Reading
//
// A [File] is the table of chunks; it is shared. A [Window] slides over the
// content for one goroutine:
//
//	content    ..........................................................
//	                     |<- consumed ->|<- rest ->|<- next chunks ->|
//	            view:    |-------------------------|
//	            Next:                   |----------------------------|
//
// Chunks are decompressed behind room for the rest of what came before, so that
// what spans two chunks is contiguous again after copying that rest alone.
// Buffers are used again; a view is valid until the next call of Next. A Window
// can decompress ahead on goroutines of its own.
//
// Invariants: every checksum is verified, every chunk has exactly the length
// that it must have, and the content is exactly as long as CompressionInfo.db or
// the file says. Memory is bounded by the options and by the longest piece that
// the caller asks to see at once.
package chunk
