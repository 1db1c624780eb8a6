package cqltype

// Kind is the outermost constructor of a type. The zero Kind is no type.
type Kind uint8

// The native kinds. Varchar is an alias that parses to Text.
const (
	Ascii Kind = iota + 1
	Bigint
	Blob
	Boolean
	Counter
	Date
	Decimal
	Double
	Duration
	Float
	Inet
	Int
	Smallint
	Text
	Time
	Timestamp
	Timeuuid
	Tinyint
	UUID
	Varint

	// The composed kinds. Elems of a Type of one of these holds its component types.
	List   // one
	Set    // one
	Map    // two: key, value
	Tuple  // one or more
	UDT    // as many as Fields
	Vector // one, repeated Size times
)

var kindNames = [...]string{
	Ascii: "ascii", Bigint: "bigint", Blob: "blob", Boolean: "boolean", Counter: "counter", Date: "date", Decimal: "decimal",
	Double: "double", Duration: "duration", Float: "float", Inet: "inet", Int: "int", Smallint: "smallint", Text: "text",
	Time: "time", Timestamp: "timestamp", Timeuuid: "timeuuid", Tinyint: "tinyint", UUID: "uuid", Varint: "varint",
	List: "list", Set: "set", Map: "map", Tuple: "tuple", UDT: "udt", Vector: "vector",
}

// String returns the CQL keyword, such as "bigint" or "map".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "invalid"
	}
	return kindNames[k]
}

// native reports whether the kind takes no type arguments.
func (k Kind) native() bool { return k >= Ascii && k <= Varint }

// natives maps the keywords of the native types to their kinds.
var natives = func() map[string]Kind {
	m := map[string]Kind{"varchar": Text}
	for k := Ascii; k <= Varint; k++ {
		m[k.String()] = k
	}
	return m
}()

// FixedLen returns the length in bytes that every value of the type has where values are framed: in SSTables, which leave the length
// of such values out, and in vectors, which leave it out of their elements. Cassandra treats tinyint, smallint, date, time and counter as
// of variable length although their values are not (AbstractType.valueLengthIfFixed).
func (t *Type) FixedLen() (int, bool) {
	switch t.Kind {
	case Boolean:
		return 1, true
	case Int, Float:
		return 4, true
	case Bigint, Double, Timestamp:
		return 8, true
	case UUID, Timeuuid:
		return 16, true
	case Vector:
		n, ok := t.Elems[0].FixedLen()
		return n * t.Size, ok
	}
	return 0, false
}
