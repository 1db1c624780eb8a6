package shape

import (
	"errors"
	"fmt"
)

var (
	// ErrColumn reports a column that is not there, or of a type that has no shape.
	ErrColumn = errors.New("column does not fit")

	// ErrUnfit is what an UnfitError is.
	ErrUnfit = errors.New("value does not fit its written type")
)

// UnfitError reports a value that its written type can't hold.
type UnfitError struct {
	Column    string
	Value     string // as text
	Written   string // the type written
	Partition string // "name=value, ..." of the row's partition; empty where unknown
}

func (e *UnfitError) Error() string {
	where := ""
	if e.Partition != "" {
		where = " in partition (" + e.Partition + ")"
	}
	return fmt.Sprintf("column %q%s: %s does not fit %s", e.Column, where, e.Value, e.Written)
}

// Is makes errors.Is(err, ErrUnfit) true.
func (e *UnfitError) Is(target error) bool { return target == ErrUnfit }
