package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// object is an object that was found, in the version that it had then.
type object struct {
	bucket *Bucket
	key    string
	etag   string
	size   int64
}

func (b *Bucket) open(ctx context.Context, p string) (*object, error) {
	o := &object{bucket: b, key: b.key(p)}
	info, err := b.client.StatObject(ctx, b.bucket, o.key, minio.StatObjectOptions{})
	if err != nil {
		if r := minio.ToErrorResponse(err); r.Code == minio.NoSuchKey || r.StatusCode == http.StatusNotFound {
			err = errors.Join(fs.ErrNotExist, err)
		}
		return nil, fmt.Errorf("s3://%s/%s: %w", b.bucket, o.key, withAccess(err))
	}
	o.etag, o.size = info.ETag, info.Size
	return o, nil
}

// Size is part of component.File.
func (o *object) Size() int64 { return o.size }

// Close is part of component.File.
func (o *object) Close() error { return nil }

// ReadAt is part of component.File. The client tries again by itself what fails on
// the way.
func (o *object) ReadAt(b []byte, offset int64) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if offset >= o.size {
		return 0, io.EOF
	}
	wanted := b[:min(int64(len(b)), o.size-offset)]
	if err := o.readRange(wanted, offset); err != nil {
		return 0, fmt.Errorf("read s3://%s/%s: %w", o.bucket.bucket, o.key, err)
	}
	if len(wanted) < len(b) {
		return len(wanted), io.EOF
	}
	return len(wanted), nil
}

// patience is how long one answer may take.
const patience = 2 * time.Minute

// attempts is how often a range is asked for whose answer breaks off.
const attempts = 5

func (o *object) readRange(b []byte, offset int64) error {
	var errs []error
	for range attempts {
		n, err := o.tryRange(b, offset)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
		if r := minio.ToErrorResponse(err); r.StatusCode >= 400 && r.StatusCode < 500 {
			break // no matter how often it is asked
		}
		b, offset = b[n:], offset+int64(n)
	}
	return errors.Join(errs...)
}

// tryRange reads as much of the range as comes.
func (o *object) tryRange(b []byte, offset int64) (int, error) {
	var opts minio.GetObjectOptions
	if err := errors.Join(opts.SetRange(offset, offset+int64(len(b))-1), opts.SetMatchETag(o.etag)); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	body, _, _, err := (&minio.Core{Client: o.bucket.client}).GetObject(ctx, o.bucket.bucket, o.key, opts)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	n, err := io.ReadFull(body, b)
	if err == nil {
		// A storage that does not know ranges would give the object from its start.
		var more [1]byte
		if extra, _ := body.Read(more[:]); extra > 0 {
			return 0, errors.New("the storage gave more than the range that was asked for")
		}
	}
	return n, err
}

// blocks reads an object by blocks, of which it keeps the last.
type blocks struct {
	*object
	kept chan []block // holds one list, in order of use
}

type block struct {
	number  int64
	content []byte
}

const (
	blockSize  = 1 << 20
	blocksKept = 4
)

func newBlocks(o *object) *blocks {
	b := &blocks{object: o, kept: make(chan []block, 1)}
	b.kept <- nil
	return b
}

// ReadAt is part of component.File.
func (b *blocks) ReadAt(p []byte, offset int64) (int, error) {
	n := 0
	for n < len(p) {
		at := offset + int64(n)
		if at >= b.size {
			return n, io.EOF
		}
		content, err := b.block(at / blockSize)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], content[at%blockSize:])
	}
	return n, nil
}

// block gives a block, which nobody changes any more.
func (b *blocks) block(number int64) ([]byte, error) {
	kept := <-b.kept
	defer func() { b.kept <- kept }()
	for i, k := range kept {
		if k.number == number {
			copy(kept[1:i+1], kept[:i])
			kept[0] = k
			return k.content, nil
		}
	}
	content := make([]byte, min(blockSize, b.size-number*blockSize))
	if n, err := b.object.ReadAt(content, number*blockSize); n < len(content) {
		return nil, err
	}
	kept = append([]block{{number, content}}, kept[:min(len(kept), blocksKept-1)]...)
	return content, nil
}
