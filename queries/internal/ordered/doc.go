// Package ordered turns values into bytes whose bytewise order is the order of the values, and back.
//
// A tuple of values becomes one byte string, so that a group key is hashed, sorted, merged and compared as bytes without a look at its
// types:
//
//	(NULL, 7)     00            01 80000007
//	("", 7)       01 00         01 80000007
//	("a", 7)      01 61 00      01 80000007
//	("a\x00", 7)  01 61 00FF 00 01 80000007
//
// A value is 00 for NULL, which sorts first, or 01 and its payload:
//
//   - integers, booleans, dates and times: big-endian in the width of the type, sign bit flipped
//   - floats: the IEEE bits, all flipped if negative, else the sign bit; every NaN is one, above +Inf; -0 is below +0
//   - text and what is written as text: the bytes, 00 as 00 FF, ended by 00
//   - uuid: its 16 bytes
//
// Invariant: no payload is a prefix of another of its type, so that a later value never decides the order of an earlier one.
//
// Types whose order is not that of their bytes are first turned into content that has it: timeuuid ([TimeUUID]: time first, as Cassandra
// compares), inet ([Inet]), varint and decimal ([Decimal]: numerically, so 1.0 and 1.00 are one value).
package ordered
