package s3

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"

	"manifest/internal/s3client"
	"manifest/internal/sstable/component"
)

// Options say where the storage is.
type Options = s3client.Options

// IsURL tells whether a place is in a bucket: s3://BUCKET/PREFIX.
func IsURL(place string) bool { return strings.HasPrefix(place, "s3://") }

// Bucket is a folder of a bucket. It may be used by many goroutines.
type Bucket struct {
	client *minio.Client
	bucket string
	prefix string // without slashes at its ends
}

// Open makes a bucket of a place. It asks nothing of the storage yet.
func Open(place string, opts Options) (*Bucket, error) {
	rest, ok := strings.CutPrefix(place, "s3://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return nil, fmt.Errorf("%q is not of the form s3://BUCKET/PREFIX", place)
	}
	client, err := s3client.New(opts)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", place, err)
	}
	return &Bucket{client.Client, bucket, strings.Trim(prefix, "/")}, nil
}

// Path is the place of the bucket's folder.
func (b *Bucket) Path() string { return "s3://" + path.Join(b.bucket, b.prefix) }

// key is that of an object, by its path in the folder.
func (b *Bucket) key(p string) string { return strings.TrimPrefix(path.Join("/", b.prefix, p), "/") }

// ReadDir lists a folder: the names of the files and of the folders in it.
func (b *Bucket) ReadDir(ctx context.Context, folder string) (files, folders []string, err error) {
	prefix := b.key(folder)
	if prefix != "" {
		prefix += "/"
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing where it is left
	for object := range b.client.ListObjects(ctx, b.bucket, minio.ListObjectsOptions{Prefix: prefix}) {
		if object.Err != nil {
			return nil, nil, fmt.Errorf("list s3://%s/%s: %w", b.bucket, prefix, withAccess(object.Err))
		}
		name := strings.TrimPrefix(object.Key, prefix)
		switch dir, isDir := strings.CutSuffix(name, "/"); {
		case name == "": // the folder itself, as some tools store it
		case isDir:
			folders = append(folders, dir)
		default:
			files = append(files, name)
		}
	}
	return files, folders, nil
}

// ReadFile reads a small file.
func (b *Bucket) ReadFile(ctx context.Context, file string) ([]byte, error) {
	o, err := b.open(ctx, file)
	if err != nil {
		return nil, err
	}
	content := make([]byte, o.size)
	_, err = o.ReadAt(content, 0)
	return content, err
}

// Folder gives a folder for reading its SSTables.
func (b *Bucket) Folder(folder string) component.Storage { return &storage{b, folder} }

// storage is a folder of a bucket.
type storage struct {
	bucket *Bucket
	folder string
}

// Names is part of component.Storage.
func (s *storage) Names(ctx context.Context) ([]string, error) {
	files, _, err := s.bucket.ReadDir(ctx, s.folder)
	return files, err
}

// Path is part of component.Storage.
func (s *storage) Path(name string) string {
	return "s3://" + path.Join(s.bucket.bucket, s.bucket.key(path.Join(s.folder, name)))
}

// Open is part of component.Storage.
func (s *storage) Open(ctx context.Context, name string) (component.File, error) {
	o, err := s.bucket.open(ctx, path.Join(s.folder, name))
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, component.Data) {
		return o, nil
	}
	return newBlocks(o), nil
}
