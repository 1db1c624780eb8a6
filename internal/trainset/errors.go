package trainset

import "errors"

var (
	// ErrSpec is wrapped by errors about what was asked for.
	ErrSpec = errors.New("training manifest")
	// ErrInput is wrapped by errors about rows that can't be what they should be.
	ErrInput = errors.New("unexpected row")
)
