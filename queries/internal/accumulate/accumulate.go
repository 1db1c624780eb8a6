package accumulate

import (
	"fmt"

	"manifest/queries/internal/vector"
)

// Accumulator is one aggregate for many groups. It belongs to one goroutine.
type Accumulator interface {
	// Grow makes the groups 0 to n-1 exist. New ones have seen no value.
	Grow(n int)
	// Update adds rows lo to hi of in; row i is of group groups[i], which exists. in is nil for a count of rows.
	Update(in *vector.Vector, groups []uint32, lo, hi int) error
	// AppendState appends the state of group g to dst. A final state need not be fit for being merged.
	AppendState(dst []byte, g int, final bool) []byte
	// Merge adds the state at the start of src to group g and returns the bytes behind it. After an error g is unspecified.
	Merge(g int, src []byte) (rest []byte, err error)
	// Results returns the kinds of the results of a group.
	Results() []vector.Kind
	// Result returns the i-th result of group g. Its Bytes, in content order for a kind that has it, are valid until the next call.
	Result(g, i int) (vector.Value, error)
	// Reset forgets all groups. It keeps what a group takes at least, for the next ones, and gives the rest of the memory back.
	Reset()
	// Size returns the bytes that the states of the groups take.
	Size() int
}

// Counting is an Accumulator that can add a value many times at once.
type Counting interface {
	Accumulator
	// UpdateCounted is Update with row i of in as often as counts[i] says.
	UpdateCounted(in *vector.Vector, counts []int64, groups []uint32, lo, hi int) error
}

// Aggregate is what an Accumulator computes.
type Aggregate struct {
	Func   string      // one of expr.Aggregates
	Rows   bool        // count of rows
	Kind   vector.Kind // of the argument
	Params []float64   // of quantiles
}

// DefaultQuantiles are computed where none are named.
var DefaultQuantiles = []float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99}

// WantsContent reports whether Update expects the argument as content (see [vector.Program.Content]).
func (a Aggregate) WantsContent() bool {
	return a.Func == "min" || a.Func == "max" || a.Func == "distinct"
}

// Compacts reports whether a final state is smaller than one that can be merged.
func (a Aggregate) Compacts() bool { return a.Func == "distinct" || a.Func == "quantiles" }

// Quantiles returns the quantiles that the aggregate computes.
func (a Aggregate) Quantiles() []float64 {
	if len(a.Params) > 0 {
		return a.Params
	}
	return DefaultQuantiles
}

// New returns an Accumulator without groups. It errs with [ErrType] if the function does not take the kind.
func (a Aggregate) New() (Accumulator, error) {
	text := a.Kind == vector.Varint || a.Kind == vector.Decimal
	integer := a.Kind >= vector.Int8 && a.Kind <= vector.Int64
	float := a.Kind.Physical() == vector.Floats
	switch a.Func {
	case "count":
		return &count{rows: a.Rows}, nil
	case "sum", "avg":
		avg := a.Func == "avg"
		switch {
		case integer:
			return &intSum{avg: avg}, nil
		case float:
			return &floatSum{avg: avg}, nil
		case text:
			return &decimalSum{avg: avg, kind: a.Kind}, nil
		}
	case "min", "max":
		if a.Kind.Physical() == vector.Bytes {
			return &bytesExtreme{kind: a.Kind, max: a.Func == "max"}, nil
		}
		return &wordExtreme{kind: a.Kind, max: a.Func == "max"}, nil
	case "distinct":
		return &distinct{}, nil
	case "quantiles":
		if integer || float || text {
			return newQuantiles(a.Quantiles()), nil
		}
	}
	return nil, fmt.Errorf("%s of %s: %w", a.Func, a.Kind, ErrType)
}

// grow returns s with at least n elements, new ones zero.
func grow[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		clear(s[old:])
		return s
	}
	return append(s, make([]T, n-len(s))...)
}
