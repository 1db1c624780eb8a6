package s3

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/minio/minio-go/v7"

	"manifest/internal/objectstore"
	"manifest/internal/s3client"
)

// Options of a bucket.
type Options = s3client.Options

// Bucket is a bucket of a server. It implements [objectstore.Store].
type Bucket struct {
	core *s3client.Client
	name string
}

// Open gives a bucket. Nothing is asked of the server.
func Open(bucket string, opts Options) (*Bucket, error) {
	client, err := s3client.New(opts)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", bucket, err)
	}
	return &Bucket{client, bucket}, nil
}

// Close ends the connections that are kept for further requests.
func (b *Bucket) Close() { b.core.Close() }

// fault names the object of an error, and says what kind it is.
func (b *Bucket) fault(ctx context.Context, doing, key string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = errors.Join(err, cause)
	}
	place := objectstore.Scheme + b.name
	if key != "" {
		place += "/" + key
	}
	switch response := minio.ToErrorResponse(err); response.Code {
	case minio.NoSuchKey, minio.NoSuchBucket, "NotFound":
		err = errors.Join(objectstore.ErrNotFound, err)
	case minio.NoSuchUpload, "InvalidPart":
		err = errors.Join(objectstore.ErrNoUpload, err)
	case minio.AccessDenied, "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken":
		err = errors.Join(objectstore.ErrAccess, err)
	case "":
		if _, ok := errors.AsType[net.Error](err); ok {
			err = errors.Join(objectstore.ErrUnreachable, err)
		}
	}
	return fmt.Errorf("%s %s: %w", doing, place, err)
}
