//go:build !unix

package ledger

import (
	"errors"
	"fmt"
	"io"
)

// lockDir refuses: without a lock that ends with its process, two processes
// could write one ledger.
func lockDir(dir string) (io.Closer, error) {
	return nil, fmt.Errorf("lock run %s: %w on this system", dir, errors.ErrUnsupported)
}
