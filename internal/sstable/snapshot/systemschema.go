package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
	"manifest/internal/sstable"
	"manifest/internal/sstable/fault"
)

const systemKeyspace = "system_schema"

// systemSchema reads a table's definition from the tables of keyspace
// system_schema that are in the same trees. Of several nodes' the latest counts,
// as of any rows.
func (c *Catalog) systemSchema(ctx context.Context, table Table) (sstable.Schema, error) {
	s := sstable.Schema{Table: &schema.Table{Keyspace: table.Keyspace, Name: table.Name}}
	fail := func(err error) (sstable.Schema, error) {
		return sstable.Schema{}, fmt.Errorf("schema of %s from %s: %w", table, systemKeyspace, err)
	}
	if err := c.systemIdentity(ctx, table, s.Table); err != nil {
		return fail(err)
	}
	types, err := c.systemTypes(ctx, table.Keyspace)
	if err != nil {
		return fail(err)
	}
	positions := map[string]int{}
	err = c.systemRows(ctx, "columns", []string{"keyspace_name"}, []string{"table_name", "column_name"}, func(r row) error {
		if r.text("keyspace_name") != table.Keyspace || r.text("table_name") != table.Name {
			return nil
		}
		col := schema.Column{Name: r.text("column_name"), Kind: schema.Kind(r.text("kind")), Descending: strings.EqualFold(r.text("clustering_order"), "desc")}
		positions[col.Name] = int(r.int("position"))
		var err error
		if col.Type, err = cqltype.Parse(r.text("type"), types.resolve); err != nil {
			return fmt.Errorf("column %q: %w", col.Name, err)
		}
		s.Table.Columns = append(s.Table.Columns, col)
		return nil
	})
	if err != nil {
		return fail(err)
	}
	if len(s.Table.Columns) == 0 {
		return fail(fmt.Errorf("%w: it has no columns of the table", ErrNoSchema))
	}
	schema.Sort(s.Table.Columns, func(name string) int { return positions[name] })
	err = c.systemRows(ctx, "dropped_columns", []string{"keyspace_name"}, []string{"table_name", "column_name"}, func(r row) error {
		if r.text("keyspace_name") == table.Keyspace && r.text("table_name") == table.Name {
			s.Dropped = append(s.Dropped, sstable.DroppedColumn{Name: r.text("column_name"), Static: r.text("kind") == string(schema.Static), At: r.int("dropped_time") * 1000})
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrNoTable) {
		return fail(err)
	}
	return s, nil
}

// systemIdentity finds the table's id, whether it is a view, and whether its rows
// have a layout of their own.
func (c *Catalog) systemIdentity(ctx context.Context, table Table, t *schema.Table) error {
	found := false
	for _, list := range []struct{ table, name string }{{"tables", "table_name"}, {"views", "view_name"}} {
		err := c.systemRows(ctx, list.table, []string{"keyspace_name"}, []string{list.name}, func(r row) error {
			if r.text("keyspace_name") != table.Keyspace || r.text(list.name) != table.Name {
				return nil
			}
			found = true
			t.ID, t.View = r.text("id"), list.table == "views"
			if flags := r.list("flags"); list.table == "tables" && !slices.Equal(flags, []string{"compound"}) && !slices.Equal(flags, []string{"compound", "counter"}) {
				return fault.Unsupportedf(t.String(), "COMPACT STORAGE (flags %q)", flags)
			}
			return nil
		})
		if err != nil && (list.table == "tables" || !errors.Is(err, ErrNoTable)) {
			return err
		}
	}
	id := strings.ReplaceAll(t.ID, "-", "")
	switch {
	case !found:
		return fmt.Errorf("%w: it does not have the table", ErrNoSchema)
	case table.ID != "" && id != table.ID:
		return fmt.Errorf("%w: it has a table of that name with the id %s, not %s", ErrNoSchema, id, table.ID)
	}
	return nil
}

// systemTypes are the user types of a keyspace, resolved on demand since they may
// use each other.
type systemTypes struct {
	keyspace string
	fields   map[string][]string
	types    map[string][]string
	open     []string // being resolved
}

func (c *Catalog) systemTypes(ctx context.Context, keyspace string) (*systemTypes, error) {
	t := &systemTypes{keyspace: keyspace, fields: map[string][]string{}, types: map[string][]string{}}
	err := c.systemRows(ctx, "types", []string{"keyspace_name"}, []string{"type_name"}, func(r row) error {
		if r.text("keyspace_name") == keyspace {
			t.fields[r.text("type_name")], t.types[r.text("type_name")] = r.list("field_names"), r.list("field_types")
		}
		return nil
	})
	if errors.Is(err, ErrNoTable) {
		err = nil
	}
	return t, err
}

func (t *systemTypes) resolve(name string) (*cqltype.Type, error) {
	fields, ok := t.fields[name]
	if !ok || len(fields) != len(t.types[name]) || slices.Contains(t.open, name) {
		return nil, fmt.Errorf("%w: no type %s.%s", ErrNoSchema, t.keyspace, name)
	}
	t.open = append(t.open, name)
	defer func() { t.open = t.open[:len(t.open)-1] }()
	u := &cqltype.Type{Kind: cqltype.UDT, Keyspace: t.keyspace, Name: name, Fields: fields}
	for i, text := range t.types[name] {
		elem, err := cqltype.Parse(text, t.resolve)
		if err != nil {
			return nil, fmt.Errorf("field %q of type %s.%s: %w", fields[i], t.keyspace, name, err)
		}
		u.Elems = append(u.Elems, elem)
	}
	return u, nil
}

// row is a row of a record.
type row struct {
	rec arrow.Record
	at  int
}

// column gives a column of the record; nil where it has none of that name, or is
// null in the row.
func (r row) column(name string) arrow.Array {
	for i, f := range r.rec.Schema().Fields() {
		if f.Name == name && r.rec.Column(i).IsValid(r.at) {
			return r.rec.Column(i)
		}
	}
	return nil
}

// text is a text or uuid, "" where there is none.
func (r row) text(name string) string {
	switch c := r.column(name).(type) {
	case *array.String:
		return c.Value(r.at)
	case *array.FixedSizeBinary:
		b := c.Value(r.at)
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return ""
}

// int is a number, or a timestamp in milliseconds.
func (r row) int(name string) int64 {
	switch c := r.column(name).(type) {
	case *array.Int32:
		return int64(c.Value(r.at))
	case *array.Timestamp:
		return int64(c.Value(r.at))
	}
	return 0
}

// list is a list or a set of texts.
func (r row) list(name string) []string {
	c, ok := r.column(name).(*array.List)
	if !ok {
		return nil
	}
	values, ok := c.ListValues().(*array.String)
	if !ok {
		return nil
	}
	var list []string
	from, to := c.ValueOffsets(r.at)
	for i := from; i < to; i++ {
		list = append(list, values.Value(int(i)))
	}
	return list
}

// texts is a map from text to text.
func (r row) texts(name string) map[string]string {
	c, ok := r.column(name).(*array.Map)
	if !ok {
		return nil
	}
	keys, okKeys := c.Keys().(*array.String)
	items, okItems := c.Items().(*array.String)
	if !okKeys || !okItems {
		return nil
	}
	found := map[string]string{}
	from, to := c.ValueOffsets(r.at)
	for i := int(from); i < int(to); i++ {
		found[keys.Value(i)] = items.Value(i)
	}
	return found
}

// systemRows reads a table of system_schema.
func (c *Catalog) systemRows(ctx context.Context, name string, key, clustering []string, each func(row) error) error {
	found, err := c.table(systemKeyspace, name)
	if err != nil {
		return err
	}
	if found.ID == "" {
		return &UnknownTableError{Name: systemKeyspace + "." + name}
	}
	return readRows(ctx, systemKeyspace, name, key, clustering, found.Folders, each)
}

// readRows reads the rows of a table that the system keeps for itself.
func readRows(ctx context.Context, keyspace, name string, key, clustering []string, folders []Folder, each func(row) error) error {
	readers, err := openFolders(ctx, folders)
	if err != nil {
		return err
	}
	return errors.Join(readSSTables(ctx, keyspace, name, key, clustering, readers, each), sstable.CloseAll(readers))
}

// openFolders opens all SSTables of some folders.
func openFolders(ctx context.Context, folders []Folder) ([]*sstable.Reader, error) {
	var readers []*sstable.Reader
	for _, f := range folders {
		more, err := sstable.OpenAll(ctx, f.storage())
		if err != nil {
			return nil, errors.Join(err, sstable.CloseAll(readers))
		}
		readers = append(readers, more...)
	}
	return readers, nil
}

// readSSTables reads the rows that SSTables of such a table have together. What
// columns it has beside its key differs from version to version, and is what the
// SSTables say.
func readSSTables(ctx context.Context, keyspace, name string, key, clustering []string, readers []*sstable.Reader, each func(row) error) error {
	if len(readers) == 0 {
		return nil
	}
	t, err := headerSchema(keyspace, name, key, clustering, readers)
	if err != nil {
		return err
	}
	table, err := sstable.NewTable(sstable.Schema{Table: t}, readers)
	if err != nil {
		return err
	}
	q := sstable.Query{Columns: t.Names(), Now: time.Now().Unix()}
	_, err = table.Scan(ctx, q, sstable.Options{}, func(rec arrow.Record) error {
		for i := range int(rec.NumRows()) {
			if err := each(row{rec, i}); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// headerSchema makes a schema of the columns that SSTables have.
func headerSchema(keyspace, name string, key, clustering []string, readers []*sstable.Reader) (*schema.Table, error) {
	t := &schema.Table{Keyspace: keyspace, Name: name}
	h := readers[0].Header()
	if len(h.Key) != len(key) || len(h.Clustering) != len(clustering) {
		return nil, fault.Unsupportedf(readers[0].Path(), "%s.%s with a key of %d and %d columns", keyspace, name, len(h.Key), len(h.Clustering))
	}
	for i, n := range key {
		t.Columns = append(t.Columns, schema.Column{Name: n, Kind: schema.PartitionKey, Type: h.Key[i]})
	}
	for i, n := range clustering {
		t.Columns = append(t.Columns, schema.Column{Name: n, Kind: schema.Clustering, Type: h.Clustering[i].Type, Descending: h.Clustering[i].Descending})
	}
	for _, r := range readers {
		for _, c := range r.Header().Regular {
			if _, ok := t.Column(c.Name); !ok {
				t.Columns = append(t.Columns, schema.Column{Name: c.Name, Kind: schema.Regular, Type: c.Type})
			}
		}
	}
	schema.Sort(t.Columns, func(name string) int { return max(slices.Index(key, name), slices.Index(clustering, name)) })
	return t, nil
}
