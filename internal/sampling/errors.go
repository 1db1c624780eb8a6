package sampling

import "errors"

var (
	// ErrOptions is wrapped by errors about what was asked for.
	ErrOptions = errors.New("sampling options")
	// ErrRow is wrapped by errors about a row that decisions can't be made about.
	ErrRow = errors.New("sampling row")
)
