package s3

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"path"

	"github.com/minio/minio-go/v7"

	"manifest/internal/objectstore"
)

// Uploads gives the unfinished uploads of objects whose keys begin with prefix.
func (b *Bucket) Uploads(ctx context.Context, prefix string) ([]objectstore.Unfinished, error) {
	var found []objectstore.Unfinished
	key, id := "", ""
	for {
		page, err := b.core.ListMultipartUploads(ctx, b.name, prefix, key, id, "", 1000)
		if err != nil {
			return nil, b.fault(ctx, "list uploads of", prefix, err)
		}
		for _, u := range page.Uploads {
			found = append(found, objectstore.Unfinished{Key: u.Key, ID: u.UploadID})
		}
		if !page.IsTruncated {
			return found, nil
		}
		key, id = page.NextKeyMarker, page.NextUploadIDMarker
	}
}

// Begin starts an upload whose parts have checksums.
func (b *Bucket) Begin(ctx context.Context, key string) (id string, err error) {
	id, err = b.core.NewMultipartUpload(ctx, b.name, key, minio.PutObjectOptions{
		ContentType:  contentType(key),
		UserMetadata: map[string]string{"X-Amz-Checksum-Algorithm": minio.ChecksumSHA256.String()},
	})
	if err != nil {
		return "", b.fault(ctx, "begin the upload of", key, err)
	}
	return id, nil
}

// Parts gives the parts that the server has of an upload.
func (b *Bucket) Parts(ctx context.Context, key, id string) ([]objectstore.Part, error) {
	var parts []objectstore.Part
	after := 0
	for {
		page, err := b.core.ListObjectParts(ctx, b.name, key, id, after, 1000)
		if err != nil {
			return nil, b.fault(ctx, "list the parts of", key, err)
		}
		for _, p := range page.ObjectParts {
			parts = append(parts, objectstore.Part{Number: p.PartNumber, Size: p.Size, ETag: p.ETag, Sum: p.ChecksumSHA256})
		}
		if !page.IsTruncated || page.NextPartNumberMarker <= after {
			return parts, nil
		}
		after = page.NextPartNumberMarker
	}
}

// UploadPart sends a part.
func (b *Bucket) UploadPart(ctx context.Context, key, id string, part objectstore.Part, body io.ReadSeeker) (objectstore.Part, error) {
	header := make(http.Header)
	header.Set(minio.ChecksumSHA256.Key(), base64.StdEncoding.EncodeToString(part.SHA256))
	sent, err := b.core.PutObjectPart(ctx, b.name, key, id, part.Number, body, part.Size, minio.PutObjectPartOptions{
		Sha256Hex: hex.EncodeToString(part.SHA256), DisableContentSha256: true, CustomHeader: header,
	})
	if err != nil {
		return part, b.fault(ctx, "upload", key, err)
	}
	part.ETag, part.Sum = sent.ETag, sent.ChecksumSHA256
	return part, nil
}

// Complete makes an object of an upload.
func (b *Bucket) Complete(ctx context.Context, key, id string, parts []objectstore.Part) error {
	var complete []minio.CompletePart
	for _, p := range parts {
		complete = append(complete, minio.CompletePart{PartNumber: p.Number, ETag: p.ETag, ChecksumSHA256: p.Sum})
	}
	if _, err := b.core.CompleteMultipartUpload(ctx, b.name, key, id, complete, minio.PutObjectOptions{}); err != nil {
		return b.fault(ctx, "complete the upload of", key, err)
	}
	return nil
}

// Abort removes an upload.
func (b *Bucket) Abort(ctx context.Context, key, id string) error {
	err := b.core.AbortMultipartUpload(ctx, b.name, key, id)
	if err == nil {
		return nil
	}
	if err = b.fault(ctx, "abort the upload of", key, err); errors.Is(err, objectstore.ErrNoUpload) {
		return nil
	}
	return err
}

// contentType is what browsers are told of an object.
func contentType(key string) string {
	switch path.Ext(key) {
	case ".parquet":
		return "application/vnd.apache.parquet"
	case ".arrow":
		return "application/vnd.apache.arrow.file"
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".jsonl":
		return "application/jsonl"
	case ".json":
		return "application/json"
	case ".md":
		return "text/markdown; charset=utf-8"
	case ".sql", ".html":
		return "text/" + path.Ext(key)[1:] + "; charset=utf-8"
	case "":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}
