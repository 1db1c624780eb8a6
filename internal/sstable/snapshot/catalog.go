package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Table is a table with its folders.
type Table struct {
	// Keyspace, Name and ID are "" where nothing tells them.
	Keyspace, Name, ID string
	Folders            []Folder
	// Fault is why the table can't be opened; nil if nothing speaks against it yet.
	Fault error
}

func (t Table) String() string { return t.Keyspace + "." + t.Name }

// Nodes are what the table's folders have in front of the keyspace, each once.
func (t Table) Nodes() []string {
	var nodes []string
	for _, f := range t.Folders {
		nodes = append(nodes, f.Node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// Catalog is the tables of some trees. It may be used by many goroutines.
type Catalog struct {
	// Tables are ordered by keyspace, name and id.
	Tables []Table

	mu    sync.Mutex
	views map[string]foundView // by how it was found, node and snapshots
}

// Find looks for tables in trees. It errs where it finds none at all; what is
// wrong with a single table is said when that is asked for.
func Find(ctx context.Context, trees []Tree, opts Options) (*Catalog, error) {
	var folders []Folder
	var backups []medusaBackup
	for i := range trees {
		t := &trees[i]
		fail := func(err error) (*Catalog, error) { return nil, fmt.Errorf("look for SSTables in %s: %w", t.Path, err) }
		found, err := t.medusa(ctx)
		if err != nil {
			return fail(err)
		}
		backups = append(backups, found...)
		if len(found) > 0 {
			continue
		}
		more, err := t.walk(ctx, opts.Tag)
		if err != nil {
			return fail(err)
		}
		folders = append(folders, more...)
	}
	if len(backups) > 0 {
		more, err := medusaFolders(ctx, backups, opts.Tag)
		if err != nil {
			return nil, err
		}
		folders = append(folders, more...)
	}
	folders = withoutUntagged(folders, opts.Tag)
	c := &Catalog{Tables: group(folders)}
	tables := c.Tables[:0]
	var tags []string
	for _, t := range c.Tables {
		for _, f := range t.Folders {
			tags = append(tags, f.Tag)
		}
		if t.choose(opts); len(t.Folders) > 0 || t.Fault != nil {
			tables = append(tables, t)
		}
	}
	if c.Tables = tables; len(tables) > 0 {
		return c, nil
	}
	slices.Sort(tags)
	tags = slices.DeleteFunc(slices.Compact(tags), func(t string) bool { return t == "" })
	if len(tags) > 0 {
		return nil, fmt.Errorf("%w: there are the snapshots %s", ErrNoTable, strings.Join(tags, ", "))
	}
	return nil, ErrNoTable
}

// withoutUntagged leaves out, where a tree has the snapshot that is asked for, what
// in the same tree is of none: a table that was made since, or is being dropped,
// has live files alone, and perhaps no folder that tells so.
func withoutUntagged(folders []Folder, tag string) []Folder {
	has := map[*Tree]bool{}
	for _, f := range folders {
		has[f.tree] = has[f.tree] || tag != "" && f.Tag == tag
	}
	return slices.DeleteFunc(folders, func(f Folder) bool { return has[f.tree] && f.Tag == "" && !f.Backup && !f.live })
}

// group puts the folders of each table together, ordered by keyspace, name and id.
// Folders that don't tell their table are each on their own.
func group(folders []Folder) []Table {
	var tables []Table
	for _, f := range folders {
		i := slices.IndexFunc(tables, func(t Table) bool { return t.ID != "" && t.Keyspace == f.Keyspace && t.ID == f.ID })
		if i < 0 {
			tables = append(tables, Table{Keyspace: f.Keyspace, Name: f.Table, ID: f.ID})
			i = len(tables) - 1
		}
		tables[i].Folders = append(tables[i].Folders, f)
	}
	slices.SortStableFunc(tables, func(a, b Table) int {
		return cmp.Or(cmp.Compare(a.Keyspace, b.Keyspace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return tables
}

// choose leaves out the folders that were not asked for, and finds what is wrong.
func (t *Table) choose(opts Options) {
	var chosen []Folder
	var errs []error
	tags := map[string][]string{} // by node
	for _, f := range t.Folders {
		switch {
		case f.Backup:
			if opts.Backups || f.named {
				chosen = append(chosen, f)
			}
		case f.Tag == "":
			if !f.live {
				chosen = append(chosen, f)
			}
		case f.named, opts.Tag == f.Tag, opts.Tag == "" && !autoSnapshot.MatchString(f.Tag):
			chosen = append(chosen, f)
			if !slices.Contains(tags[f.Node], f.Tag) {
				tags[f.Node] = append(tags[f.Node], f.Tag)
			}
		}
	}
	for _, f := range t.Folders {
		if ts := tags[f.Node]; len(ts) > 1 {
			delete(tags, f.Node)
			errs = append(errs, fmt.Errorf("%s: %w: %s", t, ErrTags, strings.Join(ts, ", ")))
		}
		if !f.live || !f.some || slices.ContainsFunc(chosen, func(c Folder) bool { return c.Node == f.Node }) {
			continue
		}
		switch {
		case opts.Tag == "":
			errs = append(errs, fmt.Errorf("%s: %w", f.Name(), ErrLive))
		case len(chosen) > 0:
			errs = append(errs, fmt.Errorf("%s: %w: no snapshot %q here, which other nodes have", f.Name(), ErrIncomplete, opts.Tag))
		}
	}
	t.Folders, t.Fault = chosen, errors.Join(errs...)
}

// Table finds a table by name. A folder that does not tell its table is that of
// any name, if nothing else is. A table that has no SSTables is one of no rows, if
// the keyspace system_schema has it.
func (c *Catalog) Table(ctx context.Context, keyspace, name string) (Table, error) {
	t, err := c.table(keyspace, name)
	if _, ok := errors.AsType[*UnknownTableError](err); !ok || keyspace == systemKeyspace {
		return t, err
	}
	empty := Table{Keyspace: keyspace, Name: name}
	s, e := c.systemSchema(ctx, empty)
	switch {
	case errors.Is(e, ErrNoTable), errors.Is(e, ErrNoSchema):
		return t, err
	case e != nil:
		return t, e
	}
	empty.ID = strings.ReplaceAll(s.Table.ID, "-", "")
	return empty, nil
}

func (c *Catalog) table(keyspace, name string) (Table, error) {
	var found []Table
	unnamed := Table{Keyspace: keyspace, Name: name}
	var known []string
	for _, t := range c.Tables {
		switch {
		case t.Keyspace == keyspace && t.Name == name:
			found = append(found, t)
		case t.ID == "":
			unnamed.Folders = append(unnamed.Folders, t.Folders...)
			unnamed.Fault = errors.Join(unnamed.Fault, t.Fault)
		default:
			known = append(known, t.String())
		}
	}
	if len(found) == 0 && len(unnamed.Folders) > 0 {
		found = append(found, unnamed)
	}
	switch len(found) {
	case 0:
		return Table{}, &UnknownTableError{Name: keyspace + "." + name, Known: slices.Compact(known)}
	case 1:
		return found[0], found[0].Fault
	}
	var folders []string
	for _, t := range found {
		for _, f := range t.Folders {
			folders = append(folders, f.Name())
		}
	}
	return Table{}, fmt.Errorf("%w table %s.%s, of which all but one were dropped: %s", ErrAmbiguous, keyspace, name, strings.Join(folders, ", "))
}

// UnknownTableError names a table that there is not. It is an ErrNoTable.
type UnknownTableError struct {
	Name  string
	Known []string // those that there are
}

func (e *UnknownTableError) Error() string { return fmt.Sprintf("%v of table %q", ErrNoTable, e.Name) }

// Is makes it an ErrNoTable.
func (e *UnknownTableError) Is(target error) bool { return target == ErrNoTable }
