package schema

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"manifest/internal/cqltype"
)

// Changes says what of the selected values, and of the key that orders the
// rows, is another thing in the table as it is now; none where nothing is.
// Columns that are not selected do not matter.
func (t *Table) Changes(selected []Selected, now *Table) []string {
	if now.ID != t.ID {
		return []string{fmt.Sprintf("%s was dropped and made again: its id was %s and is now %s", t, t.ID, now.ID)}
	}
	var changes []string
	add := func(format string, args ...any) { changes = append(changes, fmt.Sprintf(format, args...)) }
	for _, c := range t.Columns {
		if !t.reads(selected, c) {
			continue
		}
		is, ok := now.Column(c.Name)
		switch {
		case !ok:
			add("column %q was dropped", c.Name)
		case !is.Dropped.Equal(c.Dropped):
			add("column %q was dropped at %s and added again", c.Name, is.Dropped.UTC().Format(time.RFC3339))
		case is.Kind != c.Kind:
			add("column %q was a %s column and is now a %s column", c.Name, c.Kind, is.Kind)
		case is.Type.String() != c.Type.String():
			add("column %q was of type %s and is now of %s", c.Name, c.Type, is.Type)
		case !reflect.DeepEqual(is.Type, c.Type):
			add("the type %s of column %q was changed", c.Type, c.Name)
		case is.Descending != c.Descending:
			add("the order of column %q was reversed", c.Name)
		}
	}
	return changes
}

// reads tells whether a column is selected or part of the key.
func (t *Table) reads(selected []Selected, c Column) bool {
	if c.Kind == PartitionKey || c.Kind == Clustering {
		return true
	}
	for _, s := range selected {
		if s.Column.Name == c.Name {
			return true
		}
	}
	return false
}

// Reading identifies what the selected values are: their names and types, the
// table's id, and when a column of that name was dropped before, since its
// values were lost then. It changes whenever [Table.Changes] finds something.
func (t *Table) Reading(selected []Selected) string {
	var parts []string
	for _, s := range selected {
		part := s.Name + " " + s.Type.String() + fields(s.Column.Type)
		if s.Column.Kind == Static {
			part += " static"
		}
		parts = append(parts, part)
	}
	for _, c := range t.Columns {
		if c.Kind == PartitionKey || c.Kind == Clustering {
			order := ""
			if c.Descending {
				order = " desc"
			}
			parts = append(parts, fmt.Sprintf("%s %s %s%s", c.Kind, c.Name, c.Type, order))
		}
		if t.reads(selected, c) && !c.Dropped.IsZero() {
			parts = append(parts, fmt.Sprintf("%s dropped %s", c.Name, c.Dropped.UTC().Format(time.RFC3339Nano)))
		}
	}
	if t.ID != "" {
		parts = append(parts, "table "+t.ID)
	}
	return strings.Join(parts, ", ")
}

// fields lists the fields of the user types in a type, which its text leaves out.
func fields(t *cqltype.Type) string {
	var b strings.Builder
	for i, e := range t.Elems {
		if t.Kind == cqltype.UDT {
			fmt.Fprintf(&b, " {%s %s}", t.Fields[i], e)
		}
		b.WriteString(fields(e))
	}
	return b.String()
}
