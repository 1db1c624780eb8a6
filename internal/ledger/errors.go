package ledger

import (
	"errors"
	"fmt"
	"strings"
)

// The errors of this package that a caller may want to tell apart with errors.Is,
// beside fs.ErrExist of [Create] and fs.ErrNotExist of [Resume] and [Read].
var (
	// ErrLocked means that another process has the run, or this one has it already.
	ErrLocked = errors.New("in use")

	// ErrCorrupt means that a ledger is damaged in a way that no crash explains,
	// or says something that can't be: the message names the line and its place.
	ErrCorrupt = errors.New("corrupt ledger")

	// ErrFormat means that a ledger is of a version unknown here.
	ErrFormat = errors.New("unknown ledger format")

	// ErrOverlap means that a receipt covers tokens of another split's receipt.
	ErrOverlap = errors.New("overlapping splits")

	// ErrUnknownSplit means that a split was withdrawn that is not committed.
	ErrUnknownSplit = errors.New("no such split")

	// ErrClosed means that a ledger was used after Close.
	ErrClosed = errors.New("ledger is closed")
)

// MismatchError means that a run can't be resumed because it would read
// something else than before.
type MismatchError struct {
	// Differences are all that differs, in the order of [Header]; never empty.
	Differences []Difference
}

// Difference is one named value that is not what it was.
type Difference struct {
	Name string
	// Old is the ledger's value, New the one of the run that would go on with it.
	Old, New string
}

func (e *MismatchError) Error() string {
	parts := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		parts[i] = fmt.Sprintf("%s was %q and is now %q", d.Name, d.Old, d.New)
	}
	return "not the same run: " + strings.Join(parts, "; ")
}
