package tokensort

import (
	"errors"
	"fmt"
	"syscall"
)

var (
	// ErrCorrupt is wrapped by the error for a run that no Writer finished, or that was changed since.
	ErrCorrupt = errors.New("corrupt run of sorted rows")
	// ErrOrder is wrapped by the error for rows that come in another order than they should.
	ErrOrder = errors.New("rows are out of order")
	// ErrDiskFull is wrapped by the error for a run that did not fit on the disk.
	ErrDiskFull = errors.New("no space left for sorting")
)

// diskError names the directory whose disk is full, which is not the one of the output that people look at.
func diskError(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w in %s: %w", ErrDiskFull, dir, err)
	}
	return err
}
