package objectstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

// JournalFile is the name of the journal, which readers of data pass over.
const JournalFile = ".commit.json"

// Options of a tree. The zero value is good.
type Options struct {
	// PartSize is that of the parts of uploads, at least 5 MiB for S3. Files of
	// more than 10,000 of them have larger parts. Default 16 MiB.
	PartSize int64
	// Parallelism is how many parts or objects are on their way at a time.
	// Default 4.
	Parallelism int
	// Log tells what is recovered and resumed. Default nobody.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.PartSize = cmp.Or(o.PartSize, 16<<20)
	o.Parallelism = cmp.Or(o.Parallelism, 4)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate reports settings that make no sense, joined.
func (o Options) Validate() error {
	var errs []error
	if o.PartSize < 0 {
		errs = append(errs, fmt.Errorf("part size is %d, but can't be negative", o.PartSize))
	}
	if o.Parallelism < 0 {
		errs = append(errs, fmt.Errorf("parallelism is %d, but can't be negative", o.Parallelism))
	}
	return errors.Join(errs...)
}

// Tree is the objects below a prefix. It is used by one goroutine at a time.
type Tree struct {
	store  Store
	prefix string // ends in a slash
	opts   Options
}

// NewTree gives the tree of a prefix, without slashes at its ends.
func NewTree(store Store, prefix string, opts Options) (*Tree, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("object store options: %w", err)
	}
	return &Tree{store: store, prefix: prefix + "/", opts: opts.withDefaults()}, nil
}

func (t *Tree) key(name string) string { return t.prefix + name }

// List gives the objects of the tree by name, which stands in their Key. The
// journal is among them.
func (t *Tree) List(ctx context.Context) ([]Object, error) {
	objects, err := t.store.List(ctx, t.prefix)
	if err != nil {
		return nil, err
	}
	named := objects[:0]
	for _, o := range objects {
		if o.Key = strings.TrimPrefix(o.Key, t.prefix); o.Key != "" && !strings.HasSuffix(o.Key, "/") { // a directory's place holder
			named = append(named, o)
		}
	}
	return named, nil
}

// Read gives the content of a small object; ErrNotFound.
func (t *Tree) Read(ctx context.Context, name string) ([]byte, error) {
	body, err := t.store.Get(ctx, t.key(name))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", t.key(name), err)
	}
	return data, nil
}

// Download makes files below dir of the objects that are wanted. Those that lead
// out of it are refused.
func (t *Tree) Download(ctx context.Context, dir string, want func(name string) bool) error {
	objects, err := t.List(ctx)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(t.opts.Parallelism)
	for _, o := range objects {
		if !want(o.Key) {
			continue
		}
		g.Go(func() error { return t.download(ctx, dir, o) })
	}
	return g.Wait()
}

func (t *Tree) download(ctx context.Context, dir string, o Object) (err error) {
	local := filepath.FromSlash(o.Key)
	if !filepath.IsLocal(local) || strings.Contains(o.Key, `\`) {
		return fmt.Errorf("object %q can't be a file: %w", t.key(o.Key), ErrLocation)
	}
	path := filepath.Join(dir, local)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("download %s: %w", t.key(o.Key), err)
	}
	body, err := t.store.Get(ctx, t.key(o.Key))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("download %s: %w", t.key(o.Key), err)
	}
	size, err := io.Copy(file, body)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("download %s: %w", t.key(o.Key), err)
	}
	if size != o.Size {
		return fmt.Errorf("download %s: %d bytes came, not %d: %w", t.key(o.Key), size, o.Size, ErrChanged)
	}
	return nil
}

// Probe finds out that nothing can be written below the prefix, without writing
// anything that a reader could see.
func (t *Tree) Probe(ctx context.Context) error {
	id, err := t.store.Begin(ctx, t.key(JournalFile))
	if err != nil {
		return err
	}
	return t.store.Abort(ctx, t.key(JournalFile), id)
}
