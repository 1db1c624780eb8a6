package vector

// Value is one value of a kind.
type Value struct {
	Null  bool
	Int   int64   // of an integer kind
	Float float64 // of a float kind
	Bytes []byte  // of a Bytes kind
}
