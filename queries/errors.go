package queries

import (
	"errors"
	"fmt"

	"manifest/queries/internal/accumulate"
	"manifest/queries/internal/expr"
	"manifest/queries/internal/partial"
	"manifest/queries/internal/vector"
)

// SyntaxError is the error of a text that is no list of expressions. It has the Text, the Offset in bytes at which it stopped making
// sense, and the Reason.
type SyntaxError = expr.SyntaxError

var (
	// ErrType is wrapped by the error for a column whose type a function does not take, or that is not one value.
	ErrType = accumulate.ErrType
	// ErrName is wrapped by the error for two results of the same name.
	ErrName = errors.New("two results have the same name")
	// ErrUnknownQuery is wrapped by the error for a named query that does not exist.
	ErrUnknownQuery = errors.New("unknown query")
	// ErrOverflow is wrapped by the error for a result that its type cannot hold, such as a sum beyond a bigint. The text names the group.
	ErrOverflow = accumulate.ErrOverflow
	// ErrOutOfRange is wrapped by the error for a value that a function cannot take, such as the day of a timestamp that no date can hold.
	ErrOutOfRange = vector.ErrOutOfRange
	// ErrCorrupt is wrapped by the error for a part file that is damaged or incomplete.
	ErrCorrupt = partial.ErrCorrupt
	// ErrOtherQuery is wrapped by the error for a part file that was written for another query, or another split.
	ErrOtherQuery = partial.ErrOtherQuery
	// ErrDivided is wrapped by the error for a partition whose rows are in more than one split, or apart from each other in one.
	ErrDivided = errors.New("rows of a partition are not together")
)

// ColumnError is the error for a column, or a field of one, that does not exist.
type ColumnError struct {
	Table  string // keyspace.table
	Column string // as it was asked for, without quotes
	Field  string // "" if the column itself does not exist
}

func (e *ColumnError) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("column %q of table %s has no field %q", e.Column, e.Table, e.Field)
	}
	return fmt.Sprintf("table %s has no column %q", e.Table, e.Column)
}
