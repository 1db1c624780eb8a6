// Package textvalue writes the values of Arrow arrays as text: as JSON, and as
// the plain text of a CSV cell or of a JSON object's key.
//
//	Arrow type            plain                         JSON
//	string                as it is                      "escaped"
//	binary                base64                        "base64"
//	fixed binary, 16      8-4-4-4-12 hex digits         the same, quoted
//	boolean               true, false                   the same
//	integers              digits                        the same (int64 quoted if asked)
//	floats                shortest that reads back      the same; "NaN", "Infinity", "-Infinity" quoted
//	date                  2025-06-01                    the same, quoted
//	timestamp             2025-06-01T12:00:00.000Z      the same, quoted; without zone no Z
//	time of day           12:00:00.000000000            the same, quoted
//	list                  JSON                          [1,2]
//	struct                JSON                          {"name":value}
//	map                   JSON                          {"plain text of key":value}
//	null                  (the caller's)                null
//
// Years outside of 0 to 9999 have a sign and at least six digits, as ISO 8601
// has it for expanded years: +012345-01-01, -000001-12-31.
//
// Appending to a large enough slice allocates nothing.
package textvalue
