package cassandra

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"manifest/internal/cqltype"
	"manifest/internal/schema"
)

// NotFoundError names a keyspace or table that the cluster does not have, with
// those that it has.
type NotFoundError struct {
	// What is missing: "keyspace", "table" or "type".
	What string
	Name string
	// Known are the names that exist in its place.
	Known []string
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("no %s %q", e.What, e.Name) }

// Table reads a table's or a materialized view's columns and types.
func (c *Cluster) Table(ctx context.Context, keyspace, name string) (*schema.Table, error) {
	columns, err := c.queryRows(ctx, `SELECT column_name, kind, position, type, clustering_order FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?`, keyspace, name)
	if err != nil {
		return nil, fmt.Errorf("read the schema of %s.%s: %w", keyspace, name, err)
	}
	if len(columns) == 0 {
		return nil, c.missingTable(ctx, keyspace, name)
	}
	t := &schema.Table{Keyspace: keyspace, Name: name}
	var udts *userTypes
	var dropped map[string]time.Time
	queries, queried := errgroup.WithContext(ctx)
	queries.Go(func() (err error) { udts, err = c.userTypes(queried, keyspace); return err })
	queries.Go(func() (err error) { dropped, err = c.dropped(queried, keyspace, name); return err })
	queries.Go(func() error { return c.identify(queried, t) })
	if err := queries.Wait(); err != nil {
		return nil, err
	}
	positions := map[string]int{}
	for _, row := range columns {
		column := text(row["column_name"])
		typ, err := cqltype.Parse(text(row["type"]), udts.resolve)
		if err != nil {
			return nil, fmt.Errorf("column %q of %s: %w", column, t, err)
		}
		t.Columns = append(t.Columns, schema.Column{
			Name:       column,
			Kind:       schema.Kind(text(row["kind"])),
			Type:       typ,
			Descending: strings.EqualFold(text(row["clustering_order"]), "desc"),
			Dropped:    dropped[column],
		})
		positions[column], _ = row["position"].(int)
	}
	schema.Sort(t.Columns, func(name string) int { return positions[name] })
	return t, nil
}

// dropped tells when columns of the table were dropped, by name. What was added
// again is among them too.
func (c *Cluster) dropped(ctx context.Context, keyspace, name string) (map[string]time.Time, error) {
	rows, err := c.queryRows(ctx, `SELECT column_name, dropped_time FROM system_schema.dropped_columns WHERE keyspace_name = ? AND table_name = ?`, keyspace, name)
	if err != nil {
		return nil, fmt.Errorf("read the dropped columns of %s.%s: %w", keyspace, name, err)
	}
	times := map[string]time.Time{}
	for _, row := range rows {
		times[text(row["column_name"])], _ = row["dropped_time"].(time.Time)
	}
	return times, nil
}

// identify finds a table's id, and whether it is a view.
func (c *Cluster) identify(ctx context.Context, t *schema.Table) error {
	for _, q := range []struct {
		statement string
		view      bool
	}{
		{`SELECT id FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?`, false},
		{`SELECT id FROM system_schema.views WHERE keyspace_name = ? AND view_name = ?`, true},
	} {
		rows, err := c.queryRows(ctx, q.statement, t.Keyspace, t.Name)
		if err != nil {
			return fmt.Errorf("read the id of %s: %w", t, err)
		}
		if len(rows) == 1 {
			t.ID, t.View = text(rows[0]["id"]), q.view
			return nil
		}
	}
	return nil
}

// missingTable says which of keyspace and table is missing.
func (c *Cluster) missingTable(ctx context.Context, keyspace, name string) error {
	tables, err := c.Tables(ctx, keyspace)
	if err != nil {
		return err
	}
	if slices.Contains(tables, name) {
		return fmt.Errorf("table %s.%s has no columns in system_schema", keyspace, name)
	}
	return &NotFoundError{What: "table", Name: keyspace + "." + name, Known: tables}
}

// Tables lists the tables and views of a keyspace by name.
func (c *Cluster) Tables(ctx context.Context, keyspace string) ([]string, error) {
	if _, err := c.Replication(ctx, keyspace); err != nil {
		return nil, err
	}
	var names []string
	for _, q := range []struct{ statement, column string }{
		{`SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?`, "table_name"},
		{`SELECT view_name FROM system_schema.views WHERE keyspace_name = ?`, "view_name"},
	} {
		rows, err := c.queryRows(ctx, q.statement, keyspace)
		if err != nil {
			return nil, fmt.Errorf("list the tables of keyspace %q: %w", keyspace, err)
		}
		for _, row := range rows {
			names = append(names, text(row[q.column]))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Replication reads a keyspace's replication settings; a *NotFoundError names
// the keyspaces that exist instead.
func (c *Cluster) Replication(ctx context.Context, keyspace string) (map[string]string, error) {
	rows, err := c.queryRows(ctx, `SELECT keyspace_name, replication FROM system_schema.keyspaces`)
	if err != nil {
		return nil, fmt.Errorf("list keyspaces: %w", err)
	}
	var known []string
	for _, row := range rows {
		name := text(row["keyspace_name"])
		if name == keyspace {
			replication, _ := row["replication"].(map[string]string)
			return replication, nil
		}
		known = append(known, name)
	}
	slices.Sort(known)
	return nil, &NotFoundError{What: "keyspace", Name: keyspace, Known: known}
}

// userTypes are the definitions of a keyspace's user types, resolved on demand
// since they may use each other.
type userTypes struct {
	keyspace string
	rows     map[string]map[string]any
	depth    int
}

func (c *Cluster) userTypes(ctx context.Context, keyspace string) (*userTypes, error) {
	rows, err := c.queryRows(ctx, `SELECT type_name, field_names, field_types FROM system_schema.types WHERE keyspace_name = ?`, keyspace)
	if err != nil {
		return nil, fmt.Errorf("read the user types of keyspace %q: %w", keyspace, err)
	}
	u := &userTypes{keyspace: keyspace, rows: map[string]map[string]any{}}
	for _, row := range rows {
		u.rows[text(row["type_name"])] = row
	}
	return u, nil
}

func (u *userTypes) resolve(name string) (*cqltype.Type, error) {
	row, ok := u.rows[name]
	if !ok {
		return nil, &NotFoundError{What: "type", Name: u.keyspace + "." + name}
	}
	if u.depth++; u.depth > len(u.rows)+1 {
		return nil, fmt.Errorf("type %s.%s contains itself", u.keyspace, name)
	}
	defer func() { u.depth-- }()
	fields, _ := row["field_names"].([]string)
	types, _ := row["field_types"].([]string)
	if len(fields) != len(types) {
		return nil, fmt.Errorf("type %s.%s has %d field names and %d types", u.keyspace, name, len(fields), len(types))
	}
	t := &cqltype.Type{Kind: cqltype.UDT, Keyspace: u.keyspace, Name: name, Fields: fields}
	for i, s := range types {
		elem, err := cqltype.Parse(s, u.resolve)
		if err != nil {
			return nil, fmt.Errorf("field %q of type %s.%s: %w", fields[i], u.keyspace, name, err)
		}
		t.Elems = append(t.Elems, elem)
	}
	return t, nil
}
