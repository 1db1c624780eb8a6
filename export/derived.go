package export

import (
	"github.com/apache/arrow/go/v17/arrow"

	"manifest/export/internal/derive"
)

// Sources are the columns that a derived one is made of; none where its template
// is wrong, which [New] says.
func (c DerivedColumn) Sources() []string {
	if c.Map != "" {
		return []string{c.Map}
	}
	return derive.Sources(c.Template)
}

// deriver plans the derived columns; nil if there are none.
func (o Options) deriver(read *arrow.Schema) (*derive.Deriver, error) {
	if len(o.Derived) == 0 {
		return nil, nil
	}
	var columns []derive.Column
	for _, c := range o.Derived {
		columns = append(columns, derive.Column{Name: c.Name, Template: c.Template, Safe: c.Safe, Map: c.Map, Key: c.MapKey})
	}
	return derive.New(read, columns)
}

// columns are those to write, of a schema that has the derived ones.
func (o Options) columns(schema *arrow.Schema) []string {
	var names []string
	for _, f := range schema.Fields() {
		names = append(names, f.Name)
	}
	if len(o.Columns) > 0 {
		names = o.Columns
		for _, d := range o.Derived {
			names = append(names[:len(names):len(names)], d.Name)
		}
	}
	if o.Shape.Map != mapColumns {
		return names
	}
	var kept []string
	for _, name := range names {
		if f, ok := schema.FieldsByName(name); !ok || f[0].Type.ID() != arrow.MAP {
			kept = append(kept, name)
		}
	}
	return kept
}
