// Package expr reads the small language in which a grouping is asked for: the lists behind --by and --agg.
//
//	by     = expr [ "as" name ] { "," expr [ "as" name ] }
//	agg    = call [ "as" name ] { "," call [ "as" name ] }
//	call   = "count" [ "(" [ "*" ] ")" ]
//	       | function "(" expr { "," number } ")"
//	expr   = period "(" path ")" | ( "writetime" | "ttl" ) "(" name ")" | path
//	path   = name { "[" ( 'text' | integer ) "]" | "." ( name | integer ) }
//	name   = letter { letter | digit | "_" } | "\"" any "\""
//	period = "hour" | "day" | "month" | "year"
//
// It follows CQL: a name without quotes is folded to lower case, and a quote inside quotes is doubled, as in "a""b". A name followed by
// "(" is a function and any other name is a column, so a column may be called day or count.
//
//	device_id, day(capture_time), attributes['region'] as region
//	           │   └ Path{Column}  └ Path{Column, Steps: key "region"}
//	           └ Expr{Func: Day}
//
// The package knows names and shapes only. Whether a column exists and whether a function fits its type is checked by package queries.
package expr
