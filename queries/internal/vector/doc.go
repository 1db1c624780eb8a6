// Package vector evaluates expressions over Arrow records, a block of rows at a time, into flat Go slices.
//
// A [Program] is the list of expressions of a query, each in a slot of its own; equal expressions share one. A [Machine] runs it over
// records and keeps one [Vector] per slot, whose memory is used again for every block:
//
//	record ──Bind──> leaf "capture_time" ──Period(day)──> slot 1 ─┐
//	                 leaf "width" ───────────────────────> slot 2 ─┼─> Vector(slot): Ints, Null
//	                 leaf "attributes" ──key 'region'────> slot 3 ─┘
//
// Rows are counted from 0 within a block. NULL in gives NULL out, and a key that a map does not have is NULL.
//
// Invariants: a Program does not change once a Machine was made of it and may serve many Machines, each of which belongs to one
// goroutine. A Vector is valid until the next Run of its Machine, and no longer than the record it was read from: text is not copied.
package vector
