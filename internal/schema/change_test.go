package schema

import (
	"slices"
	"strings"
	"testing"
	"time"

	"manifest/internal/cqltype"
)

// Each way to change a table is found where it touches what is read, and
// nowhere else; and what is found changes what identifies the reading.
func TestChangesOfWhatIsRead(t *testing.T) {
	column := func(table *Table, name string) *Column {
		i := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Name == name })
		return &table.Columns[i]
	}
	for _, c := range []struct {
		name   string
		change func(*Table)
		want   string // "" where nothing that is read changes
	}{
		{"nothing", func(*Table) {}, ""},
		{"a column is added", func(n *Table) {
			n.Columns = append(n.Columns, Column{Name: "zoom", Kind: Regular, Type: parse(t, "int")})
		}, ""},
		{"another column is dropped", func(n *Table) {
			n.Columns = slices.DeleteFunc(n.Columns, func(c Column) bool { return c.Name == "hits" })
		}, ""},
		{"another column is of another type", func(n *Table) { column(n, "hits").Type = parse(t, "bigint") }, ""},
		{"another column is emptied", func(n *Table) { column(n, "hits").Dropped = time.Unix(5, 0) }, ""},
		{"a column is dropped", func(n *Table) {
			n.Columns = slices.DeleteFunc(n.Columns, func(c Column) bool { return c.Name == "width" })
		}, `column "width" was dropped`},
		{"a column whose write time is read is dropped", func(n *Table) {
			n.Columns = slices.DeleteFunc(n.Columns, func(c Column) bool { return c.Name == "Mixed Case" })
		}, `column "Mixed Case" was dropped`},
		{"a column is of another type", func(n *Table) { column(n, "width").Type = parse(t, "bigint") }, `column "width" was of type int and is now of bigint`},
		{"a column is emptied", func(n *Table) { column(n, "width").Dropped = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
			`column "width" was dropped at 2026-01-02T03:04:05Z and added again`},
		{"a user type has another field", func(n *Table) {
			typ := *column(n, "place").Type
			typ.Fields, typ.Elems = []string{"a", "b"}, []*cqltype.Type{{Kind: cqltype.Int}, {Kind: cqltype.Int}}
			column(n, "place").Type = &typ
		}, `of column "place" was changed`},
		{"a key column has another name", func(n *Table) { column(n, "taken").Name = "shot" }, `column "taken" was dropped`},
		{"the order is another", func(n *Table) { column(n, "taken").Descending = false }, `the order of column "taken" was reversed`},
		{"static becomes regular", func(n *Table) { column(n, "place").Kind = Regular }, `column "place" was a static column and is now a regular column`},
		{"the table is made again", func(n *Table) { n.ID = "second" }, `its id was first and is now second`},
	} {
		table, now := imageTable(t), imageTable(t)
		table.ID, now.ID = "first", "first"
		names := []string{"width", "place", "writetime(Mixed Case)"}
		selected, err := table.Select(names)
		if err != nil {
			t.Fatal(err)
		}
		c.change(now)
		changes := table.Changes(selected, now)
		if got := strings.Join(changes, "; "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
		again, err := now.Select(names)
		if err != nil {
			continue // and that is refused
		}
		if same := table.Reading(selected) == now.Reading(again); same != (c.want == "") {
			t.Errorf("%s: the reading was %s and is now %s", c.name, table.Reading(selected), now.Reading(again))
		}
	}
}
