package s3

import (
	"errors"
	"net"
	"net/http"

	"github.com/minio/minio-go/v7"
)

// ErrNoAccess means that the storage can't be reached, or does not let this user
// in.
var ErrNoAccess = errors.New("no access to the storage")

// withAccess adds ErrNoAccess to an error that means it.
func withAccess(err error) error {
	switch minio.ToErrorResponse(err).StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return errors.Join(ErrNoAccess, err)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return errors.Join(ErrNoAccess, err)
	}
	return err
}
