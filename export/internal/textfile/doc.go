// Package textfile writes CSV and JSON lines from Arrow records, and cuts such
// files between rows.
//
// CSV follows RFC 4180, with records that end in LF. Text is quoted where it
// has to be, and where it would be taken for NULL:
//
//	value             cell (NullText empty)   cell (NullText \N)
//	NULL              nothing                 \N
//	empty text        ""                      nothing
//	the text \N       \N                      "\N"
//
// A table of one column would have an empty line for NULL, which readers skip,
// so there NullText is \N unless another is set.
//
// JSON lines have one object per line, with every column in every line; NULL is
// null. How values look is told by package textvalue.
package textfile
