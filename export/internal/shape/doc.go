// Package shape turns records as the scan gives them into records as they are
// written: columns chosen and put in order, and every type one that all readers
// of the file format know.
//
//	from the scan               written                       setting
//	fixed binary 16 (uuid)      string of 36 characters       UUID: binary keeps 16 bytes
//	timestamp[ms, UTC]          timestamp[us, UTC]            Timestamp: millis; NoZone: no UTC mark
//	time64[ns]                  string HH:MM:SS.nnnnnnnnn     Time: nanos, micros
//	map<K, V>                   list<struct<key, value>>      Map: map, or JSON text
//	list<T>, struct, vector     the same, of shaped T
//	all others                  the same
//
// A column is converted as a whole; where a type stays as it is its buffers are
// shared, and where only its name changes (a map is a list of structs) too.
//
// A value that its new type can't hold (a timestamp past the year 294,246, part
// of a microsecond) is an error that names column, value and partition, or is
// clamped, or becomes null; the latter two are counted.
package shape
