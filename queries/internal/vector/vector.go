package vector

// BlockRows is the most rows that are evaluated at once: few enough that the vectors of a query stay in the processor's cache.
const BlockRows = 4096

// Vector holds one value per row of a block.
type Vector struct {
	Kind   Kind
	Len    int
	Ints   []int64   // of an integer kind
	Floats []float64 // of a float kind
	// Row i of a Bytes kind is Data[Starts[i]:Ends[i]].
	Data         []byte
	Starts, Ends []int32
	// Null tells which rows are NULL; nil if none is. The value of a NULL row is unspecified.
	Null []bool

	ints         []int64 // memory of the slices above where they are not views of a record
	floats       []float64
	data         []byte
	starts, ends []int32
	null         []bool
}

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Null != nil && v.Null[i] }

// Bytes returns the value of row i of a Bytes kind, valid as long as the vector.
func (v *Vector) Bytes(i int) []byte { return v.Data[v.Starts[i]:v.Ends[i]] }

// reset makes room for n values that are not views of a record, none of them NULL.
func (v *Vector) reset(kind Kind, n int) {
	v.Kind, v.Len, v.Null = kind, n, nil
	switch kind.Physical() {
	case Ints:
		v.ints = sized(v.ints, n)
		v.Ints = v.ints
	case Floats:
		v.floats = sized(v.floats, n)
		v.Floats = v.floats
	case Bytes:
		v.starts, v.ends = sized(v.starts, n), sized(v.ends, n)
		v.Starts, v.Ends = v.starts, v.ends
	}
}

// setNull marks row i.
func (v *Vector) setNull(i int) {
	if v.Null == nil {
		v.null = sized(v.null, v.Len)
		clear(v.null)
		v.Null = v.null
	}
	v.Null[i] = true
}

// shareNull makes NULL the rows that are NULL in src, and no others: setNull must not follow.
func (v *Vector) shareNull(src *Vector) { v.Null = src.Null }

// Append adds a value that is not NULL to a vector of a Bytes kind that is not the result of a Program, as callers that make rows
// themselves do.
func (v *Vector) Append(value []byte) {
	v.Starts = append(v.Starts, int32(len(v.Data)))
	v.Data = append(v.Data, value...)
	v.Ends = append(v.Ends, int32(len(v.Data)))
	v.Len++
}

// Truncate empties a vector that Append filled.
func (v *Vector) Truncate() {
	v.Len, v.Data, v.Starts, v.Ends = 0, v.Data[:0], v.Starts[:0], v.Ends[:0]
}

// sized returns s with n elements of any value.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, max(n, BlockRows))
	}
	return s[:n]
}
