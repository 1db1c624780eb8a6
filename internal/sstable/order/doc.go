// Package order compares serialized values the way Cassandra orders them: in
// clustering keys, sets and the keys of maps.
//
// The order is that of the server's comparators (org.apache.cassandra.db.marshal,
// 5.0), which is not the order of the bytes, and for which different bytes may
// be equal: 1.0 and 1.00, a boolean of 1 and of 2. An empty value comes before
// all others, in descending order after them.
//
// Comparators never fail: of bytes that are no value of the type they make some
// order, and whoever decodes the value finds the fault.
package order
