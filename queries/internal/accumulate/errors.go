package accumulate

import "errors"

var (
	// ErrCorrupt is returned for a state that no Accumulator of the kind wrote.
	ErrCorrupt = errors.New("corrupt state")
	// ErrOverflow is returned for a result that its type cannot hold.
	ErrOverflow = errors.New("overflow")
	// ErrFinal is returned where a final state meets another state of the same group.
	ErrFinal = errors.New("group was complete and has more values")
	// ErrType is returned for an aggregate that does not take values of a type.
	ErrType = errors.New("type does not fit")
)
