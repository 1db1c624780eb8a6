package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/minio/minio-go/v7"

	"manifest/internal/objectstore"
)

// List gives the objects whose keys begin with prefix, in order.
func (b *Bucket) List(ctx context.Context, prefix string) ([]objectstore.Object, error) {
	ctx, stop := context.WithCancel(ctx) // ends the goroutine behind the channel
	defer stop()
	var objects []objectstore.Object
	for o := range b.core.Client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, b.fault(ctx, "list", prefix, o.Err)
		}
		objects = append(objects, objectstore.Object{Key: o.Key, Size: o.Size, ETag: o.ETag})
	}
	if err := ctx.Err(); err != nil {
		return nil, b.fault(ctx, "list", prefix, err)
	}
	return objects, nil
}

// Stat gives one object.
func (b *Bucket) Stat(ctx context.Context, key string) (objectstore.Object, error) {
	o, err := b.core.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err != nil {
		return objectstore.Object{}, b.fault(ctx, "look up", key, err)
	}
	return objectstore.Object{Key: o.Key, Size: o.Size, ETag: o.ETag}, nil
}

// Get reads an object.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	body, _, _, err := b.core.GetObject(ctx, b.name, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.fault(ctx, "read", key, err)
	}
	return body, nil
}

// Put writes a small object at once.
func (b *Bucket) Put(ctx context.Context, key string, data []byte) error {
	sum := sha256.Sum256(data)
	_, err := b.core.PutObject(ctx, b.name, key, bytes.NewReader(data), int64(len(data)), "", hex.EncodeToString(sum[:]),
		minio.PutObjectOptions{ContentType: contentType(key), DisableContentSha256: true})
	if err != nil {
		return b.fault(ctx, "write", key, err)
	}
	return nil
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if err := b.core.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}); err != nil {
		return b.fault(ctx, "remove", key, err)
	}
	return nil
}
