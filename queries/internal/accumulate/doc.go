// Package accumulate holds the states of aggregates: what has been seen of each group so far.
//
// An [Accumulator] is one aggregate, such as sum(width), for many groups numbered from 0. Rows come in as vectors, and states go out
// and come back as bytes, so that groups of different parts of a table can be put together:
//
//	rows ──Update──> ┌─────────────────┐ ──AppendState──> bytes ──> file
//	                 │ group 0 1 2 ... │                              │
//	bytes ──Merge──> └─────────────────┘ <────────────Merge───────────┘
//	                          └──Result──> values
//
// Invariant: a state is a function of the set of values that were seen with their counts, never of the order in which they came or were
// merged. This is why sums are exact until the result is rounded once:
//
//   - count: 64-bit integers
//   - sum and avg of integers: 128-bit integers; a sum that does not fit a bigint is an error
//   - sum and avg of floats: a fixed-point number wide enough for every double (Kulisch accumulator); the result is the exact sum or
//     quotient, rounded to the nearest double, ties to even
//   - sum and avg of varint and decimal: exact decimals
//   - min and max: the order of package ordered, NaN above everything else and -0 below 0
//   - distinct: the set of 64-bit hashes (xxh3) up to 2,048 of them, above that 16,384 HyperLogLog registers, standard error 0.8 %
//   - quantiles: DDSketch bins with a relative accuracy of 1 %, as many as the values need
//
// NULL is left out by all but count of rows, and an aggregate of no value is NULL, or 0 for count and distinct. If NaN, or both
// infinities, are among the values of a sum then it is NaN; quantiles leave NaN out. The sum of zeros is +0.
//
// A state can be final: where a group is known to be complete, distinct and quantiles write their results in place of what they would
// need to go on. A final state can only be read, not merged with another one.
package accumulate
