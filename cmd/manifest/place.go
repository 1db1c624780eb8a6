package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"manifest/export"
	"manifest/internal/objectstore"
	"manifest/internal/objectstore/s3"
)

// placeOptions say how to reach an object store that results go to.
type placeOptions struct {
	store   s3.Options
	workDir string
}

func (o *placeOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.workDir, "work-dir", "", "directory for what goes to s3://BUCKET/PREFIX, or comes from there, meanwhile (default: manifest/work in the user's cache folder)")
}

// takeStore takes the flags that say where the store is from those of snapshots,
// which are the same.
func (o *placeOptions) takeStore(from originOptions) {
	o.store = from.snapshot.s3
}

// place is where a result goes: a directory, or a prefix of an object store.
// For a store it is made in a directory of its own first, and sent from there.
type place struct {
	shown  string // as it was asked for
	local  string // the directory in which it is made
	bucket *s3.Bucket
	prefix string
	log    *slog.Logger
}

// open finds the place that out names. Nothing is asked of a store.
func (o placeOptions) open(out string, log *slog.Logger) (*place, error) {
	if !objectstore.IsLocation(out) {
		return &place{shown: out, local: out, log: log}, nil
	}
	at, err := objectstore.ParseLocation(out)
	if err != nil {
		return nil, usageError{err}
	}
	bucket, err := s3.Open(at.Bucket, o.store)
	if err != nil {
		return nil, usageError{err}
	}
	work, err := o.work()
	if err != nil {
		return nil, usageError{err}
	}
	return &place{shown: at.String(), local: filepath.Join(work, at.Bucket, fileName(at.Prefix)), bucket: bucket, prefix: at.Prefix, log: log}, nil
}

// work is the directory for what is being made.
func (o placeOptions) work() (string, error) {
	dir := o.workDir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir()
		}
		dir = filepath.Join(cache, "manifest", "work")
	}
	return filepath.Abs(dir)
}

// fileName makes the name of a file of a prefix: no two prefixes have the same.
func fileName(prefix string) string {
	name := url.PathEscape(prefix)
	if len(name) > 100 || name[0] == '.' {
		sum := sha256.Sum256([]byte(prefix))
		return hex.EncodeToString(sum[:16])
	}
	return name
}

func (p *place) remote() bool { return p.bucket != nil }

func (p *place) close() {
	if p.remote() {
		p.bucket.Close()
	}
}

// tree is the objects of the place, or of what is incomplete beside it.
func (p *place) tree(incomplete bool) (*objectstore.Tree, error) {
	prefix := p.prefix
	if incomplete {
		prefix += p.incompleteSuffix()
	}
	return objectstore.NewTree(p.bucket, prefix, objectstore.Options{Log: p.log})
}

// uploadError is a result that was made but could not be sent. It is kept, and
// another run can send it.
type uploadError struct {
	run string
	err error
}

func (e *uploadError) Error() string { return e.err.Error() }
func (e *uploadError) Unwrap() error { return e.err }

// checkDataset completes what an earlier run has begun to publish, and refuses a
// place that may not be replaced, or not be written, before anything is read.
func (p *place) checkDataset(ctx context.Context, id string, overwrite bool) error {
	if !p.remote() {
		if _, made := export.Published(p.local, id); made { // by a process of this run that ended before it had cleaned up
			return nil
		}
		return export.Check(p.local, overwrite)
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
	_, err = replaced(ctx, tree, p.shown, overwrite, export.SuccessFile)
	return err
}

// replaced gives the objects of a dataset that another one is to replace.
func replaced(ctx context.Context, tree *objectstore.Tree, shown string, overwrite bool, mark string) ([]string, error) {
	objects, err := tree.List(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range objects {
		names = append(names, o.Key)
	}
	if len(names) == 0 {
		return nil, nil
	}
	if !overwrite {
		return nil, fmt.Errorf("output %s: %w", shown, export.ErrExists)
	}
	for _, name := range []string{export.ManifestFile, mark} {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("overwrite %s, which has no %s: %w", shown, name, export.ErrNotDataset)
		}
	}
	return names, nil
}

// sendDataset publishes the dataset that was made locally, and removes it here.
// The place is that of what is incomplete, if it is.
func (p *place) sendDataset(ctx context.Context, run string, overwrite, complete bool) error {
	mark, local := export.SuccessFile, p.local
	if !complete { // what was kept of an earlier run is replaced
		mark, local, overwrite = export.IncompleteFile, export.IncompleteDir(p.local), true
	}
	tree, err := p.tree(!complete)
	if err == nil {
		err = sendDataset(ctx, tree, local, p.name(complete), mark, overwrite)
	}
	if err == nil && complete {
		err = p.removeKept(ctx, run, export.ManifestFile, export.IncompleteFile)
	}
	if err != nil {
		return &uploadError{run, err}
	}
	return os.RemoveAll(local)
}

func sendDataset(ctx context.Context, tree *objectstore.Tree, local, shown, mark string, overwrite bool) error {
	if _, err := tree.Recover(ctx); err != nil {
		return err
	}
	before, err := replaced(ctx, tree, shown, overwrite, mark)
	if err != nil {
		return err
	}
	change := objectstore.Change{Dir: local}
	if len(before) > 0 {
		change.Marks = []string{mark, export.ManifestFile}
	}
	files, err := listFiles(local)
	if err != nil {
		return err
	}
	var empty []string
	for _, f := range files {
		switch {
		case f.name == mark || f.name == export.ManifestFile:
		case f.size == 0:
			empty = append(empty, f.name)
		default:
			change.Files = append(change.Files, f.name)
		}
	}
	change.Last = append(empty, export.ManifestFile, mark)
	for _, name := range before {
		if !slices.ContainsFunc(files, func(f localFile) bool { return f.name == name }) {
			change.Remove = append(change.Remove, name)
		}
	}
	return tree.Publish(ctx, change)
}

type localFile struct {
	name string // with slashes
	size int64
}

// listFiles gives the files below a directory, in order, without hidden ones.
func listFiles(dir string) (files []localFile, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != dir && e.Name()[0] == '.' {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, localFile{filepath.ToSlash(rel), info.Size()})
		return err
	})
	return files, err
}

// removeKept removes what this run kept when it was incomplete: record is the
// file that names its run, marks are removed first.
func (p *place) removeKept(ctx context.Context, run, record string, marks ...string) error {
	tree, err := p.tree(true)
	if err != nil {
		return err
	}
	data, err := tree.Read(ctx, record)
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var of struct {
		Run string `json:"run_id"`
	}
	if json.Unmarshal(data, &of) != nil || of.Run != run {
		return nil // of another run
	}
	return removeAll(ctx, tree, append(marks, record)...)
}

// madeDataset gives the manifest of a dataset that an earlier process of this
// run has made, but could not send.
func (p *place) madeDataset(run, query string) (m export.Manifest, ok bool, err error) {
	if !p.remote() {
		return m, false, nil
	}
	data, err := os.ReadFile(filepath.Join(p.local, export.ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, false, fmt.Errorf("read %s: %w", filepath.Join(p.local, export.ManifestFile), err)
	}
	if m.RunID != run {
		return m, false, nil
	}
	if m.Query.Text != query {
		return m, false, usagef("--resume %s: that run was %q, and this one is %q", run, m.Query.Text, query)
	}
	return m, true, nil
}

// uploadHint says how to go on with what was not sent.
func uploadHint(err error) string {
	if failed, ok := errors.AsType[*uploadError](err); ok {
		switch {
		case errors.Is(err, export.ErrExists), errors.Is(err, export.ErrNotDataset):
			return "another --out; what was made is kept for --resume " + failed.run + " with --overwrite"
		default:
			return "the same command with --resume " + failed.run + ": what was made and sent is kept"
		}
	}
	switch {
	case errors.Is(err, objectstore.ErrAccess):
		return "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or a role that may list, read, write and remove objects there"
	case errors.Is(err, objectstore.ErrUnreachable):
		return "check --s3-endpoint and, for an authority of your own, AWS_CA_BUNDLE"
	case errors.Is(err, objectstore.ErrNotFound):
		return "a bucket that exists: check the name, --s3-endpoint and AWS_REGION"
	}
	return ""
}

// storeExit gives the exit code of a fault of an object store that has one of its
// own.
func storeExit(err error) (code int, ok bool) {
	switch {
	case errors.Is(err, objectstore.ErrAccess):
		return exitNoAccess, true
	case errors.Is(err, objectstore.ErrLocation):
		return exitUsage, true
	}
	if _, ok := errors.AsType[*uploadError](err); ok && !isUsage(err) {
		return exitIncomplete, true
	}
	if errors.Is(err, objectstore.ErrUnreachable) {
		return exitNoAccess, true
	}
	return 0, false
}

// name is what a user is told of the place, or of what is incomplete beside it.
func (p *place) name(complete bool) string {
	if complete {
		return p.shown
	}
	return p.shown + p.incompleteSuffix()
}

// incompleteSuffix is what the name of a place of what is incomplete ends in.
func (p *place) incompleteSuffix() string {
	return strings.TrimPrefix(export.IncompleteDir(p.local), filepath.Clean(p.local))
}
