package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"manifest/export"
	"manifest/internal/objectstore"
)

// Statistics of an object store are added to in a mirror of it: a directory
// with the names of the files that are there, and nothing in them. A run adds
// its own and removes those that they replace; then the store gets the ones, and
// loses the others.

// mirrorFile lists, in a mirror, what the store had.
const mirrorFile = ".mirror.json"

// statsObject is the name of a file of statistics, or of a ledger beside them.
var statsObject = regexp.MustCompile(`^([a-z0-9][a-z0-9_-]*/(dt=[^/]+/)?part-[^/]+\.parquet|ledger-[0-9]+\.jsonl)$`)

// mirrorStats completes what an earlier run has begun to publish, and makes the
// mirror. Working directories of runs stay.
func (p *place) mirrorStats(ctx context.Context) error {
	if !p.remote() {
		return nil
	}
	tree, err := p.tree(false)
	if err != nil {
		return err
	}
	if _, err := tree.Recover(ctx); err != nil {
		return err
	}
	if err := tree.Probe(ctx); err != nil {
		return err
	}
	objects, err := tree.List(ctx)
	if err != nil {
		return err
	}
	if err := clearMirror(p.local); err != nil {
		return err
	}
	names := []string{}
	for _, o := range objects {
		if !statsObject.MatchString(o.Key) || !filepath.IsLocal(filepath.FromSlash(o.Key)) {
			continue
		}
		names = append(names, o.Key)
		file := filepath.Join(p.local, filepath.FromSlash(o.Key))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			return fmt.Errorf("mirror %s: %w", p.shown, err)
		}
	}
	data, err := json.Marshal(names)
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(p.local, 0o755), os.WriteFile(filepath.Join(p.local, mirrorFile), data, 0o644)); err != nil {
		return fmt.Errorf("mirror %s: %w", p.shown, err)
	}
	return nil
}

// clearMirror removes a mirror but for the working directories of runs.
func clearMirror(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".run-") {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	_ = os.Remove(dir) // fails, as it should, if a run has something there
	return nil
}

// sendStats publishes what a run has added to the mirror. What is incomplete
// replaces that of an earlier run as a whole.
func (p *place) sendStats(ctx context.Context, run string, complete bool) error {
	tree, err := p.tree(!complete)
	if err != nil {
		return err
	}
	local := p.local
	if !complete {
		local = export.IncompleteDir(local)
	}
	if err := p.sendStatsTree(ctx, tree, local, complete); err != nil {
		return &uploadError{run, err}
	}
	if !complete {
		return os.RemoveAll(local)
	}
	return p.removeKept(ctx, run+incompleteRun, export.RunFile)
}

// leaveMirror removes the mirror at the end of a run, unless it holds what could
// not be sent.
func (p *place) leaveMirror(failure error) {
	if _, unsent := errors.AsType[*uploadError](failure); unsent || !p.remote() {
		return
	}
	if err := clearMirror(p.local); err != nil {
		p.log.Warn("the mirror of the object store is left", "err", err)
	}
}

func (p *place) sendStatsTree(ctx context.Context, tree *objectstore.Tree, local string, complete bool) error {
	if _, err := tree.Recover(ctx); err != nil {
		return err
	}
	var before []string
	if complete {
		data, err := os.ReadFile(filepath.Join(local, mirrorFile))
		if err == nil {
			err = json.Unmarshal(data, &before)
		}
		if err != nil {
			return fmt.Errorf("read what %s had: %w", p.shown, err)
		}
	} else if objects, err := tree.List(ctx); err != nil {
		return err
	} else {
		for _, o := range objects {
			if statsObject.MatchString(o.Key) {
				before = append(before, o.Key)
			}
		}
	}
	files, err := listFiles(local)
	if err != nil {
		return err
	}
	change := objectstore.Change{Dir: local}
	for _, f := range files {
		switch {
		case path.Dir(f.name) == ".":
			if f.name != export.RunFile { // views and ledgers
				change.Last = append(change.Last, f.name)
			}
		case f.size > 0:
			change.Files = append(change.Files, f.name)
		}
	}
	change.Last = append(change.Last, export.RunFile)
	for _, name := range before {
		if !slices.ContainsFunc(files, func(f localFile) bool { return f.name == name }) {
			change.Remove = append(change.Remove, name)
		}
	}
	return tree.Publish(ctx, change)
}

// removeAll removes a tree, the marks first.
func removeAll(ctx context.Context, tree *objectstore.Tree, marks ...string) error {
	objects, err := tree.List(ctx)
	if err != nil {
		return err
	}
	change := objectstore.Change{Marks: marks}
	for _, o := range objects {
		change.Remove = append(change.Remove, o.Key)
	}
	return tree.Publish(ctx, change)
}

// sendMade sends the statistics that an earlier process of this run has made,
// and tells whether there were any.
func (o statsOptions) sendMade(ctx context.Context, where *place, id string) (result statsResult, ok bool, err error) {
	if !where.remote() {
		return result, false, nil
	}
	data, err := os.ReadFile(filepath.Join(where.local, export.RunFile))
	if errors.Is(err, fs.ErrNotExist) {
		return result, false, nil
	}
	if err != nil {
		return result, false, err
	}
	var run export.RunRecord
	if err := json.Unmarshal(data, &run); err != nil {
		return result, false, fmt.Errorf("read %s: %w", filepath.Join(where.local, export.RunFile), err)
	}
	if run.RunID != id {
		return result, false, nil
	}
	if run.Query.Text != o.text() {
		return result, false, usagef("--resume %s: that run was %q, and this one is %q", id, run.Query.Text, o.text())
	}
	if err := where.sendStats(ctx, id, true); err != nil {
		return result, false, err
	}
	result = statsResult{Run: id, Out: where.shown, Complete: true, Seconds: run.Window.End.Sub(run.Window.Start).Seconds()}
	for _, c := range run.Counts {
		result.Tables = append(result.Tables, tableCount{Table: strings.TrimPrefix(c.Stage, "read "), Rows: c.Rows})
	}
	for _, s := range run.Statistics {
		if n := len(result.Statistics); n == 0 || result.Statistics[n-1].Name != s.Name {
			result.Statistics = append(result.Statistics, statCount{Name: s.Name})
		}
		last := &result.Statistics[len(result.Statistics)-1]
		last.Files, last.Rows = last.Files+1, last.Rows+s.File.Rows
	}
	return result, true, os.RemoveAll(statsRunDir(where.local, id))
}
