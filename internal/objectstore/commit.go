package objectstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// Change is what becomes of a tree. All names are below it, with slashes, and
// files are below Dir.
type Change struct {
	Dir string
	// Files appear together.
	Files []string
	// Last are small files that are written one after the other when all else is
	// done: those that tell readers so.
	Last []string
	// Marks are objects that are removed, one after the other, before anything
	// else changes: those that told readers that what was there is whole.
	Marks []string
	// Remove are objects that are removed when the files have appeared.
	Remove []string
}

// journal is a change that is decided.
type journal struct {
	Marks   []string  `json:"marks,omitempty"`
	Uploads []upload  `json:"uploads,omitempty"`
	Remove  []string  `json:"remove,omitempty"`
	Last    []content `json:"last,omitempty"`
}

type content struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// Publish makes a change. An error before the journal is written leaves the tree
// as it was, and what was sent as unfinished uploads for the next attempt.
// Afterwards the change is carried out by whoever calls Recover, unless nothing
// was there before: then what has appeared of it is removed.
func (t *Tree) Publish(ctx context.Context, c Change) error {
	var j journal
	for _, name := range c.Last {
		data, err := os.ReadFile(filepath.Join(c.Dir, filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("publish %s: %w", t.key(name), err)
		}
		j.Last = append(j.Last, content{name, data})
	}
	for _, name := range c.Files {
		u, err := t.stage(ctx, c.Dir, name)
		if err != nil {
			return err
		}
		t.opts.Log.Info("sent", "object", t.key(name), "bytes", u.Size)
		j.Uploads = append(j.Uploads, u)
	}
	j.Marks, j.Remove = c.Marks, c.Remove
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("publish below %s: %w", t.prefix, err)
	}
	if err := t.store.Put(ctx, t.key(JournalFile), data); err != nil {
		return err
	}
	if err := t.apply(ctx, j); err != nil {
		if len(j.Marks)+len(j.Remove) == 0 || errors.Is(err, ErrNoUpload) {
			return errors.Join(err, t.undo(ctx, j))
		}
		return err
	}
	return t.tidy(ctx)
}

// tidy aborts the uploads that earlier attempts left.
func (t *Tree) tidy(ctx context.Context) error {
	left, err := t.store.Uploads(ctx, t.prefix)
	if err != nil {
		return fmt.Errorf("published, but unfinished uploads may be left: %w", err)
	}
	for _, u := range left {
		if err := t.store.Abort(ctx, u.Key, u.ID); err != nil {
			return fmt.Errorf("published, but an unfinished upload is left: %w", err)
		}
	}
	return nil
}

// Recover carries out a change that was broken off, and tells whether there was
// one. If its uploads are gone, what it made is removed.
func (t *Tree) Recover(ctx context.Context) (found bool, err error) {
	data, err := t.Read(ctx, JournalFile)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return true, fmt.Errorf("read %s: %w", t.key(JournalFile), err)
	}
	t.opts.Log.Warn("a change that was broken off is carried out", "journal", t.key(JournalFile))
	err = t.apply(ctx, j)
	if errors.Is(err, ErrNoUpload) {
		t.opts.Log.Warn("it can't be, so what it made is removed", "err", err)
		return true, t.undo(ctx, j)
	}
	return true, err
}

// apply does what a journal says. Doing it twice is the same as doing it once.
func (t *Tree) apply(ctx context.Context, j journal) error {
	for _, name := range j.Marks {
		if err := t.store.Delete(ctx, t.key(name)); err != nil {
			return err
		}
	}
	err := t.each(ctx, len(j.Uploads), func(ctx context.Context, i int) error { return t.complete(ctx, j.Uploads[i]) })
	if err != nil {
		return err
	}
	err = t.each(ctx, len(j.Remove), func(ctx context.Context, i int) error { return t.store.Delete(ctx, t.key(j.Remove[i])) })
	if err != nil {
		return err
	}
	for _, c := range j.Last {
		if err := t.store.Put(ctx, t.key(c.Name), c.Data); err != nil {
			return err
		}
	}
	return t.store.Delete(ctx, t.key(JournalFile))
}

// complete makes an object of an upload, unless that was done already.
func (t *Tree) complete(ctx context.Context, u upload) error {
	gone := t.store.Complete(ctx, t.key(u.Name), u.ID, u.Parts)
	if gone != nil && !errors.Is(gone, ErrNoUpload) {
		return gone
	}
	o, err := t.store.Stat(ctx, t.key(u.Name))
	if err == nil {
		err = u.check(o)
	}
	if gone != nil && (errors.Is(err, ErrNotFound) || errors.Is(err, ErrChanged)) {
		return fmt.Errorf("complete %s: %w", t.key(u.Name), gone)
	}
	return err
}

// undoLimit is how long the removal may take of what a failed change made. The
// context of the change may have ended.
const undoLimit = 30 * time.Second

// undo removes what a journal makes, the journal last.
func (t *Tree) undo(ctx context.Context, j journal) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	for _, c := range slices.Backward(j.Last) {
		if err := t.store.Delete(ctx, t.key(c.Name)); err != nil {
			return err
		}
	}
	err := t.each(ctx, len(j.Uploads), func(ctx context.Context, i int) error {
		u := j.Uploads[i]
		o, err := t.store.Stat(ctx, t.key(u.Name))
		if errors.Is(err, ErrNotFound) || err == nil && u.check(o) != nil {
			return nil // it never appeared: its upload is for the next attempt
		}
		if err != nil {
			return err
		}
		return t.store.Delete(ctx, t.key(u.Name))
	})
	if err != nil {
		return err
	}
	return t.store.Delete(ctx, t.key(JournalFile))
}

// each does n things, some at a time.
func (t *Tree) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(t.opts.Parallelism)
	for i := range n {
		g.Go(func() error { return do(ctx, i) })
	}
	return g.Wait()
}
