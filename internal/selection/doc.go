// Package selection decides which rows are wanted: by conditions on the columns of records (--where, day ranges, lists, patterns), and by
// expressions over the tags of an image (--tags).
//
//	"width >= 1024 AND attributes['weather'] = 'rain'"
//	   │ ParseWhere                                 Days, In ─┐
//	   ▼                                                      ▼
//	Condition ──────────────────── All ───────────────── Condition
//	   │ Compile, against the names and types of a table's columns
//	   ▼
//	 Filter:  record ──load──▶ a vector for each operand ──▶ false, unknown or true for each row ──▶ record of the rows that are true
//	                           width   [640, 1920, NULL]     [false, true, unknown]
//
// # Conditions
//
//	condition = and { "OR" and }
//	and       = not { "AND" not }
//	not       = "NOT" not | "(" condition ")" | test
//	test      = term operator term | path                      a boolean alone is a test too
//	          | path [ "NOT" ] "IN" "(" [ literal { "," literal } ] ")"
//	          | path [ "NOT" ] "BETWEEN" term "AND" term       both included
//	          | path [ "NOT" ] "GLOB" literal
//	          | path [ "NOT" ] "CONTAINS" [ "KEY" ] literal    of a list, set or map; by value unless KEY
//	          | path "IS" [ "NOT" ] "NULL"
//	operator  = "=" | "!=" | "<>" | "<" | "<=" | ">" | ">="
//	term      = path | literal
//	path      = column { "[" literal "]" | "." ( field | integer ) }
//	          | "day" "(" path ")" | ( "writetime" | "ttl" ) "(" column ")"
//	literal   = 'text' | number | true | false | 0xblob | uuid
//
// Words are in any letter case. A name without quotes is that of a column as it is written, else in lower case as CQL has it; one in
// double quotes is exact. Quotes are doubled inside of quotes.
//
// A literal takes the type of what it is compared with. Days, times, uuids and addresses are written as text: '2025-06-01',
// '2025-06-01T12:00:00.5+02:00' (a space does for the T, without a zone it is UTC, a day alone is its first moment), '12:30:00',
// '192.0.2.1'. A timestamp may be a number of milliseconds too. A pattern has * for any text and ? for any one character; a \ before *, ?
// or \ makes these stand for themselves.
//
// A test of NULL is unknown, and so is NOT of that; AND and OR are unknown where the part that is known does not decide. Only rows of
// which the condition is true are wanted. So attributes['weather'] != 'rain' does not want the rows without that key. IS NULL is never
// unknown, nor is CONTAINS: a collection that is NULL, which is how the server gives an empty one, contains nothing.
//
// # How values compare
//
//   - Integers, varint and decimal: exactly as numbers, so an int may be compared with 1024.5, and 1.0 is 1.00.
//   - float and double: a literal is rounded to the column's type, as in CQL. -0 is 0; NaN equals NaN and is above all others.
//   - text, ascii, blob, uuid: by bytes, which for text is by code points. Text is not normalized.
//   - timeuuid: by time, then by the other bytes, as Cassandra orders it. inet: by the bytes of the address, so too.
//   - boolean: false is below true. date, time, timestamp: by time.
//
// Two columns compare if their types are in one of these groups: int with bigint, but not with double. Durations, collections, tuples,
// user defined types and vectors as a whole can be tested for NULL alone.
//
// # Tags
//
//	tags = and { "OR" and }
//	and  = not { "AND" not }
//	not  = "NOT" not | "(" tags ")" | tag
//
// A tag is in single or double quotes if it holds a space, comma, quote or parenthesis, or is one of the three words. It is a pattern, in
// quotes or not, if a * or ? without a \ is in it. (leaf_spot OR rust) AND NOT blurry wants an image that has one of two tags and not a third. Tags names the tags by
// which all wanted images are found.
//
// # Invariants
//
// What is accepted is checked in full: evaluation has no errors but for records that lack a column. Errors of expressions are an *[Error],
// which points to a position. Text of any kind costs bounded time and depth, and is never a panic.
//
// A Filter allocates nothing per row but what it returns, reads columns and not rows, and drops rows without touching others: the rows
// that stay keep their order and every value.
//
// # What it does not do
//
// It does not push conditions to the server, and knows nothing of keys, tokens and tables.
package selection
