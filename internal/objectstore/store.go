package objectstore

import (
	"context"
	"errors"
	"io"
)

var (
	// ErrNotFound reports an object or a bucket that is not there.
	ErrNotFound = errors.New("no such object")

	// ErrNoUpload reports an upload that is not there: completed, aborted, or
	// removed by a rule of the bucket.
	ErrNoUpload = errors.New("no such upload")

	// ErrAccess reports that the store refused the credentials, or that they
	// don't allow what was asked.
	ErrAccess = errors.New("access to the object store is denied")

	// ErrUnreachable reports that the store did not answer, or not as itself.
	ErrUnreachable = errors.New("the object store can't be reached")

	// ErrChanged reports an object or a part that is not what was sent.
	ErrChanged = errors.New("object differs from what was sent")

	// ErrLocation reports a place that is not one of an object store.
	ErrLocation = errors.New("not a place in an object store")
)

// Store is one bucket. Its methods may be called concurrently. They retry what
// may pass by itself; their errors name the object.
type Store interface {
	// List gives the objects whose keys begin with prefix, in order.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Stat gives one object; ErrNotFound.
	Stat(ctx context.Context, key string) (Object, error)
	// Get reads an object, which the caller closes; ErrNotFound.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// Put writes a small object at once.
	Put(ctx context.Context, key string, data []byte) error
	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, key string) error

	// Uploads gives the unfinished uploads of objects whose keys begin with
	// prefix. Some stores find only those of the object that prefix names.
	Uploads(ctx context.Context, prefix string) ([]Unfinished, error)
	// Begin starts an upload.
	Begin(ctx context.Context, key string) (id string, err error)
	// Parts gives the parts that the store has of an upload; ErrNoUpload.
	Parts(ctx context.Context, key, id string) ([]Part, error)
	// UploadPart sends a part. Its Number, Size and sums are those of body.
	UploadPart(ctx context.Context, key, id string, part Part, body io.ReadSeeker) (Part, error)
	// Complete makes an object of an upload and the given parts; ErrNoUpload.
	Complete(ctx context.Context, key, id string, parts []Part) error
	// Abort removes an upload. One that is not there is no error.
	Abort(ctx context.Context, key, id string) error
}

// Object of a store.
type Object struct {
	Key  string
	Size int64
	ETag string // without quotes
}

// Unfinished is an upload that has not become an object.
type Unfinished struct{ Key, ID string }

// Part of an upload. MD5 and SHA256 are of what was sent; the rest is what the
// store says of what it has.
type Part struct {
	Number int    `json:"number"` // from 1
	Size   int64  `json:"size"`
	ETag   string `json:"etag"`             // often the MD5 in hex
	Sum    string `json:"sum,omitempty"`    // SHA-256 in base64, where the store keeps it
	MD5    []byte `json:"md5,omitempty"`    // of 16 bytes
	SHA256 []byte `json:"sha256,omitempty"` // of 32 bytes
}
