package snapshot

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"manifest/internal/sstable/component"
)

var (
	// ErrLive means that the files of a running server were given.
	ErrLive = errors.New("a running server's files, not a snapshot")
	// ErrTags means that there are several snapshots to choose from.
	ErrTags = errors.New("several snapshots")
	// ErrNoTable means that there are no SSTables, or none of the table.
	ErrNoTable = errors.New("no SSTables found")
	// ErrIncomplete means that a snapshot lacks a file that its manifest names, or
	// that a node lacks a snapshot.
	ErrIncomplete = errors.New("the snapshot is not complete")
	// ErrAmbiguous means that there are several tables of one name, or several
	// schemas of one table.
	ErrAmbiguous = errors.New("more than one")
)

// Options say what of the trees to take.
type Options struct {
	// Tag is the snapshot to take; "" takes the only one there is.
	Tag string
	// Backups takes incremental backups too. They hold only what was flushed since
	// they were switched on, or emptied, and so need a snapshot from then.
	Backups bool
}

// Folder is a folder with SSTables of one table of one node.
type Folder struct {
	// Path is that in the tree, "." for the tree itself.
	Path string
	// Node is what stands in front of the keyspace; "" if nothing does.
	Node string
	// Keyspace, Table and ID are "" where neither the path nor a schema.cql tells
	// them.
	Keyspace, Table, ID string
	// Tag is the snapshot's, "" if the path has none.
	Tag string
	// Backup tells that these are incremental backups.
	Backup bool
	// Schema and Manifest tell whether there is a schema.cql and a manifest.json.
	Schema, Manifest bool

	tree *Tree
	// named tells that the tree begins inside of the snapshot or the backups.
	named bool
	// live tells that snapshots or backups are inside of the folder.
	live bool
	// some tells that it has SSTables.
	some bool
	// listed has the files that a manifest names; nil where all of the folder's
	// count.
	listed component.Storage
	// backup is Medusa's, where the folder is of one.
	backup *medusaBackup
}

// Name is the folder's name for people.
func (f Folder) Name() string {
	if scheme, place, ok := strings.Cut(f.tree.Path, "://"); ok {
		return scheme + "://" + path.Join(place, f.Path)
	}
	return path.Join(f.tree.Path, f.Path)
}

func (f Folder) read(ctx context.Context, name string) (string, error) {
	b, err := f.tree.ReadFile(ctx, path.Join(f.Path, name))
	return string(b), err
}

// storage gives the folder's SSTables.
func (f Folder) storage() component.Storage {
	if f.listed != nil {
		return f.listed
	}
	return f.tree.Folder(f.Path)
}

var (
	tableFolder = regexp.MustCompile(`^(\w+)-([0-9a-f]{32})$`)
	// autoSnapshot are tags that Cassandra gives by itself.
	autoSnapshot = regexp.MustCompile(`^(truncated|dropped)-`)
)

// examine takes a folder of a tree apart.
func (t *Tree) examine(ctx context.Context, p string, files, folders []string) (Folder, error) {
	f := parsePath(path.Join(t.Path, p))
	f.Path, f.tree = p, t
	inside := parsePath(t.Path)
	f.named = inside.Tag != "" || inside.Backup
	f.live = slices.Contains(folders, "snapshots") || slices.Contains(folders, "backups")
	f.some = slices.ContainsFunc(files, func(name string) bool { return strings.HasSuffix(name, "-Data.db") })
	f.Schema, f.Manifest = slices.Contains(files, "schema.cql"), slices.Contains(files, "manifest.json")
	return f, f.identify(ctx)
}

// parsePath takes a folder's path apart.
func parsePath(p string) Folder {
	var f Folder
	parts := strings.Split(p, "/")
	n := len(parts)
	switch {
	case n >= 2 && parts[n-2] == "snapshots":
		f.Tag = parts[n-1]
		n -= 2
	case parts[n-1] == "backups":
		f.Backup = true
		n--
	}
	if n == 0 {
		return f
	}
	m := tableFolder.FindStringSubmatch(parts[n-1])
	if m == nil {
		return f
	}
	f.Table, f.ID = m[1], m[2]
	if n >= 2 {
		f.Keyspace = parts[n-2]
		f.Node = strings.Join(parts[:n-2], "/")
	}
	return f
}

var (
	createTable = regexp.MustCompile(`(?i)\bCREATE\s+(?:TABLE|MATERIALIZED\s+VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?("(?:[^"]|"")+"|\w+)\.("(?:[^"]|"")+"|\w+)`)
	withID      = regexp.MustCompile(`(?i)\bWITH\s+ID\s*=\s*([0-9a-f-]{36})`)
)

// identify takes the table's name from its schema.cql, which knows better than a
// path: copies have any folders in front.
func (f *Folder) identify(ctx context.Context) error {
	if !f.Schema {
		return nil
	}
	text, err := f.read(ctx, "schema.cql")
	if err != nil {
		return err
	}
	tables, ids := createTable.FindAllStringSubmatch(text, 2), withID.FindAllStringSubmatch(text, 2)
	if len(tables) != 1 || len(ids) != 1 {
		return nil // of several tables, or of a user's
	}
	id := strings.ReplaceAll(strings.ToLower(ids[0][1]), "-", "")
	if f.ID != "" && f.ID != id {
		return nil // who opens the table will say so
	}
	f.Keyspace, f.Table, f.ID = unquote(tables[0][1]), unquote(tables[0][2]), id
	return nil
}

// unquote gives the name that CQL text stands for.
func unquote(s string) string {
	if inner, ok := strings.CutPrefix(s, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return strings.ToLower(s)
}
