package snapshot

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"manifest/internal/cqltype"
	"manifest/internal/sstable"
	"manifest/internal/sstable/ddl"
)

// ErrNoSchema means that nothing defines a table.
var ErrNoSchema = errors.New("no schema")

// schema finds the table's definition.
func (c *Catalog) schema(ctx context.Context, table Table, text string, readers []*sstable.Reader) (sstable.Schema, error) {
	types := sstable.UserTypes(readers...)
	if text != "" {
		schemas, err := ddl.Parse(text, types)
		if err != nil {
			return sstable.Schema{}, err
		}
		return pick(table, schemas)
	}
	s, err := c.schemaOfFolders(ctx, table, types)
	if errors.Is(err, errNoSchemaFile) {
		system, e := c.systemSchema(ctx, table)
		if errors.Is(e, ErrNoTable) {
			return s, err // there is no system_schema either
		}
		return system, e
	}
	return s, err
}

// errNoSchemaFile means that no folder of a table has a schema.cql.
var errNoSchemaFile = fmt.Errorf("%w: no schema.cql", ErrNoSchema)

// schemaOfFolders reads the schema.cql of the table's folders. In several data
// directories, it is in one of them only; where they differ, the snapshot that
// was taken last knows best, for it knows which columns were dropped.
func (c *Catalog) schemaOfFolders(ctx context.Context, table Table, types func(keyspace, name string) (*cqltype.Type, error)) (sstable.Schema, error) {
	var best sstable.Schema
	var from Folder
	var created time.Time
	for _, f := range table.Folders {
		if !f.Schema {
			continue
		}
		s, err := c.parseSchema(ctx, table, f, types)
		if err != nil {
			return sstable.Schema{}, err
		}
		m, err := f.manifest(ctx)
		if err != nil {
			return sstable.Schema{}, err
		}
		switch {
		case best.Table == nil:
			best, from, created = s, f, m.Created
		case reflect.DeepEqual(s, best):
			if m.Created.After(created) {
				from, created = f, m.Created
			}
		case m.Created.IsZero() || created.IsZero() || m.Created.Equal(created):
			return sstable.Schema{}, fmt.Errorf("%w schema of %s: %s and %s differ, and nothing tells which is later", ErrAmbiguous, table, from.Name(), f.Name())
		case m.Created.After(created):
			best, from, created = s, f, m.Created
		}
	}
	if best.Table == nil {
		return sstable.Schema{}, fmt.Errorf("%s: %w", table, errNoSchemaFile)
	}
	return best, nil
}

// parseSchema reads one schema.cql. It may lack user types that are only inside of
// others, and a view's lacks its table: they may be in those of the keyspace's
// other tables.
func (c *Catalog) parseSchema(ctx context.Context, table Table, f Folder, types func(keyspace, name string) (*cqltype.Type, error)) (sstable.Schema, error) {
	own, err := f.read(ctx, "schema.cql")
	if err != nil {
		return sstable.Schema{}, err
	}
	schemas, err := ddl.Parse(own, types)
	if err != nil {
		var rest strings.Builder
		for _, t := range c.Tables {
			i := slices.IndexFunc(t.Folders, func(other Folder) bool { return other.Schema })
			if i >= 0 && t.Keyspace == f.Keyspace && t.ID != f.ID {
				text, e := t.Folders[i].read(ctx, "schema.cql")
				if e != nil {
					return sstable.Schema{}, e
				}
				rest.WriteString(text + "\n")
			}
		}
		var e error
		if schemas, e = ddl.Parse(rest.String()+own, types); e != nil {
			return sstable.Schema{}, fmt.Errorf("%s: schema.cql: %w", f.Name(), err)
		}
	}
	return pick(table, schemas)
}

// pick finds the table among those that a text defines.
func pick(table Table, schemas []sstable.Schema) (sstable.Schema, error) {
	var found []sstable.Schema
	for _, s := range schemas {
		named := s.Table.Keyspace == table.Keyspace && s.Table.Name == table.Name
		switch id := strings.ReplaceAll(s.Table.ID, "-", ""); {
		case table.ID != "" && id != "":
			if id == table.ID {
				found = append(found, s)
			}
		case named, table.Name == "":
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		return sstable.Schema{}, fmt.Errorf("%s: %w: it is defined %d times", table, ErrNoSchema, len(found))
	}
	return found[0], nil
}
