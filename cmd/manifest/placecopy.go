package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"manifest/export"
	"manifest/internal/objectstore"
)

// copyHere copies what an object store has of a dataset, or of the last run of
// statistics, into a new directory, which the caller removes.
func (p *place) copyHere(ctx context.Context) (dir string, err error) {
	tree, err := p.tree(false)
	if err != nil {
		return "", err
	}
	want, err := lastRunOf(ctx, tree)
	if err != nil {
		return "", err
	}
	parent := filepath.Dir(p.local)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(parent, ".copy-"); err != nil {
		return "", err
	}
	if err := tree.Download(ctx, dir, want); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("%s: %w", p.shown, objectstore.ErrNotFound)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// lastRunOf tells the objects to copy: all of a dataset, and of statistics those
// of the last run, since all others have no record.
func lastRunOf(ctx context.Context, tree *objectstore.Tree) (func(string) bool, error) {
	data, err := tree.Read(ctx, export.RunFile)
	if errors.Is(err, objectstore.ErrNotFound) {
		return func(string) bool { return true }, nil
	}
	if err != nil {
		return nil, err
	}
	names := map[string]bool{export.RunFile: true, objectstore.JournalFile: true}
	var run export.RunRecord
	if json.Unmarshal(data, &run) == nil { // if not, verification says so
		for _, s := range run.Statistics {
			names[s.File.Path] = true
		}
		for _, l := range run.Ledgers {
			names[l.Path] = true
		}
	}
	return func(name string) bool { return names[name] }, nil
}
