// Package cqltype knows the types of CQL: their text, their mapping to Arrow, and how to append their serialized values to Arrow builders.
//
// # Vocabulary
//
// A Type is a CQL type, such as map<text, frozen<list<int>>>. It is read from the text that the table system_schema.columns holds (Parse), from
// the Java class strings of SSTable headers (ParseMarshal), or from an Arrow field that this package made (OfField). A value is one cell's
// bytes, as the native protocol from version 4 on sends them and as SSTables hold frozen cells; both are the same. An Appender decodes
// values of one type into one builder:
//
//	system_schema.columns ──Parse──────────┐            ┌─Field─▶ arrow.Field, metadata "cql" ──OfField──▶ Type
//	SSTable header ─────────ParseMarshal───┴──▶ Type ───┤
//	                                                    └─NewAppender─▶ Appender
//	value, e.g. 00 00 00 01 00 00 00 01 61 00 00 00 04 00 00 07 80 ────────▶│ Append
//	            count 1     length 1    a  length 4    1920                 ▼
//	                                                              array.MapBuilder: {a: 1920}
//
// # Mapping
//
//	ascii, text, varchar           String           varint, decimal   String: BigInteger.toString, BigDecimal.toString
//	blob                           Binary           inet              String
//	boolean                        Boolean          uuid, timeuuid    FixedSizeBinary(16)
//	tinyint, smallint, int, bigint Int8 ... Int64   timestamp         Timestamp(ms, UTC)
//	counter                        Int64            date              Date32
//	float, double                  Float32, Float64 time              Time64(ns)
//	duration       Struct{months: int32, days: int32, nanoseconds: int64}, not nullable inside
//	list, set      List{element}, nullable          map               Map, values nullable
//	tuple          Struct{"0", "1", ...}, nullable  UDT               Struct of its fields, nullable
//	vector<T, n>   FixedSizeList[n]{element}, not nullable
//
// # Invariants
//
// Nothing is lost or made up: every mapping is exact, and a value that does not fit its type is a *DecodeError, never a guess.
//
// NULL, empty and zero stay three things. A value of no bytes is an empty text, ascii or blob; of any other type it is NULL, as the server
// shows it. An empty collection has a count of zero, which is four bytes.
//
// Append allocates nothing for a value, apart from the growth of the builder and from numbers of more than 16 bytes. Counts and lengths
// are checked against the bytes that are there before memory is taken, so that damaged or hostile bytes take memory in proportion to
// their number and the width of the type.
//
// What is not nullable in the mapping holds no nulls, even below a NULL, so that readers that check it accept the arrays.
//
// # What it does not do
//
// It does not serialize, compare or print values, except UUIDs. It does not decode the counter contexts of SSTables, only the sum that
// coordinators send, and it does not put collections of several cells together. Custom classes and the type "empty" are refused by name.
//
// The formats are described in Cassandra's native protocol specification, version 4, section 6, and in its classes
// org.apache.cassandra.db.marshal.*; the tests compare with what those classes write.
package cqltype
