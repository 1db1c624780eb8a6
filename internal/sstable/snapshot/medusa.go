package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"manifest/internal/sstable/component"
	"manifest/internal/sstable/fault"
)

// A backup of Medusa (github.com/thelastpickle/cassandra-medusa) of a node is
//
//	[PREFIX/]NODE/BACKUP/meta/manifest.json     the files of the backup, written at its end
//	                         /tokenmap.json     the nodes of the datacentre
//	[PREFIX/]NODE/BACKUP/data/KEYSPACE/TABLE-ID/...   the files of a full backup
//	[PREFIX/]NODE/data/KEYSPACE/TABLE-ID/...          the files of all differential backups
//
// What is in a backup only its manifest tells: the folder of differential backups
// has files of others too.
type medusaBackup struct {
	tree *Tree
	// node is the node's name, place the path of its folder in the tree.
	node, place string
	name        string
}

// medusaMeta is the folder that tells that another is a backup.
const medusaMeta = "meta"

// medusa looks for backups in a tree: at its root or below, which may be that of
// the storage, of a node, or of one backup.
func (t *Tree) medusa(ctx context.Context) ([]medusaBackup, error) {
	_, folders, err := t.ReadDir(ctx, ".")
	if err != nil {
		return nil, err
	}
	if slices.Contains(folders, medusaMeta) {
		if ok, err := t.isMedusa(ctx, "."); !ok || err != nil {
			return nil, err
		}
		parent := path.Dir(t.Path)
		return []medusaBackup{{tree: t, node: path.Base(parent), place: "..", name: path.Base(t.Path)}}, nil
	}
	var found []medusaBackup
	var nodes []string // folders that hold none themselves
	for _, name := range folders {
		_, below, err := t.ReadDir(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed: no backup
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(below, medusaMeta) {
			nodes = append(nodes, name)
			continue
		}
		ok, err := t.isMedusa(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, medusaBackup{tree: t, node: path.Base(t.Path), place: ".", name: name})
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	for _, node := range nodes {
		_, below, err := t.ReadDir(ctx, node)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, name := range below {
			_, inside, err := t.ReadDir(ctx, path.Join(node, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if !slices.Contains(inside, medusaMeta) {
				continue
			}
			ok, err := t.isMedusa(ctx, path.Join(node, name))
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, medusaBackup{tree: t, node: node, place: node, name: name})
			}
		}
	}
	return found, nil
}

// isMedusa tells whether a folder is a backup, finished or not: the token map is
// among the first files, and nothing else has one.
func (t *Tree) isMedusa(ctx context.Context, folder string) (bool, error) {
	files, _, err := t.ReadDir(ctx, path.Join(folder, medusaMeta))
	return slices.Contains(files, "tokenmap.json"), err
}

// medusaFolders gives the folders of the backup of that name, of all nodes.
func medusaFolders(ctx context.Context, backups []medusaBackup, tag string) ([]Folder, error) {
	var names []string
	for _, b := range backups {
		names = append(names, b.name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case tag == "" && len(names) > 1:
		return nil, fmt.Errorf("%w: %s", ErrTags, strings.Join(names, ", "))
	case tag == "":
		tag = names[0]
	case !slices.Contains(names, tag):
		return nil, fmt.Errorf("%w: there are the backups %s", ErrNoTable, strings.Join(names, ", "))
	}
	backups = slices.DeleteFunc(slices.Clone(backups), func(b medusaBackup) bool { return b.name != tag })
	var folders []Folder
	var errs []error
	members := map[string]bool{}
	for _, b := range backups {
		more, err := b.folders(ctx)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		folders = append(folders, more...)
		nodes, err := b.members(ctx)
		errs = append(errs, err)
		for _, n := range nodes {
			members[n] = true
		}
	}
	// Where the tree is one node's, the others can't be looked for.
	if backups[0].place != "." && backups[0].place != ".." {
		for n := range members {
			if !slices.ContainsFunc(backups, func(b medusaBackup) bool { return b.node == n }) {
				errs = append(errs, fmt.Errorf("backup %q: %w: node %s has none of that name", tag, ErrIncomplete, n))
			}
		}
	}
	return folders, errors.Join(errs...)
}

func (b medusaBackup) meta(file string) string {
	if b.place == ".." {
		return path.Join(medusaMeta, file)
	}
	return path.Join(b.place, b.name, medusaMeta, file)
}

// members are the nodes of the datacentre, as the node knew them.
func (b medusaBackup) members(ctx context.Context) ([]string, error) {
	text, err := b.tree.ReadFile(ctx, b.meta("tokenmap.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	nodes := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &nodes); err != nil {
		return nil, fmt.Errorf("backup %q of node %s: tokenmap.json: %w", b.name, b.node, err)
	}
	var names []string
	for n := range nodes {
		names = append(names, n)
	}
	return names, nil
}

// folders reads the backup's manifest.
func (b medusaBackup) folders(ctx context.Context) ([]Folder, error) {
	fail := func(err error) ([]Folder, error) {
		return nil, fmt.Errorf("backup %q of node %s: %w", b.name, b.node, err)
	}
	text, err := b.tree.ReadFile(ctx, b.meta("manifest.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return fail(fmt.Errorf("%w: it has no manifest.json, so it did not finish", ErrIncomplete))
	}
	if err != nil {
		return fail(err)
	}
	var sections []struct {
		Keyspace string `json:"keyspace"`
		Table    string `json:"columnfamily"` // with its id
		Objects  []struct {
			Path string `json:"path"`
			Size int64  `json:"size"`
		} `json:"objects"`
	}
	if err := json.Unmarshal(text, &sections); err != nil {
		return fail(fmt.Errorf("manifest.json: %w", err))
	}
	var folders []Folder
	for _, s := range sections {
		m := tableFolder.FindStringSubmatch(s.Table)
		if m == nil {
			continue // an index
		}
		f := Folder{Node: b.node, Keyspace: s.Keyspace, Table: m[1], ID: m[2], Tag: b.name, tree: b.tree, named: true, backup: &b}
		listed := &medusaStorage{tree: b.tree, files: map[string]medusaFile{}}
		for _, o := range s.Objects {
			p, err := b.inTree(o.Path)
			if err != nil {
				return fail(err)
			}
			if strings.HasPrefix(path.Base(path.Dir(p)), ".") {
				continue // of an index
			}
			f.Path = path.Dir(p)
			name := path.Base(p)
			if _, twice := listed.files[name]; twice {
				return fail(fmt.Errorf("manifest.json has two files %s of %s.%s", name, s.Keyspace, s.Table))
			}
			listed.files[name] = medusaFile{path: p, size: o.Size}
			f.some = f.some || strings.HasSuffix(name, "-Data.db")
		}
		f.listed = listed
		if f.some {
			folders = append(folders, f)
		}
	}
	return folders, nil
}

// inTree turns the path of an object, which counts from the root of the storage,
// into one of the tree, which may begin below that.
func (b medusaBackup) inTree(object string) (string, error) {
	parts := strings.Split(strings.Trim(object, "/"), "/")
	i := slices.Index(parts, b.node)
	if i < 0 || i+1 == len(parts) {
		return "", fmt.Errorf("manifest.json has the file %q, which is not of the node", object)
	}
	rest := parts[i+1:]
	if b.place == ".." { // the tree is the backup
		if rest[0] != b.name {
			return "", fmt.Errorf("the file %q of a differential backup is outside of the folder %s", object, b.tree.Path)
		}
		return path.Join(rest[1:]...), nil
	}
	return path.Join(b.place, path.Join(rest...)), nil
}

// medusaStorage is the files of a table that a manifest has.
type medusaStorage struct {
	tree  *Tree
	files map[string]medusaFile // by name
}

type medusaFile struct {
	path string // in the tree
	size int64
}

// Names is part of component.Storage.
func (s *medusaStorage) Names(context.Context) ([]string, error) {
	var names []string
	for n := range s.files {
		names = append(names, n)
	}
	slices.Sort(names)
	return names, nil
}

// Path is part of component.Storage.
func (s *medusaStorage) Path(name string) string {
	f, ok := s.files[name]
	if !ok {
		return name
	}
	return s.tree.Folder(path.Dir(f.path)).Path(path.Base(f.path))
}

// Open is part of component.Storage. A file that is not as long as the manifest
// says is not the one that was backed up.
func (s *medusaStorage) Open(ctx context.Context, name string) (component.File, error) {
	f, ok := s.files[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	file, err := s.tree.Folder(path.Dir(f.path)).Open(ctx, path.Base(f.path))
	if err != nil {
		return nil, err
	}
	if file.Size() != f.size {
		return nil, errors.Join(fault.Corruptf(s.Path(name), -1, "%d bytes, in manifest.json %d", file.Size(), f.size), file.Close())
	}
	return file, nil
}
